"""Owns what the gate's mutants are built with: compilers by name, skipped visibly where absent, and one way to ask for a verdict."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy
from litert_build.policy.targets import TARGETS

_PACKAGES = {"clang++": "clang-19", "clang": "clang-19", "ld.lld": "lld-19", "ld64.lld": "lld-19", "lld-link": "lld-19"}
NAME = "litert_lm_engine_create"
POLICY = GatePolicy(required=(NAME,), version="v0.19.1")
SOURCE = f"""
#include <stdexcept>
#include <string>
#include <unordered_map>
static std::unordered_map<std::string, int> seen;
extern "C" __attribute__((visibility("default"))) int {NAME}(const char* name) {{
  if (seen.size() > 99) throw std::runtime_error(name);
  return ++seen[name];
}}
"""


def tool(name: str) -> str:
    """Return the command `name`, as Debian's LLVM 19 names it too; skips the test where it is absent."""
    found = shutil.which(f"{name}-19") or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is absent: apt-get install {_PACKAGES.get(name, 'llvm-19' if name.startswith('llvm') else name)}")
    return found


def run(folder: Path, name: str, *arguments: str) -> None:
    """Run a tool in `folder`; its output is the failure's text."""
    done = subprocess.run([tool(name), *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{name} {' '.join(arguments)}\n{done.stdout}{done.stderr}"


def verdict(file: Path, target: str, policy: GatePolicy = POLICY, link_map: Path | None = None) -> dict[str, list[str]]:
    """Return the open findings of the gate: rule id to subjects."""
    report = check_host(file, TARGETS[target], policy, link_map)
    return {result.rule.id: [finding.subject for finding in result.open] for result in report.results if result.open}
