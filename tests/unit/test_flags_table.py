"""The flag table against real Bazel's command line (the oracle snapshot's vocabulary)."""

from __future__ import annotations

import pytest
from litert_build.actions import Origin, Traced
from litert_build.errors import BuildError
from litert_build.toolchains import features

BEFORE = [
    "-U_FORTIFY_SOURCE",
    "-fstack-protector",
    "-Wall",
    "-Wunused-but-set-parameter",
    "-Wno-free-nonheap-object",
    "-fno-omit-frame-pointer",
    "-g0",
    "-O2",
    "-D_FORTIFY_SOURCE=1",
    "-DNDEBUG",
    "-ffunction-sections",
    "-fdata-sections",
]
AFTER = [
    "-fno-canonical-system-headers",
    "-Wno-builtin-macro-redefined",
    '-D__DATE__="redacted"',
    '-D__TIMESTAMP__="redacted"',
    '-D__TIME__="redacted"',
]


@pytest.mark.parametrize(("language", "standard"), [("c++", ["-std=c++14"]), ("c", []), ("asm", [])])
def test_gcc_opt_pic_is_what_bazel_passes(language: str, standard: list[str]) -> None:
    assert list(features.default_flags("gcc", language)) == [*BEFORE, *standard, "-fPIC"]
    assert list(features.unfiltered_flags("gcc")) == AFTER


def test_every_flag_names_its_row() -> None:
    origin = features.default_flags("gcc", "c++")[0].origin
    assert origin is not None
    assert (origin.attribute, origin.branch) == ("flag table", "gcc, base")


def test_clang_has_its_own_warnings() -> None:
    flags = features.default_flags("zig", "c++")
    assert "-Wthread-safety" in flags
    assert "-fno-canonical-system-headers" not in features.unfiltered_flags("zig")


def test_pe_code_takes_no_pic_flag() -> None:
    assert "-fPIC" not in features.default_flags("mingw", "c++")
    assert "-DNOMINMAX" in features.default_flags("msvc", "c++")


def test_a_feature_switches_rows() -> None:
    assert features.default_flags("gcc", "c++", features=["-default_compile_flags"]) == ("-fPIC",)
    assert "-Werror" in features.default_flags("gcc", "c++", features=["treat_warnings_as_errors"])


def test_an_unknown_feature_names_the_line_and_the_nearest() -> None:
    unknown = Traced("layering_chek", Origin("features", "//a:b", "a/BUILD:3"))
    with pytest.raises(BuildError) as caught:
        features.default_flags("gcc", "c++", features=[unknown])
    assert str(caught.value) == "a/BUILD:3: unknown feature 'layering_chek'\n  -> did you mean layering_check?"


def test_what_nobody_knows_may_be_switched_off() -> None:
    assert features.default_flags("gcc", "c++", features=["-asan"]) == features.default_flags("gcc", "c++")


def test_a_feature_without_effect_says_why() -> None:
    assert features.FEATURES["header_modules"] == "no effect: headers are read as text"
