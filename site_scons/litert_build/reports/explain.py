"""Owns explanations: why a target is in the build, which select() branches it took, where a flag of it comes from; and the doctor.

print(explain(analyzer, "//c:engine", flag="-DNDEBUG"))
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from litert_build.actions import Compile, Origin, Traced
from litert_build.bazel.analysis import Analyzer, Key
from litert_build.bazel.labels import Label
from litert_build.bazel.resolution import Resolver
from litert_build.bazel.rule_class import RuleTarget
from litert_build.bazel.select import DEFAULT, Select, SelectorList
from litert_build.errors import BuildError, nearest
from litert_build.starlark.modules import located
from litert_build.toolchains.flag_tables import DIALECTS
from litert_build.toolchains.flags import drop_reason


def explain(analyzer: Analyzer, text: str, *, flag: str = "", include: str = "") -> str:
    """Return why `text` is built: path from a root, declaration, selects; with `flag` or `include`, only what added that to its
    compiles. Raises BuildError for a label outside the closure."""
    analyzer.run()
    with located("explain="):
        label = analyzer.packages.label(text, "", "", analyzer.packages.mapping(""))
    keys = [key for key in analyzer.done if key[0] == label]
    if not keys:
        known = [str(other) for other, _ in analyzer.done]
        raise BuildError(
            f"{label} is not in the closure of {', '.join(analyzer.lock.roots)}", where="explain=", mend=nearest(str(label), known)
        )
    if flag or include:
        return "\n".join(_origins(analyzer, label, flag, include))
    lines: list[str] = []
    for key in keys:
        lines += [*_declaration(analyzer, key), *_path(analyzer, key), *_selects(analyzer, key), ""]
    return "\n".join(lines).rstrip()


def _declaration(analyzer: Analyzer, key: Key) -> list[str]:
    label, configuration = key
    kind = analyzer.done[key].kind
    rule = analyzer.find_rule(label, "")
    if rule is None:
        return [f"{label} is a source file ({configuration})"]
    return [f"{label} is a {kind} ({configuration}), declared at {rule.location}", *(f"    {note}" for note in rule.notes())]


def chain_to(analyzer: Analyzer, key: Key) -> list[Key]:
    """Return the shortest chain from a root of an analysis that has run, found breadth first; empty where none leads there."""
    roots = [(label, analyzer.target.name) for label in analyzer.roots()]
    before: dict[Key, Key | None] = dict.fromkeys(roots)
    queue = deque(roots)
    while queue and key not in before:
        here = queue.popleft()
        for child in analyzer.edges.get(here, ()):
            if child not in before:
                before[child] = here
                queue.append(child)
    chain: list[Key] = []
    step: Key | None = key if key in before else None
    while step is not None:
        chain.append(step)
        step = before[step]
    return chain[::-1]


def _path(analyzer: Analyzer, key: Key) -> list[str]:
    chain = chain_to(analyzer, key)
    if not chain:
        return ["  no path of dependencies: a rule asks for it by itself"]
    names = [f"{label}{'' if name == analyzer.target.name else f' ({name})'}" for label, name in chain]
    return ["  path from the root:", *(f"    {'-> ' if index else ''}{name}" for index, name in enumerate(names))]


def _selects(analyzer: Analyzer, key: Key) -> list[str]:
    label, configuration = key
    rule = analyzer.find_rule(label, "")
    if rule is None:
        return []
    lines: list[str] = []
    for name, value in rule.attrs.items():
        if isinstance(value, SelectorList):
            for part in value.parts:
                if isinstance(part, Select):
                    lines += _verdicts(analyzer.resolvers[configuration], rule, name, part)
    return lines


def _verdicts(resolver: Resolver, rule: RuleTarget, name: str, select: Select) -> list[str]:
    lines = [f"  select() in {name}:"]
    holds = False
    for condition in select.branches:
        if condition == DEFAULT:
            lines.append(f"    {condition}: {'not needed' if holds else 'taken'}")
            continue
        with located(rule.location):
            verdict = resolver.conditions.judge(condition)
        holds = holds or verdict.holds
        lines.append(f"    {condition}: {'holds' if verdict.holds else f'does not hold ({verdict.why})'}")
    return lines


def _origins(analyzer: Analyzer, label: Label, flag: str, include: str) -> Iterable[str]:
    compiles = [action for action in analyzer.actions.compiles() if action.label == str(label)]
    if not compiles:
        raise BuildError(f"{label} compiles nothing", where="explain=", mend="name a target with sources of its own")
    found: dict[str, None] = {}
    toolchain = analyzer.target.toolchain
    for action in compiles:
        for text, shown in _matching(action, flag, include):
            reason = drop_reason(str(text), DIALECTS[toolchain]) if text == shown and not include else ""
            left_out = f"; left out for {toolchain}: {reason}" if reason else ""
            found[f"{shown}: {describe(text.origin if isinstance(text, Traced) else None)}{left_out}"] = None
    if not found:
        raise BuildError(f"no compile of {label} has {flag or include}", where="explain=", mend="`scons actions` writes all of them")
    return found


def _matching(action: Compile, flag: str, include: str) -> Iterable[tuple[str, str]]:
    if include:
        return [(path, f"{kind} {path}") for kind, path in action.includes if path == include.rstrip("/")]
    if flag.startswith("-D"):
        wanted = flag[2:]
        return [(text, f"-D{text}") for text in action.defines if text == wanted or text.split("=", 1)[0] == wanted]
    return [(text, text) for text in action.flags if text == flag]


def describe(origin: Origin | None) -> str:
    """Return an origin as words."""
    if origin is None:
        return "of unknown origin"
    words = [f"added by {origin.attribute}"]
    words += [f"of {origin.label}"] if origin.label else []
    words += [f"at {origin.location}"] if origin.location else []
    words += [f"({origin.branch})"] if origin.branch else []
    return " ".join(words)


def diagnose(analyzer: Analyzer) -> list[BuildError]:
    """Return every fault of the closure at once, instead of stopping at the first."""
    analyzer.problems = []
    for resolver in analyzer.resolvers.values():
        resolver.problems = analyzer.problems
    analyzer.run()
    return list({str(problem): problem for problem in analyzer.problems}.values())
