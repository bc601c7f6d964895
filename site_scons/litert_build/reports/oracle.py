"""Owns the comparison with real Bazel: `bazel aquery` output and our own action list in one vocabulary, and their differences.

    theirs = load_snapshot(Path("tests/real/oracle/abseil-20240722.json")).records
    ours = records_of(analysis.actions, "k8-opt")
    print(compare(ours, theirs).report())         # empty text: no difference that is not in ALLOWED

A record is one translation unit of the target configuration, compiled position-independently: label, source, and the defines, include
folders and remaining flags in command order. Snapshots are such records of one Bazel run, in shared tables, with their provenance.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from litert_build.actions import ActionList, Run
from litert_build.errors import BuildError

Field = Literal["defines", "includes", "flags"]
FIELDS: tuple[Field, ...] = ("defines", "includes", "flags")
INCLUDE_KINDS = ("-iquote", "-isystem", "-idirafter", "-I")
_DROPPED_WITH_VALUE = {"-o", "-MF"}
_DROPPED = {"-MD"}
_BUILTIN_ACTIONS = re.compile(r"Cpp\w+|CcStrip|Python\w+|TranslateBuildInfo")
_GENRULE_SETUP = re.compile(r"source \S+/genrule-setup\.sh; |set -e -o pipefail; ")


@dataclass(frozen=True)
class Record:
    """One compile: what identifies it (label, source) and what decides the object, each list in command order."""

    label: str
    source: str
    defines: tuple[str, ...] = ()
    includes: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return (self.label, self.source)

    def items(self, name: Field) -> tuple[str, ...]:
        """Return one list as text: an include is `kind path`."""
        if name == "includes":
            return tuple(f"{kind} {path}" for kind, path in self.includes)
        return self.defines if name == "defines" else self.flags


@dataclass(frozen=True)
class Command:
    """One genrule or ctx.actions.run of either configuration, and the digest of what it runs: no flag or path of it may differ."""

    label: str
    configuration: str
    mnemonic: str
    digest: str
    text: str = field(default="", compare=False)

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.label, self.configuration, self.mnemonic)


@dataclass(frozen=True)
class Snapshot:
    """The records of one Bazel run and where they come from: Bazel's version, its flags, the sha256 of each tree.

    `records` are of the target configuration, `tools` of the exec configuration: what is built to run while building. `commands` are
    what runs beside compilers and linkers.
    """

    provenance: dict[str, Any]
    records: tuple[Record, ...]
    tools: tuple[Record, ...] = ()
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True)
class Allowed:
    """Items of one list, matched whole, that one side alone may have, and why that is no fault."""

    field: Field
    side: Literal["bazel", "ours"]
    pattern: str
    reason: str


ALLOWED: tuple[Allowed, ...] = (
    Allowed(
        "includes",
        "bazel",
        r"-iquote (bazel-out/[^/]+/bin/)?external/(bazel_tools|rules_cc)",
        "cc_binary depends implicitly on an allocator and on link_extra_lib: the roots of their repositories, which hold no header",
    ),
)

ALLOWED_FOR_TOOLS: tuple[Allowed, ...] = (
    *ALLOWED,
    Allowed("flags", "bazel", "-g0", "the default of --host_copt and --host_cxxopt says again what the flags of an optimized build say"),
    Allowed("flags", "ours", r"-std=\S+", "a lock has no options for tools alone: the language standard of the build is theirs as well"),
)


@dataclass(frozen=True)
class Difference:
    """One finding: `kind` is missing (Bazel alone compiles it), extra (we alone do), repeated, or the list that differs."""

    kind: str
    label: str
    source: str
    details: tuple[str, ...] = ()


@dataclass
class Comparison:
    """What two record lists differ in, and how often each allowance was needed."""

    differences: list[Difference] = field(default_factory=list)
    used: Counter[Allowed] = field(default_factory=Counter)

    def report(self, limit: int = 20) -> str:
        """Return counts by kind and the first `limit` findings, or the empty string where there is nothing to say."""
        if not self.differences:
            return ""
        counts = Counter(difference.kind for difference in self.differences)
        lines = [", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))]
        for difference in self.differences[:limit]:
            lines.append(f"{difference.kind}: {difference.label} {difference.source}")
            lines += [f"    {detail}" for detail in difference.details]
        if len(self.differences) > limit:
            lines.append(f"... and {len(self.differences) - limit} more")
        return "\n".join(lines)


def canonical_label(label: str) -> str:
    """Return `//pkg:name` for the main repository and `@repo//pkg:name` for another, from any spelling that Bazel prints.

    Source: https://bazel.build/concepts/labels (canonical repositories begin with `@@`, the main one has no name).
    """
    repository, slashes, rest = label.partition("//")
    if not slashes:
        raise BuildError(f"{label!r} is no absolute label")
    package, colon, name = rest.partition(":")
    repository = repository.lstrip("@")
    return f"{'@' + repository if repository else ''}//{package}:{name if colon else package.rsplit('/', 1)[-1]}"


def split_arguments(arguments: Sequence[str]) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return (source, defines, includes, flags) of a gcc command. Output, depfile and random seed are no part of the result."""
    source, defines, includes, flags = "", [], [], []
    rest = iter(arguments[1:])
    for argument in rest:
        kind = next((kind for kind in INCLUDE_KINDS if argument.startswith(kind)), "")
        if argument in _DROPPED_WITH_VALUE:
            next(rest)
        elif argument == "-c":
            source = next(rest)
        elif kind:
            includes.append((kind, argument[len(kind) :] or next(rest)))
        elif argument.startswith("-D"):
            defines.append(argument[2:] or next(rest))
        elif argument not in _DROPPED and not argument.startswith("-frandom-seed="):
            flags.append(argument)
    return source, tuple(defines), tuple(includes), tuple(flags)


def records_from_aquery(document: Mapping[str, Any], configuration: str) -> list[Record]:
    """Return the records of `bazel aquery 'mnemonic("CppCompile", ...)' --output=jsonproto` for one configuration, sorted by key.

    Bazel appends `-ST-` and a hash to a configuration that a transition made; paths get the plain name. Header checks
    (-fsyntax-only), objects without -fPIC and Bazel's own tools are left out.
    """
    labels = {target["id"]: canonical_label(target["label"]) for target in document.get("targets", ())}
    configurations = _configurations(document)
    records = []
    for action in document.get("actions", ()):
        label = labels[action["targetId"]]
        if action["mnemonic"] != "CppCompile" or configurations[action["configurationId"]] != configuration or _is_bazels(label):
            continue
        source, defines, includes, flags = split_arguments([_plain(argument) for argument in action["arguments"]])
        if "-fPIC" in flags and "-fsyntax-only" not in flags:
            records.append(Record(label, source, defines, includes, flags))
    return sorted(records, key=lambda record: record.key)


def commands_from_aquery(document: Mapping[str, Any]) -> list[Command]:
    """Return what `bazel aquery 'deps(...)' --output=jsonproto` runs beside compiling, linking and Bazel's own housekeeping."""
    labels = {target["id"]: canonical_label(target["label"]) for target in document.get("targets", ())}
    configurations = _configurations(document)
    return [
        _command(labels[action["targetId"]], configurations[action["configurationId"]], action["mnemonic"], arguments)
        for action in document.get("actions", ())
        for arguments in _one_proto_each(action)
        if arguments and not _BUILTIN_ACTIONS.fullmatch(action["mnemonic"]) and not _is_bazels(labels[action["targetId"]])
    ]


def commands_of(actions: ActionList) -> list[Command]:
    """Return the commands of an analyzed action list, as `commands_from_aquery` has Bazel's."""
    return [_command(canonical_label(run.label), run.configuration, run.mnemonic, run.argv) for run in actions if isinstance(run, Run)]


def _command(label: str, configuration: str, mnemonic: str, argv: Sequence[str]) -> Command:
    """Return a command whose digest does not depend on the shell's path and strictness, which Bazel and we set in different words."""
    words = [_GENRULE_SETUP.sub("", argv[2], count=1)] if mnemonic == "Genrule" else [str(word) for word in argv]
    text = _plain(shlex.join(words)).removeprefix("/bin/")
    return Command(label, configuration, mnemonic, hashlib.sha256(text.encode()).hexdigest()[:16], text)


def _one_proto_each(action: Mapping[str, Any]) -> list[list[str]]:
    """Return a protoc command for each .proto of Bazel's one for a proto_library: ours are an action a file, that one edit runs one."""
    arguments = action.get("arguments", [])
    if action["mnemonic"] != "GenProto":
        return [arguments]
    protos = [argument for argument in arguments if argument.endswith(".proto")]
    return [[argument for argument in arguments if argument not in protos or argument == proto] for proto in protos]


def _configurations(document: Mapping[str, Any]) -> dict[int, str]:
    return {entry["id"]: re.sub(r"-ST-\w+$", "", entry["mnemonic"]) for entry in document.get("configuration", ())}


def _is_bazels(label: str) -> bool:
    return label.startswith("@bazel_tools//")


def _plain(text: str) -> str:
    return re.sub(r"(bazel-out/[^/\s]+?)-ST-\w+/", r"\1/", text)


def records_from_actions(entries: Iterable[Mapping[str, Any]], configuration: str) -> list[Record]:
    """Return the records of an actions.json (its list of compiles) for one configuration, sorted by key."""
    records = [
        Record(
            canonical_label(entry["label"]),
            entry["source"],
            tuple(entry["defines"]),
            tuple((kind, path) for kind, path in entry["includes"]),
            tuple(entry["flags"]),
        )
        for entry in entries
        if entry["configuration"] == configuration
    ]
    return sorted(records, key=lambda record: record.key)


def records_of(actions: ActionList, configuration: str) -> list[Record]:
    """Return the records of an analyzed action list for one configuration, sorted by key."""
    records = [
        Record(
            canonical_label(compile.label),
            compile.source,
            tuple(map(str, compile.defines)),
            compile.includes,
            tuple(map(str, compile.flags)),
        )
        for compile in actions.compiles()
        if compile.configuration == configuration
    ]
    return sorted(records, key=lambda record: record.key)


def compare(ours: Iterable[Record], theirs: Iterable[Record], allowed: Sequence[Allowed] = ALLOWED) -> Comparison:
    """Return what our records and Bazel's differ in, after the allowed items of each side are set aside.

    Raises BuildError if Bazel's side is empty: an oracle without evidence proves nothing.
    """
    comparison = Comparison()
    mine, bazel = _by_key(ours, "ours", comparison), _by_key(theirs, "bazel", comparison)
    if not bazel:
        raise BuildError("the oracle holds no record to compare with", mend="regenerate the snapshot")
    for key in sorted(mine.keys() | bazel.keys()):
        if key not in mine:
            comparison.differences.append(Difference("missing", *key))
        elif key not in bazel:
            comparison.differences.append(Difference("extra", *key))
        else:
            for name in FIELDS:
                _compare_list(name, mine[key], bazel[key], allowed, comparison)
    return comparison


def compare_commands(ours: Iterable[Command], theirs: Iterable[Command]) -> Comparison:
    """Return which of our commands Bazel does not run, or runs in other words. That Bazel runs more is no difference: it also makes the
    `data` of targets, which is read when a binary runs, not when it is built."""
    mine, bazel = _digests(ours), _digests(theirs)
    comparison = Comparison()
    for key, commands in sorted(mine.items()):
        label, configuration, mnemonic = key
        if key not in bazel:
            comparison.differences.append(Difference("extra", label, f"{mnemonic} in {configuration}"))
        elif sorted(commands) != sorted(bazel[key]):
            details = [f"only ours: {text}" for digest, text in sorted(commands.items()) if digest not in bazel[key]]
            details += [f"only Bazel: {text or digest}" for digest, text in sorted(bazel[key].items()) if digest not in commands]
            comparison.differences.append(Difference("commands", label, f"{mnemonic} in {configuration}", tuple(details)))
    return comparison


def _digests(commands: Iterable[Command]) -> dict[tuple[str, str, str], dict[str, str]]:
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for command in commands:
        found.setdefault(command.key, {})[command.digest] = command.text
    return found


def _by_key(records: Iterable[Record], side: str, comparison: Comparison) -> dict[tuple[str, str], Record]:
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        if record.key in found:
            comparison.differences.append(Difference("repeated", *record.key, (f"{side}: compiled more than once",)))
        found[record.key] = record
    return found


def _compare_list(name: Field, mine: Record, bazel: Record, allowed: Sequence[Allowed], comparison: Comparison) -> None:
    if mine.items(name) == bazel.items(name):
        return
    ours = _set_aside(name, "ours", mine, bazel, allowed, comparison)
    theirs = _set_aside(name, "bazel", bazel, mine, allowed, comparison)
    if ours == theirs:
        return
    only_bazel, only_ours = Counter(theirs) - Counter(ours), Counter(ours) - Counter(theirs)
    details = [f"only Bazel: {item}" for item in only_bazel.elements()] + [f"only ours: {item}" for item in only_ours.elements()]
    if not details:
        place = next(index for index, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1])
        details = [f"order differs at {place}: Bazel {theirs[place]}, ours {ours[place]}"]
    comparison.differences.append(Difference(name, *mine.key, tuple(details)))


def _set_aside(name: Field, side: str, record: Record, other: Record, allowed: Sequence[Allowed], comparison: Comparison) -> list[str]:
    """Return a record's list without the items, the last of each kind, that this side has more often than the other and may have."""
    surplus = Counter(record.items(name)) - Counter(other.items(name))
    rows = [row for row in allowed if (row.field, row.side) == (name, side)]
    kept = []
    for item in reversed(record.items(name)):
        row = next((row for row in rows if surplus[item] and re.fullmatch(row.pattern, item)), None)
        if row:
            surplus[item] -= 1
            comparison.used[row] += 1
        else:
            kept.append(item)
    return kept[::-1]


def dump_snapshot(snapshot: Snapshot) -> str:
    """Return the text of a snapshot: lists in shared tables, one row a line, sources gathered by label. Same input, same bytes."""
    tables: dict[Field, dict[Any, int]] = {name: {} for name in FIELDS}
    parts = {
        "records": _gathered(snapshot.records, tables),
        "tools": _gathered(snapshot.tools, tables),
        "commands": sorted([*command.key, command.digest] for command in snapshot.commands),
    }
    sections = [(str(name), _rows(table)) for name, table in tables.items()] + [(name, _rows(rows)) for name, rows in parts.items()]
    body = ",\n".join(f'"{name}": {rows}' for name, rows in sections)
    return f'{{\n"provenance": {json.dumps(snapshot.provenance, indent=1)},\n{body}\n}}\n'


def _gathered(records: Iterable[Record], tables: dict[Field, dict[Any, int]]) -> list[list[Any]]:
    """Return a row for each label and set of lists: label, the lists' places in the tables (which grow), folder, sources below it."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for record in sorted(records, key=lambda record: record.key):
        lists = (record.defines, record.includes, record.flags)
        numbers = (tables[name].setdefault(items, len(tables[name])) for name, items in zip(FIELDS, lists, strict=True))
        groups.setdefault((record.label, *numbers), []).append(record.source)
    rows = []
    for group, sources in groups.items():
        shared = posixpath.commonpath([posixpath.dirname(source) for source in sources])
        folder = f"{shared}/" if shared else ""
        rows.append([*group, folder, [source[len(folder) :] for source in sources]])
    return rows


def _rows(rows: Iterable[Any]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]"


def load_snapshot(file: Path) -> Snapshot:
    """Return the snapshot that `file` holds. Raises BuildError that names the file where it is no snapshot."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        tables = {name: [tuple(tuple(item) if isinstance(item, list) else item for item in row) for row in data[name]] for name in FIELDS}
        records, tools = (_spread(data[part], tables) for part in ("records", "tools"))
        return Snapshot(data["provenance"], records, tools, tuple(Command(*row) for row in data["commands"]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BuildError(
            f"not an oracle snapshot: {error!r}", where=str(file), mend="regenerate it with tests/real/regenerate_oracle.py"
        ) from error


def _spread(rows: Iterable[Any], tables: Mapping[Field, Sequence[Any]]) -> tuple[Record, ...]:
    return tuple(
        Record(label, folder + source, tables["defines"][defines], tables["includes"][includes], tables["flags"][flags])
        for label, defines, includes, flags, folder, sources in rows
        for source in sources
    )
