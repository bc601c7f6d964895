"""What a build hands to the gate: allowed exports from headers, registrations, blame."""

from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.gating import allow_declared, gate_policy, registered_objects
from litert_build.incremental.commands import Command
from litert_build.incremental.steps import Step
from litert_build.sources.lock import Lock, Product, Repository

LOCK = Lock(Path("lock.json"), "r", "v0.0.1", "main", {"main": Repository("main", Path())}, ("//:x",), Product("host"))
OBJECT = "bazel-out/k8-opt/bin/gpu/_objs/webgpu/registration.pic.o"


def compile_step(key: str, label: str) -> Step:
    return Step(f"Compile {key}", (), (key,), b"", Command("process", ("gcc",), (key,)), label, reports_inputs=True)


def test_headers_stand_for_the_patterns(tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c/engine.h").write_text("void litert_lm_engine_delete(void* engine);\n")
    product = Product("host", required=("litert_lm_engine_delete",), allowed=("litert_lm_*", "LiteRtCreate"), headers=("c/*.h",))
    assert allow_declared(product, tmp_path).allowed == ("LiteRtCreate", "litert_lm_engine_delete")


def test_without_headers_the_patterns_stay(tmp_path):
    product = Product("host", allowed=("litert_lm_*",))
    assert allow_declared(product, tmp_path) is product


def test_a_pattern_that_matches_no_header_is_refused(tmp_path):
    with pytest.raises(BuildError, match=r"no header matches 'c/\*\.h'"):
        allow_declared(Product("host", headers=("c/*.h",)), tmp_path)


def test_registrations_are_the_objects_of_their_labels():
    lock = replace(LOCK, product=Product("host", registrations=("//gpu:webgpu",)))
    tool = compile_step(OBJECT.replace("k8-opt", "k8-opt-exec"), "//gpu:webgpu")
    steps = [compile_step(OBJECT, "//gpu:webgpu"), tool, compile_step("x.o", "//c:engine")]
    assert registered_objects(lock, steps) == {OBJECT: "//gpu:webgpu"}


def test_a_registration_that_a_select_dropped_is_named_with_the_nearest_label():
    lock = replace(LOCK, product=Product("host", registrations=("//gpu:webgp",)))
    with pytest.raises(BuildError) as caught:
        registered_objects(lock, [compile_step(OBJECT, "//gpu:webgpu")])
    assert "//gpu:webgp must register itself, but it compiles nothing in this closure" in str(caught.value)
    assert "did you mean //gpu:webgpu?" in str(caught.value)


def test_without_a_link_map_the_link_itself_must_name_what_registers(tmp_path):
    lock = replace(LOCK, product=Product("host", registrations=("//gpu:webgpu",)))
    steps = [compile_step(OBJECT, "//gpu:webgpu")]
    assert gate_policy(lock, steps, tmp_path, linked=[OBJECT]).registrations == {}
    with pytest.raises(BuildError, match="//gpu:webgpu must register itself, but its objects are linked only if needed"):
        gate_policy(lock, steps, tmp_path, linked=["x.o"])


def test_blame_follows_an_object_to_its_label_and_its_path(tmp_path):
    asked = []

    def path_of(label):
        asked.append(label)
        return ["//:x", label]

    policy = gate_policy(LOCK, [compile_step(OBJECT, "//gpu:webgpu")], tmp_path, path_of=path_of)
    assert asked == []
    assert policy.dependency_path(OBJECT) == ["//:x", "//gpu:webgpu"]
    assert policy.dependency_path("/usr/lib/crti.o") == ()


def test_signatures_belong_to_releases(tmp_path):
    assert gate_policy(LOCK, [], tmp_path).signatures == {}
    assert gate_policy(replace(LOCK, policy="v0.18.0"), [], tmp_path).signatures
