"""Owns the command line: every option, goal and command, how they are read, and the text of `scons -h`.

options = read_options({"target": "linux-x64"}, ["host"])
options["target"], options.goals          # 'linux-x64', ('host',)
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from litert_build.errors import BuildError, nearest
from litert_build.policy.targets import TARGETS, find_target, host_target


@dataclass(frozen=True)
class Option:
    """One `name=value` of the command line; an empty `choices` takes any text."""

    name: str
    group: str
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()


_YES_NO = ("yes", "no")
OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("target", "What is built", "platform, a row of `scons targets` (default: this machine)"),
        Option("ref", "What is built", "upstream release, a lock of third_party/refs", "sample"),
        Option("lock", "What is built", "a lock file anywhere, in place of ref"),
        Option(
            "link_mode",
            "What is built",
            "static, dynamic or none (default: what the release's rules say)",
            "",
            ("", "static", "dynamic", "none"),
        ),
        Option("tag", "What is built", "release tag of the bundle (default: the lock's release)"),
        Option("companions", "What is built", "folder of prebuilt libraries that ship beside the host"),
        Option("build_dir", "What is built", "folder for everything that is made", "build"),
        Option("toolchain", "Compilers", "compiler family (default: the target's first)"),
        Option("cc", "Compilers", "C compiler"),
        Option("cxx", "Compilers", "C++ compiler"),
        Option("sysroot", "Compilers", "root of the target's headers and libraries"),
        Option("runtime", "Compilers", "C++ runtime: libstdc++ or libc++ (default: the toolchain's)"),
        Option("lto", "Compilers", "yes: optimize the host at link time", "no", _YES_NO),
        Option("debug_symbols", "Compilers", "split: strip the host, and keep it whole beside as .debug", "none", ("none", "split")),
        Option("offline", "Sources", "yes: never touch the network", "no", _YES_NO),
        Option("headers", "What is built", "whether a compile may read what no dependency declares", "warn", ("warn", "strict", "off")),
        Option("locked", "Sources", "yes: refuse a ref that has no committed lock", "no", _YES_NO),
        Option("github", "Sources", "address that stands for github.com"),
        Option("mirror", "Sources", "addresses that are tried before a source's own, separated by commas"),
        Option(
            "static_gpu",
            "Sources",
            "inject: add the static GPU accelerator where a ref leaves it out",
            "off",
            ("off", "inject"),
        ),
        Option("store", "Sources", "folder of downloads and sealed source trees (default: the user's cache)"),
        Option("launcher", "Speed", "a program before the compiler: ccache, sccache, distcc, icecc"),
        Option("cache", "Speed", "folder of compiled objects, shared by any number of builds"),
        Option("cache_limit", "Speed", "size at which the objects not used for longest are removed, as in 5G", "5G"),
        Option("link_jobs", "Speed", "links that run at once (default: one for each 4 GiB of memory, at most one a core)"),
        Option("trace", "Speed", "a file for the timeline of the build, which chrome://tracing and Perfetto read"),
        Option("incremental", "Speed", "off: plain SCons decides, without the dependency database", "on", ("on", "off")),
        Option("explain", "Reports", "the label whose presence in the build is explained"),
        Option("flag", "Reports", "with explain=: the compiler flag or -DNAME whose origin is asked for"),
        Option("include", "Reports", "with explain=: the include folder whose origin is asked for"),
        Option("model", "Smoke test", "the model that `scons smoke` walks the C API with (default: the sample's)"),
        Option("golden", "Smoke test", "the values it has to give (default: MODEL.golden.json)"),
        Option("file", "Reports", "the library that `scons check file=PATH` judges"),
        Option("format", "Reports", "how `scons targets` prints the table", "text", ("text", "json")),
        Option("bundle", "Bundles and releases", "the archive, or folder of archives, that `scons verify` judges"),
        Option("bundles", "Bundles and releases", "folder of the bundles of all targets, for release-assemble and release-plan"),
        Option("official", "Bundles and releases", "folder of upstream's own release assets"),
        Option("native", "Bundles and releases", "Git repository whose tags are the published releases (default: this project's)"),
        Option("upstream", "Bundles and releases", "Git repository whose tags name upstream's commits (default: upstream's)"),
        Option("commit", "Locks", "with lock: the commit to pin, where the ref is no tag"),
        Option("policy", "Locks", "with lock: the release whose rules hold, where the ref is none"),
        Option("targets", "Locks", "with lock: the targets whose closures the lock covers, separated by commas"),
        Option("skip", "Locks", "with lock: macros of WORKSPACE that are not called, separated by commas"),
        Option("diff", "Locks", "with lock: yes prints what the new lock would change, and writes nothing", "no", _YES_NO),
        Option("against", "Locks", "with lock diff=yes: the ref to compare with (default: the newest release before)"),
        Option("verbose", "Reports", "yes: name each step that runs, and why", "no", _YES_NO),
        Option("debug", "Reports", "yes: show the Python traceback of an error", "no", _YES_NO),
    )
}
_FLAGS = {"clean": "scons -c", "help": "scons -h", "all": "scons, without goals"}  # what other build tools call a goal
LOCAL = "src_"  # src_<repository>=PATH builds a checkout in place of a pinned tree

GOALS: dict[str, str] = {
    "bundle": "the checked host library, packed with manifest and checksums (the default)",
    "smoke": "the bundle, and a walk of its C API in a clean folder",
    "host": "the host library, checked",
    "check": "the host library's verdict",
    "objects": "every object of the roots, where the lock makes no host",
    "fetch": "download, verify and unpack the sources",
    "compiledb": "write compile_commands.json",
    "actions": "write actions.json, one record a compile",
}

EXAMPLES = (
    ("scons", "build, check and bundle the sample for this machine"),
    ("scons target=linux-x64 ref=v0.19.1", "a real build"),
    ("scons ref=v0.19.1 src_litert_lm=../LiteRT-LM host", "the host of a checkout that is being edited"),
    ("scons lock=my/lock.json toolchain=clang -j4", "another lock, another compiler, four jobs"),
    ("scons lock ref=v0.20.0 diff=yes", "what a bump would change"),
    ("scons explain=//c:engine flag=-DNDEBUG", "what put a target, or a flag of it, into the build"),
    ("scons check file=libLiteRtLm.so target=linux-x64", "judge a finished library"),
)


@dataclass(frozen=True)
class Options:
    """The command line, read: option values by name, the checkouts that replace repositories, and what was asked for."""

    values: Mapping[str, str]
    local: Mapping[str, Path] = field(default_factory=dict)
    goals: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    command: str = ""

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def enabled(self, name: str) -> bool:
        return self.values[name] in ("yes", "on")

    def size(self, name: str) -> int:
        """Return a number of bytes; K, M and G are thousands. Raises BuildError for anything else."""
        text = self.values[name].upper()
        factor = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
        digits = text[:-1] if factor > 1 else text
        if not digits.isdigit():
            raise BuildError(f"{name} takes a size, not {self.values[name]!r}", where=f"{name}={self.values[name]}", mend=f"{name}=5G")
        return int(digits) * factor

    def count(self, name: str, default: int) -> int:
        """Return a number from 1 up, `default` where none is given. Raises BuildError for anything else."""
        text = self.values[name]
        if not text:
            return default
        if not text.isdecimal() or int(text) < 1:
            raise BuildError(f"{name} takes a number from 1 up, not {text!r}", where=f"{name}={text}", mend=f"{name}={default}")
        return int(text)

    def path(self, name: str) -> Path | None:
        return Path(self.values[name]).expanduser().absolute() if self.values[name] else None


def read_options(arguments: Mapping[str, str], names: Sequence[str], commands: Iterable[str] = ()) -> Options:
    """Return the options of one call: `arguments` are its `name=value` pairs, `names` its other words (goals, a command, files to build).

    Raises BuildError for whatever is unknown, naming what is nearest.
    """
    values = {option.name: option.default for option in OPTIONS.values()}
    local = {}
    for name, value in arguments.items():
        if name.startswith(LOCAL) and name != LOCAL:
            if not value:
                raise BuildError(f"{name}= names no folder", where=f"{name}=", mend=f"{name}=PATH")
            local[name.removeprefix(LOCAL)] = Path(value).expanduser().absolute()
        else:
            values[name] = _checked(name, value)
    goals, files, command = _sort_names(names, tuple(commands))
    if values["file"]:
        if goals != ("check",) or files:
            raise BuildError("file= belongs to the command check", where=f"file={values['file']}", mend="scons check file=PATH")
        goals, command = (), "check"
    if values["explain"]:
        if goals or files or command:
            raise BuildError("explain= is a command of its own", where=f"explain={values['explain']}", mend="scons explain=LABEL")
        command = "explain"
    elif command == "explain":
        raise BuildError("explain needs a label", where="explain", mend="scons explain=//c:engine")
    if (values["flag"] or values["include"]) and not values["explain"]:
        raise BuildError("flag= and include= need explain=", where="flag=, include=", mend="scons explain=LABEL flag=-DNAME")
    if arguments.get("lock") and arguments.get("ref"):
        raise BuildError("ref= and lock= both name a lock", where="ref=, lock=", mend="give one of them")
    if not values["build_dir"]:
        raise BuildError("build_dir= names no folder", where="build_dir=", mend="build_dir=PATH")
    values["target"] = find_target(values["target"]).name if values["target"] else host_target()
    options = Options(values, local, goals, files, command)
    options.count("link_jobs", 1)
    options.size("cache_limit")
    cache = options.path("cache")
    if cache and cache.exists() and not cache.is_dir():
        raise BuildError("the cache is no folder", where=f"cache={cache}", mend="cache=PATH names a folder, or what shall become one")
    sysroot, trace = options.path("sysroot"), options.path("trace")
    if sysroot and not sysroot.is_dir():
        raise BuildError("there is no such folder", where=f"sysroot={sysroot}", mend="name the root of the target's headers and libraries")
    if trace and not trace.parent.is_dir():
        raise BuildError("there is no such folder", where=f"trace={trace}", mend="name a file in a folder that exists")
    return options


def unknown_flag(said: str) -> BuildError:
    """Return the refusal of a word with dashes that neither this build nor SCons knows; `said` is SCons' own sentence about it, which
    may name the nearest of its words."""
    word, _, hint = (part.strip("'?") for part in said.removeprefix("no such option: ").partition(". Did you mean "))
    name = word.lstrip("-").replace("-", "_")
    mend = f"did you mean {hint}?" if hint else nearest(name, OPTIONS) or "`scons -h` lists the options, `scons -H` those of SCons"
    if name in OPTIONS:
        mend = f"options have no dashes: {name}=..."
    return BuildError(f"unknown option {word!r}", where=word, mend=mend)


def _checked(name: str, value: str) -> str:
    option = OPTIONS.get(name)
    if option is None:
        raise BuildError(
            f"unknown option {name!r}", where=f"{name}={value}", mend=nearest(name.lower(), OPTIONS) or "scons -h lists the options"
        )
    if option.choices and value not in option.choices:
        choices = ", ".join(choice for choice in option.choices if choice)
        raise BuildError(
            f"{name} takes {choices}, not {value!r}",
            where=f"{name}={value}",
            mend=nearest(value, option.choices) or f"{name}={option.default or option.choices[1]}",
        )
    return value


def _sort_names(names: Sequence[str], commands: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    goals = tuple(name for name in names if name in GOALS)
    asked = [name for name in names if name in commands and name not in GOALS]
    files = tuple(name for name in names if name not in GOALS and name not in commands)
    for name in files:
        if os.sep not in name and "/" not in name:
            known = dict.fromkeys((*GOALS, *commands))
            mend = f"options take a value: {name}=..." if name in OPTIONS else _FLAGS.get(name) or nearest(name, known)
            raise BuildError(f"unknown goal {name!r}", where=name, mend=mend or f"one of {', '.join(known)}")
    if len(asked) > 1 or (asked and (files or goals)):
        raise BuildError(f"{asked[0]} is a command of its own", where=" ".join(names), mend=f"scons {asked[0]}")
    return goals, files, asked[0] if asked else ""


def require_made(files: Iterable[str], outputs: Sequence[str], root: Path) -> None:
    """Raise BuildError for a file of the command line that is none of `outputs` (exec paths below `root`) and no folder of theirs, with
    the output whose name is nearest."""
    for file in files:
        path = Path(os.path.abspath(file))  # noqa: PTH100 (a link below root leads to sources)
        wanted = path.relative_to(root).as_posix() if path.is_relative_to(root) else "."
        if path in (root, *root.parents) or any(f"{output}/".startswith(f"{wanted}/") for output in outputs):
            continue
        named = {PurePosixPath(output).name: output for output in outputs}
        close = difflib.get_close_matches(path.name, named, n=1)
        mend = f"did you mean {os.path.relpath(root / named[close[0]])}?" if close else "`scons -h` lists the goals"
        raise BuildError("no step makes this file", where=file, mend=mend)


def find_lock(options: Options, refs: Path) -> Path:
    """Return the lock file that `lock=` or `ref=` names. Raises BuildError for an unknown ref, naming the nearest."""
    chosen = options.path("lock")
    if chosen is not None:
        return chosen
    file = refs / f"{options['ref']}.json"
    if not file.is_file():
        known = sorted(path.stem for path in refs.glob("*.json"))
        mend = (
            nearest(options["ref"], known)
            or f"scons lock ref={options['ref']} makes its lock; the locks here: {', '.join(known) or 'none'}"
        )
        raise BuildError(f"unknown ref {options['ref']!r}", where="ref=", mend=mend)
    return file


def help_text(commands: Mapping[str, str]) -> str:
    """Return the text of `scons -h`: examples, goals, commands and the options in groups."""
    lines = ["", "Usage: scons [goal or command] [option=value ...]", "", "Examples"]
    lines += _table(EXAMPLES)
    lines += ["", "Goals", *_table(GOALS.items())]
    lines += ["", "Commands", *_table(commands.items())]
    for group in dict.fromkeys(option.group for option in OPTIONS.values()):
        rows = [(f"{option.name}={_value(option)}", option.help) for option in OPTIONS.values() if option.group == group]
        if group == "Sources":
            rows.append((f"{LOCAL}NAME=PATH", "build a checkout in place of a repository of the lock"))
        lines += ["", group, *_table(rows)]
    lines += [
        "",
        f"Targets: {', '.join(TARGETS)}",
        "-jN runs N jobs (default: the number of cores), -k goes on after an error, -c removes all that was made for the target and ref.",
        "",
    ]
    return "\n".join(lines)


def _value(option: Option) -> str:
    return "|".join(filter(None, option.choices)) if option.choices else option.default or "..."


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    pairs = list(rows)
    width = max(len(left) for left, _ in pairs)
    return [f"  {left:<{width}}  {right}" for left, right in pairs]
