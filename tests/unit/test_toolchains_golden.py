"""Full command lines of the toolchains that cannot run here, compared with golden files.

GOLDEN=write pytest tests/unit/test_toolchains_golden.py    writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from litert_build.actions import Compile, Link, LinkInputs, Write
from litert_build.hosts import plan_host
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains import apple, clang_cl, msvc, ndk
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.features import default_flags, unfiltered_flags
from litert_build.toolchains.probe import Tool

GOLDEN = Path(__file__).parent / "golden" / "toolchains"


def tool(path: str) -> Tool:
    return Tool(path, f"{path} version 1.2.3", "0" * 64)


def android(name: str) -> Toolchain:
    bin_ = "/ndk/toolchains/llvm/prebuilt/linux-x86_64/bin"
    return ndk.assemble(find_target(name), tool(f"{bin_}/clang"), tool(f"{bin_}/clang++"), f"{bin_}/llvm-strip")


def darwin(name: str) -> Toolchain:
    return apple.assemble(find_target(name), tool("/xcode/usr/bin/clang"), tool("/xcode/usr/bin/clang++"), "/xcode/SDKs/Some.sdk")


def microsoft(name: str) -> Toolchain:
    compiler = tool("C:/VC/Tools/MSVC/14.44/bin/Hostx64/x64/cl.exe")
    folders = msvc.system_folders(compiler, find_target(name), "C:/SDK/10")
    return msvc.assemble("msvc", find_target(name), compiler, tool("C:/VC/Tools/MSVC/14.44/bin/Hostx64/x64/link.exe"), folders)


def llvm_cl(name: str) -> Toolchain:
    target = find_target(name)
    folders = clang_cl.sysroot_folders(Path("/splat"), target)
    return msvc.assemble("clang-cl", target, tool("/llvm/bin/clang"), tool("/llvm/bin/lld-link"), folders, clang_cl.driver_of(target))


CASES = {
    "android-arm64": android("android-arm64"),
    "android-x64": android("android-x64"),
    "ios-arm64": darwin("ios-arm64"),
    "ios-arm64-sim": darwin("ios-arm64-sim"),
    "macos-arm64": darwin("macos-arm64"),
    "macos-x64": darwin("macos-x64"),
    "windows-x64-msvc": microsoft("windows-x64"),
    "windows-arm64-msvc": microsoft("windows-arm64"),
    "windows-x64-clang-cl": llvm_cl("windows-x64"),
}


def commands(toolchain: Toolchain) -> str:
    """One C++ compile as upstream's .bazelrc sets it, TFLite's and XNNPACK's flags among its own, and the host's link."""
    target = toolchain.target
    own = ("-fno-exceptions", "-ffp-contract=off") if target.os != "windows" else ("-ffp-contract=off",)
    before, after = default_flags(toolchain.name, "c++"), unfiltered_flags(toolchain.name)
    flags = [*before, *target.flags.copts, *target.flags.cxxopts, *own, *after]
    action = Compile(
        label="//tflite:interpreter",
        source="external/litert/tflite/interpreter.cc",
        output="bazel-out/bin/tflite/_objs/interpreter/interpreter.pic.o",
        depfile="bazel-out/bin/tflite/_objs/interpreter/interpreter.pic.d",
        configuration="target",
        language="c++",
        defines=tuple(flag[2:] for flag in flags if flag.startswith("-D")),
        includes=(("-iquote", "."), ("-I", "external/x/include"), ("-isystem", "external/eigen")),
        flags=tuple(flag for flag in flags if not flag.startswith("-D")),
    )
    product = Product("host", required=("litert_lm_engine_create", "stream_proxy_create"), allowed=("litert_lm_*",))
    lock = Lock(Path("a.json"), "a", "a", "a", {}, (), product)
    link = LinkInputs(objects=(action.output,), libraries=("external/x/libx.a",), flags=("-lpthread", "-ldl", *target.flags.linkopts))
    lines = ["# compile", *toolchain.compile_argv(action)]
    for step in plan_host(link, lock, target, toolchain, out_dir="bazel-out/bin/host").actions:
        if isinstance(step, Write):
            lines += ["", f"# {step.output}", step.content.rstrip("\n")]
        elif isinstance(step, Link):
            lines += ["", "# link", *toolchain.link_argv(step, "link.rsp"), "", "# link.rsp", *toolchain.response_lines(step)]
    return "\n".join([*lines, "", f"# {toolchain.cxx_runtime}", ""])


@pytest.mark.parametrize("name", CASES)
def test_the_command_lines_are_the_golden_ones(name: str) -> None:
    file, text = GOLDEN / f"{name}.txt", commands(CASES[name])
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("windows")])
def test_exceptions_and_contraction_are_as_upstream_says(name: str) -> None:
    argv = commands(CASES[name]).splitlines()
    assert "-fno-exceptions" in argv
    assert "-ffp-contract=off" in argv


def test_msvc_spells_contraction_its_own_way() -> None:
    assert "/fp:precise" in commands(CASES["windows-x64-msvc"]).splitlines()
    assert "/bigobj" in commands(CASES["windows-x64-msvc"]).splitlines()
