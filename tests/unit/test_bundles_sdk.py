"""The SDK archive's members, which headers are public, and the signing hooks' settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.bundles.bundle import make_bundle
from litert_build.bundles.layout import layout
from litert_build.bundles.sdk import collect_headers, sdk_members
from litert_build.bundles.signing import sign, verify_signature
from litert_build.errors import BuildError

from tests.unit.bundle_samples import sample_request


def write(folder: Path, **headers: str) -> Path:
    folder.mkdir()
    for name, text in headers.items():
        (folder / f"{name}.h").write_text(text)
    return folder


def test_public_headers_are_those_that_stand_alone(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "c",
        engine='#include <stdint.h>\n#include "c/export.h"\n',
        export='#ifdef __cplusplus\n#include <cstdint>\nextern "C" {}\n#endif\n',
        near='#include "export.h"\n',
        handles='#include "runtime/engine.h"\n',
        uses_handles='#include "c/handles.h"\n',
        cxx="#include <memory>\n",
    )
    assert list(collect_headers([("c", folder)])) == ["c/engine.h", "c/export.h", "c/near.h"]


def test_folders_without_a_public_header(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"c: holds no C header for c"):
        collect_headers([("c", write(tmp_path / "c", cxx="#include <memory>\n"))])


def test_two_headers_of_one_name(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", a=""), write(tmp_path / "two", a="")
    with pytest.raises(BuildError, match=r"two headers are installed as a.h\n    .*one/a.h"):
        collect_headers([("", one), ("", two)])


@pytest.mark.parametrize(
    ("target", "libs"),
    [
        ("linux-x64", "-lLiteRtLm -Wl,-rpath,${libdir}"),
        ("android-arm64", "-lLiteRtLm"),
        ("macos-arm64", "-lLiteRtLm -Wl,-rpath,${libdir}"),
        ("windows-x64", "-lLiteRtLm"),
    ],
)
def test_members_for_each_platform(tmp_path: Path, target: str, libs: str) -> None:
    library = tmp_path / "x.lib" if target.startswith("windows") else None
    rows = layout(target, "v0.18.0")
    members = sdk_members(rows, {"c/engine.h": b""}, "0.18.0", library)
    wanted = ["include/litert_lm/c/engine.h", "lib/pkgconfig/litert-lm.pc"]
    wanted += ["lib/LiteRtLm.lib"] if library else []
    wanted += ["lib/cmake/LiteRtLm/LiteRtLmConfig.cmake", "lib/cmake/LiteRtLm/LiteRtLmConfigVersion.cmake"]
    assert list(members) == [f"{rows.folder}/{name}" for name in wanted]
    assert f"Libs: -L${{libdir}} {libs}\n".encode() in members[f"{rows.folder}/lib/pkgconfig/litert-lm.pc"]  # type: ignore[operator]
    config = members[f"{rows.folder}/lib/cmake/LiteRtLm/LiteRtLmConfig.cmake"]
    assert (b"IMPORTED_IMPLIB" in config) == (library is not None)  # type: ignore[operator]


def test_no_sdk_where_the_host_is_a_framework() -> None:
    with pytest.raises(BuildError, match=r"no SDK archive for ios-arm64\n  -> use the XCFramework"):
        sdk_members(layout("ios-arm64", "v0.18.0"), {}, "0.18.0")


def test_an_old_sdk_does_not_outlive_its_bundle(tmp_path: Path) -> None:
    first = make_bundle(sample_request(tmp_path, headers={"c/engine.h": b"int x;"}))
    assert [path.name for path in first.extras] == ["litert-lm-native-sdk-linux-x64-sample.tar.gz"]
    make_bundle(sample_request(tmp_path))
    assert not first.extras[0].exists()


def test_a_bundle_that_cannot_be_signed_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITERT_LM_SIGN", "minisign")
    monkeypatch.delenv("LITERT_LM_SIGN_KEY", raising=False)
    with pytest.raises(BuildError, match=r"LITERT_LM_SIGN_KEY: is not set"):
        make_bundle(sample_request(tmp_path, headers={"c/engine.h": b"int x;"}))
    assert not list((tmp_path / "out").iterdir())


def test_signing_is_off_by_default(tmp_path: Path) -> None:
    assert sign(tmp_path / "SHA256SUMS", {}) is None
    assert verify_signature(tmp_path / "SHA256SUMS", {}) is None


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"LITERT_LM_SIGN": "gpg"}, "LITERT_LM_SIGN: unknown method 'gpg'\n  -> one of minisign, sigstore"),
        ({"LITERT_LM_SIGN": "minisign"}, "LITERT_LM_SIGN_KEY: is not set"),
        (
            {"LITERT_LM_SIGN": "minisign", "LITERT_LM_SIGN_KEY": "k", "PATH": "/none"},
            "minisign is not installed\n  -> apt-get install minisign",
        ),
        ({"LITERT_LM_SIGN": "sigstore", "PATH": "/none"}, "sigstore is not installed\n  -> pip install sigstore"),
    ],
)
def test_signing_that_cannot_be(tmp_path: Path, environ: dict[str, str], message: str) -> None:
    with pytest.raises(BuildError, match=message):
        sign(tmp_path / "SHA256SUMS", environ)


def fake_tool(folder: Path, name: str, script: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_a_tool_that_fails_is_quoted(tmp_path: Path) -> None:
    path = fake_tool(tmp_path / "tools", "sigstore", "echo no identity >&2; exit 3")
    with pytest.raises(BuildError, match=r"cannot sign SHA256SUMS\n    no identity"):
        sign(tmp_path / "SHA256SUMS", {"LITERT_LM_SIGN": "sigstore", "PATH": path})


def test_sigstore_is_told_whom_to_expect(tmp_path: Path) -> None:
    path = fake_tool(tmp_path / "tools", "sigstore", 'test "$6 $8" = "https://example.org/ci https://issuer.example.org"')
    (tmp_path / "SHA256SUMS.sigstore.json").write_text("{}")
    environ = {"LITERT_LM_VERIFY": "sigstore", "PATH": path, "LITERT_LM_VERIFY_IDENTITY": "https://example.org/ci"}
    with pytest.raises(BuildError, match=r"LITERT_LM_VERIFY_ISSUER: is not set"):
        verify_signature(tmp_path / "SHA256SUMS", environ)
    shown = verify_signature(tmp_path / "SHA256SUMS", environ | {"LITERT_LM_VERIFY_ISSUER": "https://issuer.example.org"})
    assert shown == "signature: SHA256SUMS.sigstore.json"
