"""The walk of a host's C API: both ABIs, and every way a host can be wrong, told by its sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.smoke.abi import Abi
from litert_build.smoke.record import record
from litert_build.smoke.run import SmokeRequest, run_limited, smoke_bundle, smoke_library
from litert_build.toolchains.base import Toolchain

from tests.e2e.engine import REPOSITORY
from tests.e2e.toolchain_builds import toolchain_or_skip

FAKE = Path(__file__).parent / "smoke/fake_host.c"
GOLDEN = {"text": "a b", "streamed": "a b", "streamed chunks": "1"}
ABIS: list[Abi] = ["pointer", "status"]


@pytest.fixture(scope="module")
def gcc() -> Toolchain:
    return toolchain_or_skip("gcc", "linux-x64")


class Place:
    """A folder with a fake host, a model and golden values."""

    def __init__(self, folder: Path, toolchain: Toolchain) -> None:
        self.folder, self.toolchain = folder, toolchain
        (folder / "tiny.model").write_text("nothing reads this")
        self.golden(GOLDEN)

    def golden(self, values: object) -> None:
        (self.folder / "golden.json").write_text(json.dumps(values))

    def host(self, *faults: str) -> Path:
        library = self.folder / "libLiteRtLm.so"
        flags = [f"-D{fault}" for fault in faults]
        subprocess.run(["gcc", "-shared", "-fPIC", "-fvisibility=hidden", *flags, "-o", str(library), str(FAKE)], check=True)
        return library

    def walk(self, library: Path, abi: Abi = "pointer", timeout: float = 60) -> str:
        (self.folder / "walk").mkdir()
        request = SmokeRequest(library, self.toolchain, self.folder / "tiny.model", self.folder / "golden.json", abi, timeout)
        return smoke_library(library, request, self.folder / "walk").text


@pytest.fixture
def place(tmp_path: Path, gcc: Toolchain) -> Place:
    return Place(tmp_path, gcc)


def by(abi: Abi) -> tuple[str, ...]:
    return ("BY_STATUS",) if abi == "status" else ()


@pytest.mark.parametrize("abi", ABIS)
def test_a_good_host_is_walked_from_c_and_from_python(place: Place, abi: Abi) -> None:
    text = place.walk(place.host(*by(abi)), abi)
    assert text == "Walked the C API\n  ok  C: generate, direct; 3 values\n  ok  ctypes: generate, direct; 3 values"


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("NO_GENERATE", "the C walk fails: litert_lm_session_generate_content: the host does not export it"),
        ("CRASHES", "the C walk crashes with SIGSEGV"),
        ("EXITS", "the C walk ends with exit code 7"),
        ("FAILS", "the C walk fails: litert_lm_engine_create: NOT_FOUND: the model has no weights"),
        ("WRONG", "the C walk gives other values"),
    ],
)
def test_a_wrong_host_is_told_by_its_fault(place: Place, abi: Abi, fault: str, sentence: str) -> None:
    library = place.host(fault, *by(abi))
    with pytest.raises(BuildError) as refused:
        place.walk(library, abi)
    assert refused.value.what == sentence
    assert refused.value.where == "libLiteRtLm.so"


def test_a_function_that_is_missing_has_a_mend(place: Place) -> None:
    with pytest.raises(BuildError, match=r"name the function in the lock's product\.required"):
        place.walk(place.host("NO_GENERATE"))


def test_other_values_are_listed(place: Place) -> None:
    with pytest.raises(BuildError) as refused:
        place.walk(place.host("WRONG"))
    assert refused.value.notes == ("text: 'a c' instead of 'a b'", "streamed: 'a c' instead of 'a b'")
    assert refused.value.mend.startswith("if the new values are right, write them to ")


def test_a_host_that_runs_on_one_thread_is_noticed(place: Place) -> None:
    place.golden({"workers of 4 threads": "4"})
    with pytest.raises(BuildError) as refused:
        place.walk(place.host())
    assert refused.value.notes == ("workers of 4 threads: '1' instead of '4'",)


@pytest.mark.parametrize(("fault", "last"), [("HANGS", "no value was printed"), ("ENDLESS", "the last value was 'text'")])
def test_a_walk_that_does_not_end_is_ended(place: Place, fault: str, last: str) -> None:
    with pytest.raises(BuildError) as refused:
        place.walk(place.host(fault), timeout=2)
    assert refused.value.what == "the C walk does not end within 2 seconds"
    assert refused.value.notes[0] == last


def test_a_client_of_the_other_abi_is_noticed(place: Place) -> None:
    """The names are the same: only a call tells."""
    with pytest.raises(BuildError, match=r"the C walk (crashes with|fails: |ends with|gives other)"):
        place.walk(place.host(), "status")


def test_what_is_no_library_is_refused(place: Place) -> None:
    library = place.folder / "libLiteRtLm.so"
    library.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(BuildError, match=r"the C walk fails: .*invalid ELF header|file too short"):
        place.walk(library)


def test_a_model_that_is_absent_is_named(place: Place) -> None:
    library = place.host()
    (place.folder / "tiny.model").unlink()
    with pytest.raises(BuildError, match=r"tiny\.model: no model to walk with"):
        place.walk(library)


def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere")
    code, output, errors = run_limited([sys.executable, "-c", "import os; print(*os.environ)"], tmp_path, {"ONLY": "1"}, 60)
    assert (code, errors) == (0, "")
    assert "LD_LIBRARY_PATH" not in output
    assert "ONLY" in output


def test_children_of_a_walk_are_ended_with_it(tmp_path: Path) -> None:
    script = "import subprocess, sys; p = subprocess.Popen(['sleep', '600']); print(p.pid, flush=True); p.wait()"
    code, output, _ = run_limited([sys.executable, "-c", script], tmp_path, dict(os.environ), 3)
    assert code is None
    status = Path(f"/proc/{output.strip()}/stat")
    for _ in range(100):  # a killed process takes a moment to go
        if not status.exists() or status.read_text().split(") ")[1].startswith("Z"):
            return
        time.sleep(0.1)
    pytest.fail(status.read_text())


# ---- the goal


def scons(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "SCons", "-Q", "-j2", f"build_dir={folder}", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory, gcc: Toolchain, cache: Path) -> Path:
    """A build folder in which the sample was built and walked."""
    folder = tmp_path_factory.mktemp("sample") / "build"
    done = scons(folder, "smoke", "target=linux-x64", "toolchain=gcc", f"cache={cache}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok  C: about, generate, stream, direct, endings, conversation, embedding, threads, speech; 24 values" in done.stdout
    assert "ok  ctypes: generate, direct, embedding; 6 values" in done.stdout
    assert "Walked the C API" in (folder / "linux-x64/sample/smoke.txt").read_text()
    return folder


def test_the_goal_walks_what_was_packed(build: Path, gcc: Toolchain, tmp_path: Path) -> None:
    """One value of the golden file changed, and a bundle whose host lies elsewhere."""
    (archive,) = (build / "linux-x64/sample/bundle").glob("litert-lm-native-runtime-*.tar.gz")
    sample = REPOSITORY / "third_party/sample"
    golden = json.loads((sample / "golden.json").read_text())
    golden["workers of 4 threads"] = "1"
    changed = tmp_path / "golden.json"
    changed.write_text(json.dumps(golden))
    with pytest.raises(BuildError) as refused:
        smoke_bundle(SmokeRequest(archive, gcc, sample / "models/tiny.model", changed, "pointer"))
    assert refused.value.where == archive.name
    assert refused.value.notes == ("workers of 4 threads: '4' instead of '1'",)


def test_the_goal_fails_where_the_walk_does(build: Path, tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text('{"backend": "gpu", "text": "another"}')
    done = scons(build, "smoke", "target=linux-x64", "toolchain=gcc", f"golden={tmp_path / 'golden.json'}")
    assert done.returncode == 2
    assert "the C walk gives other values" in done.stdout
    assert "text: 'then grows turns beside river bright letter again' instead of 'another'" in done.stdout
    assert not (build / "linux-x64/sample/smoke.txt").exists()
    assert list((build / "linux-x64/sample/bundle").glob("*.tar.gz")) == []  # it must not be taken for one that was walked


def test_a_model_that_is_absent_ends_the_run_with_a_sentence(build: Path) -> None:
    done = scons(build, "smoke", "target=linux-x64", "toolchain=gcc", "model=absent.litertlm")
    assert done.returncode == 2
    assert "model=absent.litertlm: there is no model to walk the C API with\n  -> name one with model=PATH" in done.stderr


def test_the_program_of_the_speech_page_hears_the_sample(build: Path, tmp_path: Path) -> None:
    page = (REPOSITORY / "docs/speech.md").read_text(encoding="utf-8")
    (tmp_path / "hear.c").write_text(page.split("```c\n")[1].split("```")[0])
    host = build / "linux-x64/sample/bazel-out/k8-opt/bin/host"
    flags = ["-Wall", "-Werror", f"-I{REPOSITORY / 'src/bridge'}", f"-L{host}", "-lLiteRtLm", f"-Wl,-rpath,{host}"]
    subprocess.run(["gcc", str(tmp_path / "hear.c"), "-o", str(tmp_path / "hear"), *flags], check=True)
    models = REPOSITORY / "third_party/sample/models"
    command = [str(tmp_path / "hear"), str(models / "tiny.asr"), str(models / "tiny.words")]
    heard = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (heard.returncode, heard.stdout) == (0, "quiet\n")


# ---- new golden values


def test_golden_values_are_written_by_one_command(place: Place) -> None:
    place.golden({"streamed": "", "text": "a b"})
    golden = place.folder / "golden.json"
    command = [sys.executable, "-m", "litert_build.smoke.record", str(place.host()), str(place.folder / "tiny.model"), str(golden)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "site_scons")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{golden}: streamed changed\n"), done.stderr
    assert json.loads(golden.read_text()) == {"streamed": "a b", "text": "a b"}


def test_a_host_that_fails_writes_no_golden_values(place: Place) -> None:
    golden = place.folder / "golden.json"
    before = golden.read_text()
    with pytest.raises(BuildError, match="the C walk crashes with SIGSEGV"):
        record(place.host("CRASHES"), place.folder / "tiny.model", golden, "pointer")
    assert golden.read_text() == before
