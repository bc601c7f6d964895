"""From `scons` to a text: the sample is built, verified, unpacked, and docs/consumer generates with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.e2e.engine import REPOSITORY

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is absent: apt-get install g++")

MODEL = REPOSITORY / "third_party" / "sample" / "models" / "tiny.model"
PROMPT = "the river carries a question"  # that of src/smoke


def run(*argv: str, **environment: str) -> str:
    done = subprocess.run(argv, cwd=REPOSITORY, check=False, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """The folder of the sample's bundle, linked and packed anew."""
    build = tmp_path_factory.mktemp("sample") / "build"
    run(sys.executable, "-m", "SCons", "-Q", "target=linux-x64", f"build_dir={build}", f"cache={cache}")
    return build / "linux-x64" / "sample" / "bundle"


@pytest.fixture
def prefix(bundle: Path, tmp_path: Path) -> Path:
    for archive in bundle.glob("*.tar.gz"):
        with tarfile.open(archive) as tar:
            tar.extractall(tmp_path / "deps", filter="data")
    return tmp_path / "deps" / "linux" / "x64"


def expected() -> str:
    """What the walk of src/smoke printed for the same prompt on the machine that made the golden file."""
    return str(json.loads((REPOSITORY / "third_party" / "sample" / "golden.json").read_text())["text"])


def test_it_verifies(bundle: Path) -> None:
    text = run(sys.executable, "-m", "SCons", "-Q", "verify", f"bundle={bundle}")
    assert text.startswith("Verified litert-lm-native-runtime-linux-x64-v0.0.1.tar.gz\n") and "  ok  SHA256SUMS: 7 sums\n" in text


@pytest.mark.parametrize("page", ["README.md", "docs/how-to-build.md"])
def test_the_pages_tell_the_verdict_of_this_build(bundle: Path, page: str) -> None:
    rules = json.loads((bundle.parent / "checks.json").read_text())["rules"]
    assert f"checks  {len(rules)} rules passed, build/linux-x64/sample/checks.json\n" in (REPOSITORY / page).read_text(encoding="utf-8")


def test_the_page_tells_what_the_consumer_prints() -> None:
    page = (REPOSITORY / "docs" / "bundles.md").read_text(encoding="utf-8")
    assert f'out/consumer third_party/sample/models/tiny.model "{PROMPT}"' in page and f"prints `{expected()}`" in page


def test_the_manifest_says_what_the_function_returns(bundle: Path, prefix: Path) -> None:
    script = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).stream_proxy_callback_abi_version())"
    returned = int(run(sys.executable, "-c", script, str(prefix / "libLiteRtLm.so")))
    assert json.loads((bundle / "manifest.json").read_text())["abi"]["streamProxyCallback"] == returned == 2


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is absent: apt-get install cmake")
def test_a_consumer_by_cmake(prefix: Path, tmp_path: Path) -> None:
    run("cmake", "-S", "docs/consumer", "-B", str(tmp_path / "out"), f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", str(tmp_path / "out"))
    assert run(str(tmp_path / "out" / "consumer"), str(MODEL), PROMPT) == f"{expected()}\n"


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is absent: apt-get install pkg-config")
def test_a_consumer_by_pkg_config(prefix: Path, tmp_path: Path) -> None:
    out = tmp_path / "consumer"
    command = f'cc docs/consumer/main.c -o "{out}" $(pkg-config --cflags --libs litert-lm)'
    run("sh", "-c", command, PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    assert run(str(out), str(MODEL), PROMPT) == f"{expected()}\n"
