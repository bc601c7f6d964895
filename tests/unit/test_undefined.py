"""Undefined symbols: every linker's spelling, and the words by which a source is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from litert_build.errors import BuildError
from litert_build.incremental.commands import Command
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.steps import Step
from litert_build.reports import undefined
from litert_build.reports.undefined import demangled, explain_undefined, read_undefined, words_of

GNU = """\
/usr/bin/ld: o/a.pic.o: in function `f()':
a.cc:(.text+0xc): undefined reference to `vtable for lm::Engine'
/usr/bin/ld: a.cc:(.text+0x19): undefined reference to `missing()'
/usr/bin/ld: o/b.pic.o:(.data.rel+0x0): undefined reference to `missing()'
collect2: error: ld returned 1 exit status
"""
GOLD = "lib.a(o/a.pic.o):a.cc:function f(): error: undefined reference to 'missing()'\n"
LLD = """\
ld.lld: error: undefined symbol: lm::Engine::run(int) const
>>> referenced by a.cc
>>>               ../o/a.pic.o:(f()) in archive lib.a
>>> referenced 5 more times

ld.lld: error: undefined hidden symbol: c_missing
>>> referenced by a.cc
>>>               o/a.pic.o:(f())

ld.lld: error: duplicate symbol: g()
>>> defined at o/b.pic.o
"""
LLD_LINK = """\
lld-link: error: undefined symbol: int __cdecl missing(void)
>>> referenced by a.cc:4
>>>               l.lib(a.obj):(int __cdecl f(void))
"""
MSVC = """\
a.obj : error LNK2019: unresolved external symbol "int __cdecl missing(void)" (?missing@@YAHXZ) referenced in function "int f(void)" (?f@@)
l.lib(b.obj) : error LNK2001: unresolved external symbol c_missing
"""
MACH = """\
ld64.lld: error: undefined symbol: __Z7missingv
>>> referenced by a.cc:1
>>>               o/a.o:(symbol _f+0x8)
"""
ZIG = "error: undefined symbol: _missing\n    note: referenced by m.a(a.o):_f\n    note: referenced by m.a(b.o):_g\n"
APPLE = 'Undefined symbols for architecture arm64:\n  "missing()", referenced from:\n      f(int, char) in a.o\nld: symbol(s) not found\n'


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (GNU, {"vtable for lm::Engine": ("o/a.pic.o",), "missing()": ("o/a.pic.o", "o/b.pic.o")}),
        (GOLD, {"missing()": ("o/a.pic.o",)}),
        (LLD, {"lm::Engine::run(int) const": ("../o/a.pic.o",), "c_missing": ("o/a.pic.o",)}),
        (LLD_LINK, {"int __cdecl missing(void)": ("a.obj",)}),
        (MSVC, {"int __cdecl missing(void)": ("a.obj",), "c_missing": ("b.obj",)}),
        (MACH, {"__Z7missingv": ("o/a.o",)}),
        (ZIG, {"_missing": ("a.o", "b.o")}),
        (APPLE, {"missing()": ("a.o",)}),
        ("ld.lld: error: <root>: undefined symbol: DllMainCRTStartup\n", {"DllMainCRTStartup": ()}),
        ("a.cc:3: error: 'missing' was not declared\n  in a.o\n", {}),
    ],
)
def test_every_linker_is_understood(output: str, found: dict[str, tuple[str, ...]]) -> None:
    assert read_undefined(output) == found


@pytest.mark.parametrize(
    ("symbol", "words"),
    [
        ("c_missing", ("c_missing",)),
        ("lm::Engine::run(int) const", ("Engine", "run")),
        ("int lm::Engine::get<std::map<int, void (*)(int)>>()", ("Engine", "get")),
        ("lm::Engine::~Engine()", ("Engine", "Engine")),
        ("vtable for lm::Engine", ("lm", "Engine")),
        ("public: virtual int __cdecl lm::Engine::run(int) const", ("Engine", "run")),
        ("lm::(anonymous namespace)::helper()", ("lm", "helper")),
        ("", ()),
    ],
)
def test_words_of_a_symbol(symbol: str, words: tuple[str, ...]) -> None:
    assert words_of(symbol) == words


def test_mangled_names_are_read_where_a_demangler_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undefined.shutil, "which", lambda name: None)
    assert demangled(["__Z7missingv", "c"]) == {"__Z7missingv": "__Z7missingv", "c": "c"}
    monkeypatch.undo()
    if undefined.shutil.which("c++filt") or undefined.shutil.which("llvm-cxxfilt"):
        assert demangled(["__Z7missingv", "_Z1fi", "c"]) == {"__Z7missingv": "missing()", "_Z1fi": "f(int)", "c": "c"}


@dataclass
class NoClosure:
    """Paths over a closure that cannot be evaluated any more."""

    @property
    def analyzer(self) -> Any:
        raise BuildError("glob() matched nothing")


def step(key: str, label: str) -> Step:
    return Step("", (), (key,), b"", Command("process", (), (key,)), label, "BUILD:6", reports_inputs=True)


def explained(output: str, code: int = 1) -> str:
    objects = [step("out/k8/a/o/a.pic.o", "//:a"), step("out/k8-exec/a/o/a.pic.o", "//:tool")]
    paths: Any = NoClosure()
    return explain_undefined(step("out/k8/host/x.so", "//:host"), Outcome(code, output), objects, paths).output


def test_a_closure_that_cannot_be_evaluated_does_not_hide_the_linker() -> None:
    text = explained(LLD)
    assert text.startswith(LLD.rstrip())
    assert text.endswith("""
2 undefined symbols in out/k8/host/x.so:
  lm::Engine::run(int) const
  c_missing
    needed by a.pic.o of //:a (BUILD:6)
    the closure cannot be evaluated to say more: glob() matched nothing
""")


def test_what_the_linker_does_not_name_is_not_guessed() -> None:
    assert "the linker names no object of this build that needs it" in explained("error: undefined symbol: DllMainCRTStartup\n")


def test_many_symbols_are_counted() -> None:
    text = explained("".join(f"error: undefined symbol: f{number}\n" for number in range(25)))
    assert text.count("\n  f") == 20 and text.endswith("  and 5 more\n")


@pytest.mark.parametrize(("output", "code"), [(LLD, 0), ("ld: cannot find -lz\n", 1)])
def test_any_other_end_is_left_as_it_is(output: str, code: int) -> None:
    assert explained(output, code) == output
