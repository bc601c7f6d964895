"""The bridge's C ABIs, met by C programs under sanitizers: speech over the sample's pipeline and over a failing one, and StreamProxy."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.engine import REPOSITORY

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")

HERE = Path(__file__).parent / "bridge"
BRIDGE = REPOSITORY / "src/bridge"
SAMPLE = REPOSITORY / "third_party/sample"
MEMORY = "address,undefined"
MODEL = (str(SAMPLE / "models/tiny.asr"), str(SAMPLE / "models/tiny.words"))
INCLUDES = (SAMPLE / "litert_lm", SAMPLE / "base")
PIPELINE = (
    *sorted((SAMPLE / "litert_lm/omni/asr").glob("*.cc")),
    SAMPLE / "litert_lm/runtime/util/file_util_posix.cc",
    *sorted((SAMPLE / "base/base/status").glob("*.cc")),
    *(SAMPLE / f"base/base/strings/{name}.cc" for name in ("str_cat", "str_split", "numbers", "ascii")),
)


@pytest.fixture(scope="module", params=[MEMORY, "thread"])
def pipeline(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, tuple[Path, ...]]:
    """A sanitizer, and the objects of the sample's pipeline under it."""
    folder = tmp_path_factory.mktemp("pipeline")
    command = (
        "g++",
        "-std=c++20",
        "-g",
        "-O1",
        f"-fsanitize={request.param}",
        *(f"-I{path}" for path in INCLUDES),
        "-c",
        *map(str, PIPELINE),
    )
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return request.param, tuple(sorted(folder.glob("*.o")))


def compile_test(folder: Path, test: str, sanitizer: str, sources: tuple[Path, ...], includes: tuple[Path, ...], *defines: str) -> Path:
    """Compile a C test as C, and what it tests as C++, with warnings as errors."""
    common = [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all", "-g", "-O1", "-Wall", "-Wextra", "-Werror", *defines]
    common += [f"-I{path}" for path in (folder, BRIDGE, HERE, *includes)]
    run("gcc", "-std=c11", "-D_DEFAULT_SOURCE", *common, "-c", str(HERE / test), "-o", str(folder / "test.o"))
    run("g++", "-std=c++20", *common, str(folder / "test.o"), *map(str, sources), "-o", str(folder / "test"), "-pthread", "-ldl")
    return folder / "test"


def run(*command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def asr_sources(folder: Path = BRIDGE) -> tuple[Path, ...]:
    return tuple(sorted((folder / "asr").glob("*.cc")))


def test_speech(tmp_path: Path, pipeline: tuple[str, tuple[Path, ...]]) -> None:
    sanitizer, objects = pipeline
    program = compile_test(tmp_path, "asr_test.c", sanitizer, (*asr_sources(), *objects), INCLUDES)
    assert run(str(program), *MODEL).stdout == "passed\n"


@pytest.mark.parametrize("shape", [(), ("-DLATER",)], ids=["texts", "variant of outputs"])
def test_what_the_pipeline_throws_or_returns_is_a_status(tmp_path: Path, shape: tuple[str, ...]) -> None:
    """In both shapes that upstream's sessions and namespaces have had."""
    program = compile_test(tmp_path, "asr_faults_test.c", MEMORY, asr_sources(), (HERE / "upstream",), *shape)
    assert run(str(program)).stdout == "passed\n"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("std::free(result->confirmed_text);", "", "LeakSanitizer"),
        ("session->cancelled = true;", "", "instead of 7"),
        ("std::shared_ptr<upstream::AsrEngine> engine;  //", "std::weak_ptr<upstream::AsrEngine> engine;  //", "heap-use-after-free"),
    ],
    ids=["leak", "lost cancel", "session without its engine"],
)
def test_a_broken_bridge_is_noticed(tmp_path: Path, pipeline: tuple[str, tuple[Path, ...]], old: str, new: str, found: str) -> None:
    """The test itself, proved by mutants."""
    sanitizer, objects = pipeline
    if sanitizer != MEMORY:
        pytest.skip("these mutants are for the other sanitizer")
    shutil.copytree(BRIDGE / "asr", tmp_path / "asr")
    text = (tmp_path / "asr/asr.cc").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "asr/asr.cc").write_text(text.replace(old, new), encoding="utf-8")
    program = compile_test(tmp_path, "asr_test.c", MEMORY, (*asr_sources(tmp_path), *objects), INCLUDES)
    done = subprocess.run([str(program), *MODEL], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert found in done.stderr


@pytest.mark.parametrize("sanitizer", [MEMORY, "thread"])
@pytest.mark.parametrize(
    ("header", "defines"),
    [
        ("engine_abi1.h", ()),
        ("engine_abi2.h", ("-DLITERT_LM_STREAM_CHUNK_API=1",)),
        ("engine_abi2.h", ("-DLITERT_LM_STREAM_CHUNK_API=1", "-DCHUNK_STATUS")),
    ],
    ids=["strings", "chunks", "chunks by status"],
)
def test_a_client_reads_on_another_thread(tmp_path: Path, header: str, defines: tuple[str, ...], sanitizer: str) -> None:
    (tmp_path / "c").mkdir()
    shutil.copy(HERE / header, tmp_path / "c/engine.h")
    sources = (BRIDGE / "stream_proxy/stream_proxy.cc",)
    assert run(str(compile_test(tmp_path, "stream_proxy_test.c", sanitizer, sources, (), *defines))).stdout == "passed\n"


def test_a_bridge_of_the_other_callback_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    shutil.copy(HERE / "engine_abi1.h", tmp_path / "c/engine.h")
    source = str(BRIDGE / "stream_proxy/stream_proxy.cc")
    command = ("g++", "-std=c++20", "-DLITERT_LM_STREAM_CHUNK_API=1", f"-I{tmp_path}", f"-I{BRIDGE}", "-fsyntax-only", source)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "set or remove the define litert_lm_stream_chunk_api in its lock" in done.stderr
