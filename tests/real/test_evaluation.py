"""Our evaluation of whole real trees: every package loads, closures keep their size, and the action list is the same byte for byte
whatever the hash seed, wherever the checkout lies and whether or not packages come from the cache.
test_oracle_snapshots.py compares the same closures with Bazel's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from litert_build.actions import Run
from litert_build.bazel.analysis import Analysis, Analyzer, analyze, on_deep_stack
from litert_build.bazel.packages import Package, Packages
from litert_build.bazel.rule_class import RuleTarget
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.sources.trees import materialize
from litert_build.starlark.values import to_repr
from litert_build.toolchains.flags import check

from tests.real.cases import CASES, Case
from tests.real.trees import cache_folder, optional_trees_skip, tree_path

CHECKOUT = Path(__file__).resolve().parents[2]

# Case: translation units of the target, those of tools, commands, objects that the roots give to a link.
CLOSURES = {
    "abseil-20220623": (118, 0, 0, 118),
    "abseil-20240722": (153, 0, 0, 153),
    "abseil-20260526": (156, 0, 0, 156),
    "xnnpack": (1032, 0, 1, 1032),
    "re2": (139, 0, 0, 139),
    "flatbuffers": (40, 0, 0, 40),
    "protobuf": (168, 0, 0, 168),
    "highway": (12, 0, 0, 12),
    "benchmark": (20, 0, 0, 20),
    "brotli": (32, 0, 0, 32),
    "gemmlowp": (1, 0, 0, 1),
    "googletest": (15, 0, 0, 15),
    "snappy": (3, 0, 2, 3),
    "tflite": (233, 40, 4, 233),
    "clang": (3138, 284, 345, 3138),
    "mlir-opt": (3187, 384, 945, 3187),
}
PACKAGES = {"tflite": (988, 24_721)}


def evaluated(name: str, folder: Path, cache: Path | None = None) -> Analysis:
    case = CASES[name]
    with optional_trees_skip():
        lock = case.lock(case.snapshot().provenance["roots"])
    trees = materialize(lock, store=folder / "store", overlays_dir=folder / "overlays", offline=True)
    return analyze(lock, trees, find_target("linux-x64"), cache=cache)


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages whose BUILD files are really executed."""
    names: list[str] = []
    real = Packages.execute

    def execute(self: Packages, package: Package, text: str) -> None:
        names.append(package.display)
        real(self, package, text)

    monkeypatch.setattr(Packages, "execute", execute)
    return names


@pytest.mark.parametrize("name", CLOSURES)
def test_closure_keeps_its_size_and_every_flag_is_known(name: str, tmp_path: Path) -> None:
    analysis = evaluated(name, tmp_path)
    units = Counter(action.configuration for action in analysis.actions.compiles())
    commands = sum(isinstance(action, Run) for action in analysis.actions)
    objects = {*analysis.link.objects, *analysis.link.lazy}
    assert (units["k8-opt"], units["k8-opt-exec"], commands, len(objects)) == CLOSURES[name]
    assert len(units) <= 2
    check(flag for action in analysis.actions.compiles() for flag in action.flags)


@pytest.mark.parametrize("name", CLOSURES)
def test_closure_is_the_same_from_the_cache(name: str, tmp_path: Path, executed: list[str]) -> None:
    first = evaluated(name, tmp_path, tmp_path / "cache")
    assert executed
    executed.clear()
    second = evaluated(name, tmp_path, tmp_path / "cache")
    assert executed == []
    assert list(second.actions) == list(first.actions) and second.link == first.link
    assert set(second.read) == set(first.read) and second.headers.keys() == first.headers.keys()


# What gRPC's own rules are made of: //:gpr needs abseil alone, the rest is compiled by rules of @upb, which call the compiler themselves.
GRPC = Case(
    "grpc",
    "com_github_grpc_grpc",
    {"com_github_grpc_grpc": "grpc-1.51.1", "com_google_absl": "abseil-20220623"},
    "//:gpr",
    cxxopts=("-std=c++17",),
)


def analyzed_grpc(root: str, folder: Path) -> Analysis:
    with optional_trees_skip():
        lock = GRPC.lock([root])
    trees = materialize(lock, store=folder / "store", overlays_dir=folder / "overlays", offline=True)
    return analyze(lock, trees, find_target("linux-x64"))


def test_units_of_grpcs_base_are_those_of_its_cmake_lists(tmp_path: Path) -> None:
    units = [(action.label.split("//")[0], action.source) for action in analyzed_grpc("//:gpr", tmp_path).actions.compiles()]
    assert Counter(repository for repository, _ in units) == {"": 42, "@com_google_absl": 92}
    lists = (tree_path("grpc-1.51.1") / "CMakeLists.txt").read_text()
    library = lists.split("add_library(gpr\n", 1)[1].split("\n)", 1)[0]
    assert sorted(source for repository, source in units if not repository) == sorted(w for w in library.split() if w.endswith(".cc"))


def test_grpcs_library_stops_at_the_rule_that_is_not_to_be_had(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="the closure needs //:google_rpc_status_upb, a upb_proto_library") as caught:
        analyzed_grpc("//:grpc_unsecure", tmp_path)
    assert "repository @upb is not in the lock" in caught.value.what
    assert caught.value.where.endswith("BUILD:3592") and caught.value.notes[-1] == "needed by //:grpc_unsecure"


def test_units_of_xnnpack_come_from_three_repositories(tmp_path: Path) -> None:
    labels = [action.label.split("//")[0] for action in evaluated("xnnpack", tmp_path).actions.compiles()]
    assert Counter(labels) == {"": 1008, "@cpuinfo": 20, "@pthreadpool": 4}


def test_actions_stand_in_order_and_read_what_is_there(tmp_path: Path) -> None:
    case = CASES["tflite"]
    with optional_trees_skip():
        lock = case.lock(case.snapshot().provenance["roots"])
    trees = materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", offline=True)
    made: set[str] = set()
    for action in analyze(lock, trees, find_target("linux-x64")).actions:
        for path in action.inputs:
            if path.startswith("bazel-out/"):
                assert path in made, f"{action.label} reads {path} before it is made"
            else:
                repository, inner = path.split("/", 2)[1:] if path.startswith("external/") else (case.main, path)
                assert (trees[repository] / inner).exists(), f"{action.label} reads {path}"
        made |= set(action.outputs)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_of_the_tree_loads_once(name: str, tmp_path: Path, executed: list[str]) -> None:
    case = CASES[name]
    with optional_trees_skip():
        lock = case.lock(case.snapshot().provenance["roots"])
    trees = materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", offline=True)
    root = trees[case.main]
    files = [file for file in root.rglob("BUILD*") if file.name in ("BUILD", "BUILD.bazel")]
    names = sorted({file.parent.relative_to(root).as_posix().removeprefix(".") for file in files})

    def load_all() -> tuple[dict[str, str], list[str]]:
        packages = Analyzer(lock, trees, find_target("linux-x64"), "gcc", "gcc", tmp_path / "cache").packages
        failed: dict[str, str] = {}
        targets: list[str] = []
        for package in names:
            try:
                targets += [described(target) for target in packages.load("", package).targets.values()]
            except BuildError as error:
                failed[package] = str(error)
        return failed, targets

    failed, targets = on_deep_stack(load_all)
    assert failed == {}
    assert (len(names), len(targets), len(executed)) == (*PACKAGES[name], len(names))
    executed.clear()
    assert on_deep_stack(load_all) == ({}, targets)
    assert executed == []


def described(target: RuleTarget) -> str:
    rule = target.rule
    return f"{target.label} {rule.name} {rule.missing} {list(rule.attrs)} {to_repr(target.attrs)} {target.stack} {target.outputs}"


_LISTING = """\
import sys
from pathlib import Path
from tests.real.cases import CASES, Case
from litert_build.bazel.analysis import analyze
from litert_build.policy.targets import find_target
from litert_build.reports.actions_json import write_actions
from litert_build.sources.trees import materialize

case = CASES[sys.argv[1]]
lock = case.lock(case.snapshot().provenance["roots"])
trees = materialize(lock, store=Path("store"), overlays_dir=Path("overlays"), offline=True)
analysis = analyze(lock, trees, find_target("linux-x64"))
write_actions(analysis.actions.compiles(), Path("actions.json"))
for action in analysis.actions:
    print(action)
print(analysis.link)
"""


def listing(name: str, folder: Path, seed: str, checkout: Path, trees: Path) -> tuple[str, str]:
    """Return the digests of actions.json, and of all actions with the inputs of the link, as a process of its own with a hash seed makes
    them."""
    folder.mkdir()
    paths = {"PYTHONPATH": f"{checkout / 'site_scons'}:{checkout}", "LITERT_LM_TREES": str(trees)}
    command = [sys.executable, "-c", _LISTING, name]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONHASHSEED": seed, **paths}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    written = (folder / "actions.json").read_bytes()
    assert b'"label"' in written
    return hashlib.sha256(written).hexdigest(), hashlib.sha256(done.stdout).hexdigest()


@pytest.mark.parametrize("name", CASES)
def test_actions_are_the_same_under_any_hash_seed_and_from_any_checkout(name: str, tmp_path: Path) -> None:
    with optional_trees_skip():
        CASES[name].lock()
    other = tmp_path / "another checkout"
    for part in ("site_scons", "src", "tests/real", "third_party"):
        shutil.copytree(CHECKOUT / part, other / part, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "other trees").symlink_to(cache_folder())
    here, there = (CHECKOUT, cache_folder()), (other, tmp_path / "other trees")
    places = {"0": here, "1": here, "4294967295": there}
    found = [listing(name, tmp_path / seed, seed, checkout, trees) for seed, (checkout, trees) in places.items()]
    assert found[0] == found[1] == found[2]
