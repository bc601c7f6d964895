"""The commands over finished bundles, as the command line calls them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.bundles import commands
from litert_build.bundles.bundle import make_bundle
from litert_build.bundles.commands import assemble_command, plan_command, targets_json, verify_command
from litert_build.bundles.layout import TARGETS, layout
from litert_build.bundles.verify import verify_bundle
from litert_build.errors import BuildError
from litert_build.options import Options
from litert_build.policy.targets import find_target

from tests.unit.bundle_samples import fill, lenient, lock_file, pin_nothing, sample_request

TAG = "v0.18.0"


def options(**values: object) -> Options:
    names = ("bundle", "bundles", "official", "native", "upstream", "tag")
    return Options({name: str(values.get(name, "")) for name in names})


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are headers alone pass the gate."""
    monkeypatch.setattr(commands, "verify_bundle", lambda path: verify_bundle(path, lenient))
    plain = commands.release_plan
    monkeypatch.setattr(commands, "release_plan", lambda *args, **named: plain(*args, **named, gate=lenient))
    pin_nothing(monkeypatch)


def git(folder: Path, *argv: str) -> str:
    folder.mkdir(exist_ok=True)
    setting = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    return subprocess.run(["git", *setting, *argv], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def tagged(folder: Path, tag: str) -> str:
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.usefixtures("passing")
def test_verify_an_archive_or_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = make_bundle(sample_request(tmp_path))
    for path in (result.archive, tmp_path):
        assert verify_command(options(bundle=path)) == 0
        assert capsys.readouterr().out.startswith("Verified litert-lm-native-runtime-linux-x64-sample.tar.gz\n  ok  container")


def test_verify_without_an_archive(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"bundle=: is not given\n  -> bundle=PATH names an archive"):
        verify_command(options())
    with pytest.raises(BuildError, match=r"gone: does not exist"):
        verify_command(options(bundle=tmp_path / "gone"))
    with pytest.raises(BuildError, match=r"holds no runtime archive"):
        verify_command(options(bundle=tmp_path))


@pytest.mark.usefixtures("passing")
def test_from_bundles_to_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit = tagged(tmp_path / "upstream", TAG)
    tagged(tmp_path / "native", "v0.17.0-2")
    for target in TARGETS:
        work = tmp_path / "work" / target
        (work / "companions").mkdir(parents=True)
        companions = fill(work / "companions", layout(target, TAG))
        lock = lock_file(work, TAG, commit)
        made = sample_request(work, find_target(target), lock=lock, tag=TAG, companions=companions, native_commit="1" * 40)
        toolchain = replace(made.toolchain, name=made.target.release_toolchain)
        make_bundle(type(made)(**{**vars(made), "output": tmp_path / "bundles" / target, "toolchain": toolchain}), lenient)
    (tmp_path / "official").mkdir()
    (tmp_path / "official" / "CLiteRTLM.xcframework.zip").write_bytes(b"PK")
    given = options(
        bundles=tmp_path / "bundles", tag=TAG, official=tmp_path / "official", native=tmp_path / "native", upstream=tmp_path / "upstream"
    )
    assert assemble_command(given) == 0
    assert len(capsys.readouterr().out.splitlines()) == 7
    assert plan_command(given) == 0
    assert capsys.readouterr().out.endswith("Nothing was uploaded.\n")
    assert json.loads((tmp_path / "bundles" / "manifest.json").read_text())["upstream"]["commit"] == commit
    git(tmp_path / "upstream", "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path / "upstream", "tag", "-f", TAG)
    with pytest.raises(BuildError, match=r"upstream's tag v0.18.0 moved"):
        plan_command(given)


def test_a_plan_needs_a_name(tmp_path: Path) -> None:
    tagged(tmp_path / "git", TAG)
    with pytest.raises(BuildError, match=r"tag=: is not given\n  -> tag=NAME names the release"):
        plan_command(options(bundles=tmp_path, native=tmp_path / "git", upstream=tmp_path / "git"))


def test_the_matrix_for_ci() -> None:
    rows = {row["name"]: row for row in json.loads(targets_json())}
    assert "\n" not in targets_json()
    assert {name for name, row in rows.items() if row["released"]} == set(TARGETS)
    assert [rows[name]["runner"] for name in ("linux-x64", "linux-arm64", "ios-arm64", "windows-x64", "android-x64")] == [
        "ubuntu-24.04",
        "ubuntu-24.04-arm",
        "macos-15",
        "windows-2025",
        "ubuntu-24.04",
    ]
