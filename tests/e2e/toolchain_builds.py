"""A small C++ host built for real by the plan of hosts.py: what the toolchain tests share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from litert_build.actions import Compile, Link, LinkInputs, Write
from litert_build.errors import BuildError
from litert_build.hosts import HostPlan, plan_host
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains import find_toolchain
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.features import default_flags, unfiltered_flags
from litert_build.toolchains.runners import run_argv, run_environment

SOURCE = """
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
thread_local int calls = 0;
extern "C" int answer() {
  std::unordered_map<std::string, int> values{{"forty", 40}};
  int result = 0;
  std::thread([&] { try { (void)values.at("two"); } catch (const std::out_of_range&) { result = 2 + ++calls - 1; } }).join();
  return values.at("forty") + result;
}
extern "C"
#ifdef _WIN32
__declspec(dllexport)
#endif
int spoken() { return 3; }
extern "C" int hidden() { return 7; }
"""
WINDOWS_LOADER = """
#include <stdio.h>
#include <windows.h>
int main(int argc, char** argv) {
  HMODULE library = LoadLibraryA(argv[argc - 1]);
  if (!library) { printf("error %lu\\n", GetLastError()); return 1; }
  int (*answer)(void) = (int (*)(void))GetProcAddress(library, "answer");
  printf("%d\\n", answer());
  return 0;
}
"""


ZIG_TARGETS = ("linux-arm64", "macos-arm64")  # a run of all tests has zig compile its own libraries for these alone: minutes each


def toolchain_or_skip(name: str, target: str, runtime: str = "") -> Toolchain:
    if name == "zig" and target not in ZIG_TARGETS and os.environ.get("SAMPLE_ROWS") != "all":
        pytest.skip(f"SAMPLE_ROWS=all has zig build for {target}")
    try:
        return find_toolchain(name, find_target(target), runtime=runtime)
    except BuildError as missing:
        pytest.skip(f"{name} for {target}: {missing.what}")


def build(folder: Path, toolchain: Toolchain, source: str = SOURCE, *, split_debug: bool = False) -> HostPlan:
    """Run the plan of a one-file host in `folder`, as the execution root."""
    (folder / "answer.cc").write_text(source)
    flags = (*default_flags(toolchain.name, "c++"), "-std=c++20", *unfiltered_flags(toolchain.name))
    compile_action = Compile(
        label="//:answer",
        source="answer.cc",
        output="out/answer.pic.o",
        depfile="out/answer.d",
        configuration="target",
        language="c++",
        defines=tuple(flag[2:] for flag in flags if flag.startswith("-D")),
        includes=(("-iquote", "."),),
        flags=tuple(flag for flag in flags if not flag.startswith("-D")),
    )
    lock = Lock(folder / "a.json", "a", "a", "a", {}, (), Product("host", required=("answer",), allowed=("spoken", "declared_elsewhere")))
    plan = plan_host(LinkInputs((compile_action.output,)), lock, toolchain.target, toolchain, out_dir="out", split_debug=split_debug)
    (folder / "out").mkdir()
    run(folder, toolchain, toolchain.compile_argv(compile_action))
    for action in plan.actions:
        if isinstance(action, Write):
            (folder / action.output).write_text(action.content)
        elif isinstance(action, Link):
            (folder / "out/link.rsp").write_text("\n".join(toolchain.response_lines(action)))
            run(folder, toolchain, toolchain.link_argv(action, "out/link.rsp"))
        else:
            run(folder, toolchain, list(action.argv))
    return plan


def run(folder: Path, toolchain: Toolchain, argv: list[str]) -> None:
    done = subprocess.run(argv, cwd=folder, env=dict(toolchain.environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def answer_under_wine(folder: Path, toolchain: Toolchain, library: str) -> str:
    """Return what `answer` of the DLL at `library`, a path in `folder`, gives to a program. Skips where wine is missing."""
    (folder / "load.c").write_text(WINDOWS_LOADER)
    run(folder, toolchain, toolchain.compile_argv(Compile("//:l", "load.c", "out/load.o", "out/load.d", "target", "c", (), (), ())))
    link = Link("//:load", "out/load.exe", "executable", "target", ("out/load.o",))
    (folder / "out/load.rsp").write_text("\n".join(toolchain.response_lines(link)))
    run(folder, toolchain, toolchain.link_argv(link, "out/load.rsp"))
    try:
        argv = run_argv(toolchain.target, "out/load.exe", [library.replace("/", "\\")])
    except BuildError as missing:
        pytest.skip(missing.what)
    environment = run_environment(toolchain.target, folder)
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr
