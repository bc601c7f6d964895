"""Owns the step from root labels to the ordered action list.

    analysis = analyze(lock, trees, find_target("linux-x64"), compiler="gcc")
    analysis.actions, analysis.link

Every target of the closure is configured once per configuration; what lies outside the closure is never looked at.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litert_build.actions import ActionList, LinkInputs
from litert_build.bazel.configuration import Conditions, Configuration
from litert_build.bazel.context import RuleContext
from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label, parse_label
from litert_build.bazel.manifest import manifest_digest
from litert_build.bazel.package_cache import PackageCache
from litert_build.bazel.packages import Package, Packages
from litert_build.bazel.providers import CC_INFO, DEFAULT_INFO, CcInfo, ConfiguredTarget, File, default_info, merge_cc_infos
from litert_build.bazel.resolution import Resolver, testonly_fault
from litert_build.bazel.rule_class import RuleTarget
from litert_build.bazel.rules import build_globals, bzl_globals, embedded_repositories
from litert_build.bazel.rules.cc import split_objects
from litert_build.bazel.visibility import check_visibility
from litert_build.errors import BuildError, nearest
from litert_build.policy.targets import Target, find_target, host_target
from litert_build.sources.lock import Lock
from litert_build.starlark.code_cache import CodeCache
from litert_build.starlark.modules import located
from litert_build.starlark.syntax import compile_file
from litert_build.toolchains.features import bazel_compiler

Key = tuple[Label, str]
_STACK_BYTES = 512 * 1024 * 1024
_RECURSION = 100_000


@dataclass(frozen=True)
class Analysis:
    """The ordered actions of the roots' closure, what the roots contribute to a final link, every file and directory listing that
    was read to find out (BUILD and .bzl files), and the headers that the compiles of a (label, configuration) may include."""

    actions: ActionList
    link: LinkInputs
    read: tuple[Path, ...]
    headers: Mapping[tuple[str, str], Depset] = field(default_factory=dict)


def analyze(
    lock: Lock,
    trees: Mapping[str, Path],
    target: Target,
    *,
    compiler: str = "gcc",
    exec_compiler: str = "gcc",
    cache: Path | None = None,
) -> Analysis:
    """Evaluate the closure of the lock's roots over `trees` (repository name -> folder) for `target`.

    `compiler` and `exec_compiler` are toolchain names, for the target and for tools that run here; `cache` is a folder that keeps
    compiled files and evaluated packages for the next run. Raises BuildError with the BUILD line and macro stack for whatever in the
    closure cannot be evaluated.
    """
    analysis: Analysis = on_deep_stack(lambda: Analyzer(lock, trees, target, compiler, exec_compiler, cache).run())
    return analysis


def on_deep_stack(work: Callable[[], Any]) -> Any:
    """Return work(), run in a thread whose stack is deep enough for long dependency chains.

    The garbage collector rests meanwhile: hardly anything that an evaluation makes is garbage, and looking for it took a third of the
    time.
    """
    outcome: list[Any] = []
    collects = gc.isenabled()

    def call() -> None:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(_RECURSION)
        try:
            outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            sys.setrecursionlimit(limit)

    old = threading.stack_size(_STACK_BYTES)
    gc.disable()
    try:
        thread = threading.Thread(target=call)
        thread.start()
    finally:
        threading.stack_size(old)
    thread.join()
    if collects:
        gc.enable()
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


def configurations(lock: Lock, target: Target, compiler: str, exec_compiler: str) -> tuple[Configuration, Configuration]:
    """Return the target and the exec configuration of a build."""
    here = find_target(host_target())
    flags = {str(_flag_label(lock, name)): value for name, value in lock.flags.items()}
    shared: dict[str, Any] = {"host_cpu": here.cpu, "defines": lock.defines, "flags": flags}
    main = Configuration(
        name=f"{target.cpu}-opt", cpu=target.cpu, constraints=frozenset(target.constraints), toolchain=compiler,
        compiler=bazel_compiler(compiler), copts=lock.copts, cxxopts=lock.cxxopts, conlyopts=lock.conlyopts, linkopts=lock.linkopts,
        os=target.os, **shared,
    )  # fmt: skip
    tools = replace(
        main, name=f"{here.cpu}-opt-exec", cpu=here.cpu, constraints=frozenset(here.constraints), toolchain=exec_compiler,
        compiler=bazel_compiler(exec_compiler), is_exec=True, copts=(), conlyopts=(), linkopts=(), os=here.os,
        cxxopts=tuple(option for option in lock.cxxopts if "-std=" in option or "/std:" in option),
    )  # fmt: skip
    return main, tools


def _flag_label(lock: Lock, text: str) -> Label:
    label = parse_label(text, "", "", lock.repositories[lock.main].repo_mapping)
    return Label("", label.package, label.name) if label.repository == lock.main else label


class Analyzer:
    """One analysis: packages, both configurations, configured targets and the actions they registered."""

    def __init__(
        self, lock: Lock, trees: Mapping[str, Path], target: Target, compiler: str, exec_compiler: str, cache: Path | None = None
    ) -> None:
        self.lock = lock
        embedded = embedded_repositories()
        self.packages = Packages(
            trees=trees,
            mappings={name: repository.repo_mapping for name, repository in lock.repositories.items()},
            main=lock.main,
            embedded={name: path for name, path in embedded.items() if name not in trees},
            build_globals=build_globals(),
            bzl_globals=bzl_globals(),
            display=lambda name: _display(name, Path(trees[name])) if name in trees else f"@{name}/",
            bindings=lock.bindings,
            compiler=CodeCache(cache / "code", manifest_digest()) if cache else compile_file,
        )
        if cache:
            self.packages.cache = PackageCache(self.packages, cache / "packages", manifest_digest())
        self.target, self.exec = configurations(lock, target, compiler, exec_compiler)
        self.actions = ActionList()
        self.resolvers = {c.name: Resolver(Conditions(c, self.find_rule, self._resolve_in(c))) for c in (self.target, self.exec)}
        self.done: dict[Key, ConfiguredTarget] = {}
        self.active: dict[Key, None] = {}
        self.aspects: dict[str, Any] = {}
        self.headers: dict[tuple[str, str], Depset] = {}
        self.edges: dict[Key, dict[Key, None]] = {}
        self.problems: list[BuildError] | None = None

    def _resolve_in(self, configuration: Configuration) -> Callable[[RuleTarget, str], Any]:
        return lambda target, name: self.resolvers[configuration.name].value(target, name)

    def run(self) -> Analysis:
        """Configure every root and return the analysis. Raises BuildError."""
        for name in self.lock.flags:
            with located(f"{self.lock.file}: flags"):
                self.resolvers[self.target.name].conditions.flag_value(_flag_label(self.lock, name))
        roots = [found for label in self.roots() for found in self._linked(self.configured(label, self.target, None))]
        return Analysis(self.actions, link_inputs(roots), tuple(dict.fromkeys(self.packages.read)), self.headers)

    def _linked(self, root: ConfiguredTarget) -> list[ConfiguredTarget]:
        """Return what a final link takes for a root: itself, or, where it gives files alone (a filegroup), the targets that make them."""
        if CC_INFO in root:
            return [root]
        makers = {file: target for target in self.done.values() if CC_INFO in target for file in target.files}
        return list({maker.label: maker for file in root.files if (maker := makers.get(file))}.values())

    def roots(self) -> list[Label]:
        """Return the labels the lock's roots name; a pattern stands for its packages' non-test cc_library targets."""
        labels: list[Label] = []
        for root in self.lock.roots:
            if root.endswith("/...") or root.endswith("/...:all"):
                labels += self._pattern(root)
            else:
                with located(f"{self.lock.file}: roots"):
                    labels.append(self.packages.label(root, "", "", self.packages.mapping("")))
        return labels

    def _pattern(self, root: str) -> list[Label]:
        prefix = root.removesuffix(":all").removesuffix("...").rstrip("/")
        start = self.packages.label(f"{prefix}:all" if prefix else "//:all", "", "", self.packages.mapping(""))
        repository, top = start.repository, start.package
        folder = self.packages.root(repository)
        found: list[Label] = []
        for build_file in sorted((folder / top).rglob("BUILD*")):
            if build_file.name not in ("BUILD", "BUILD.bazel"):
                continue
            name = build_file.parent.relative_to(folder).as_posix()
            package = self.packages.load(repository, "" if name == "." else name)
            found += [t.label for t in package.targets.values() if t.rule.name == "cc_library" and not t.testonly and self._compatible(t)]
        return list(dict.fromkeys(found))

    def _compatible(self, target: RuleTarget) -> bool:
        resolver = self.resolvers[self.target.name]
        return all(resolver.conditions.judge(label).holds for label in resolver.value(target, "target_compatible_with"))

    # Finding

    def find(self, label: Label, wanted_by: str) -> tuple[Package, RuleTarget | None]:
        """Return the package of a label and the rule that declares or generates it, None for a source file.

        Raises BuildError if there is neither.
        """
        if (label.repository, label.package) == ("", "external"):
            raise BuildError(
                f"no such target '{label}': no bind() of the WORKSPACE gives it a target",
                where=wanted_by,
                mend=nearest(label.name, self.packages.bindings) or 'add it to "bindings" in the lock',
            )
        package = self.packages.load(label.repository, label.package, wanted_by)
        rule = package.targets.get(label.name) or package.outputs.get(label.name)
        if rule is not None or label.name in package.groups:
            return package, rule
        crossed = self.packages.crossed(label)
        if crossed:
            name = f"{label.package}/{label.name}".removeprefix("/")[len(crossed) + 1 :]
            raise BuildError(
                f"label '{label}' is invalid because '{crossed}' is a subpackage",
                where=wanted_by,
                mend=f"write {Label(label.repository, crossed, name)}",
            )
        if (package.root / label.package / label.name).exists():
            return package, None
        known = [*package.targets, *package.outputs, *package.exported]
        raise BuildError(
            f"no such target '{label}': neither a rule nor a file of that name is in {package.display}",
            where=wanted_by,
            mend=nearest(label.name, known) or "check the name, or declare it in an overlay",
        )

    def find_rule(self, label: Label, wanted_by: str) -> RuleTarget | None:
        return self.find(label, wanted_by)[1]

    # Configuring

    def configured(self, label: Label, configuration: Configuration, parent: RuleTarget | None) -> ConfiguredTarget:
        """Return the target of `label` in `configuration`, analyzed once; its actions are registered on the way.

        Raises BuildError, a dependency cycle with its path among others.
        """
        key = (label, configuration.name)
        wanted_by = parent.location if parent else str(self.lock.file)
        if self.active:
            self.edges.setdefault(next(reversed(self.active)), {})[key] = None
        if key not in self.done:
            self.done[key] = self._configured_once(key, configuration, parent, wanted_by)
        elif parent is not None and self.done[key].kind != "faulty":
            self._check_visible(label, parent)
        result = self.done[key]
        if result.testonly is not None and parent is not None and not (parent.testonly or parent.rule.transparent):
            raise testonly_fault(parent, label, result.testonly)
        return result

    def _configured_once(self, key: Key, configuration: Configuration, parent: RuleTarget | None, wanted_by: str) -> ConfiguredTarget:
        label = key[0]
        if key in self.active:
            chain = list(self.active)
            path = [str(other) for other, _ in chain[chain.index(key) :]] + [str(label)]
            raise BuildError("dependency cycle", where=wanted_by, notes=path, mend="remove one of these dependencies")
        self.active[key] = None
        try:
            with located(wanted_by):
                package, rule = self._found(label, wanted_by, parent)
                if parent is not None:
                    self._check_visible(label, parent)
            return self._configure(label, package, rule, configuration)
        except BuildError as error:
            if self.problems is None:
                raise
            self.problems.append(error)
            info = default_info((), self.output_file(label, configuration))  # so that who runs or locates it adds no fault
            return ConfiguredTarget(label, {DEFAULT_INFO: info}, "faulty")
        finally:
            del self.active[key]

    def _found(self, label: Label, wanted_by: str, parent: RuleTarget | None) -> tuple[Package, RuleTarget | None]:
        """Find a label; a fault about the label itself tells the macros that wrote it."""
        try:
            return self.find(label, wanted_by)
        except BuildError as error:
            if parent is None or error.where != wanted_by:
                raise
            raise BuildError(error.what, where=error.where, notes=[*error.notes, *parent.notes()], mend=error.mend) from error

    def _check_visible(self, label: Label, parent: RuleTarget) -> None:
        if self.lock.visibility == "checked" and (label.repository, label.package) != (parent.label.repository, parent.label.package):
            check_visibility(self.packages, label, parent)

    def _configure(self, label: Label, package: Package, rule: RuleTarget | None, configuration: Configuration) -> ConfiguredTarget:
        if label.name in package.groups:
            raise BuildError(
                f"package group '{label}' is misplaced here: it is for visibility alone", notes=self.path(), mend="depend on a target"
            )
        if rule is None:
            return ConfiguredTarget(label, providers_of([self.source_file(label)]), "source file")
        if label.name not in package.targets:
            owner = self.configured(rule.label, configuration, None)
            file = self.output_file(label, configuration)
            return ConfiguredTarget(label, {**owner.providers, **providers_of([file])}, "generated file")
        if rule.rule.implement is None:
            raise BuildError(
                f"the closure needs {label}, a {rule.rule.name}: {rule.rule.missing or 'this rule is not implemented'}",
                where=rule.location,
                notes=[*rule.notes(), *self.path()],
                mend="leave it out with an overlay, or teach bazel/rules about it",
            )
        self._check_compatible(rule, configuration)
        context = RuleContext(self, rule, configuration)
        with located(rule.location):
            context.check_supported()
            self.resolvers[configuration.name].check(rule)
            made = rule.rule.implement(context)
        if rule.rule.transparent:
            return ConfiguredTarget(label, made.providers, made.kind, made.testonly)
        return ConfiguredTarget(label, made, rule.rule.name, label if rule.testonly else None)

    def _check_compatible(self, rule: RuleTarget, configuration: Configuration) -> None:
        resolver = self.resolvers[configuration.name]
        wanted = resolver.value(rule, "target_compatible_with") if "target_compatible_with" in rule.rule.attrs else ()
        for label in wanted:
            if not resolver.conditions.judge(label).holds:
                raise BuildError(
                    f"{rule.label} is incompatible with this platform: {label} does not hold",
                    where=rule.location,
                    notes=self.path(),
                    mend="the closure should reach it only under a select()",
                )

    def path(self) -> list[str]:
        """Return the chain of labels from a root to what is being configured, a line each."""
        return [f"needed by {label}" for label, _ in list(self.active)[-2::-1]]

    # Files

    def exec_path(self, label: Label) -> str:
        inner = f"{label.package}/{label.name}" if label.package else label.name
        return f"external/{label.repository}/{inner}" if label.repository else inner

    def source_file(self, label: Label) -> File:
        is_directory = (self.packages.root(label.repository) / label.package / label.name).is_dir()
        return File(self.exec_path(label), label, short_path=self.short_path(label), is_directory=is_directory)

    def output_file(self, label: Label, configuration: Configuration) -> File:
        root = configuration.bin_root
        return File(f"{root}/{self.exec_path(label)}", label, root, short_path=self.short_path(label))

    def short_path(self, label: Label) -> str:
        inner = f"{label.package}/{label.name}" if label.package else label.name
        return f"../{label.repository}/{inner}" if label.repository else inner


def providers_of(files: Iterable[File]) -> dict[Any, Any]:
    """Return the providers of a target that only has files."""
    info = default_info(files)
    return {info.provider: info}


def _display(name: str, root: Path) -> str:
    try:
        return root.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return f"@{name}/"


def link_inputs(targets: Iterable[ConfiguredTarget]) -> LinkInputs:
    """Return what `targets` give to one final link, in topological order, each object once: their own objects directly."""
    infos = [info for target in targets if isinstance(info := target.get(CC_INFO), CcInfo)]
    inputs = merge_cc_infos(infos).linking.to_list()
    roots = {item.owner for info in infos for item in info.linking.to_list()[:1]}
    objects, lazy = split_objects(inputs, roots)
    return LinkInputs(
        objects=objects,
        lazy=lazy,
        libraries=tuple(dict.fromkeys(file.path for item in inputs for file in item.libraries)),
        flags=tuple(flag for item in inputs for flag in item.flags),
        scripts=tuple(dict.fromkeys(file.path for item in inputs for file in item.scripts)),
    )
