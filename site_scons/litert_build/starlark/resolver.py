"""Owns the resolution of names before anything runs: undefined names, globals assigned twice, statements out of place.

    resolve(ast.parse("x = undefined"), "pkg/BUILD", "build", {"glob"})    # BuildError: name 'undefined' is not defined

Rules: the Starlark specification, section "Name binding and variables".
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from litert_build.errors import BuildError, nearest


def resolve(tree: ast.Module, file: str, kind: str, builtins: Collection[str]) -> None:
    """Check every name of a validated module. Raises BuildError with file:line."""
    _Resolver(file, kind, builtins).module(tree)


def _targets(node: ast.expr) -> Iterable[ast.Name]:
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            yield from _targets(element)


class _Resolver(ast.NodeVisitor):
    def __init__(self, file: str, kind: str, builtins: Collection[str]) -> None:
        self.file = file
        self.kind = kind
        self.builtins = builtins
        self.globals: dict[str, int] = {}
        self.scopes: list[set[str]] = []
        self.loops = 0

    def fail(self, what: str, node: ast.AST, mend: str = "") -> BuildError:
        return BuildError(what, where=f"{self.file}:{getattr(node, 'lineno', 1)}", mend=mend)

    def module(self, tree: ast.Module) -> None:
        for node in tree.body:
            for name in bound_at_top(node):
                if name in self.globals and self.kind == "bzl":
                    first = f"{self.file}:{self.globals[name]}"
                    raise self.fail(f"cannot reassign global '{name}'", node, f"it was first bound at {first}: choose another name")
                self.globals.setdefault(name, node.lineno)
        for node in tree.body:
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_name(node.value.func, "load")):
                self.visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Nothing: without it NodeVisitor looks for handlers of older Pythons at each constant."""

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if isinstance(node.ctx, ast.Store) or name in self.globals or name in self.builtins:
            return
        if any(name in scope for scope in self.scopes):
            return
        known = {*self.globals, *self.builtins, *(n for scope in self.scopes for n in scope)}
        raise self.fail(f"name '{name}' is not defined", node, nearest(name, known) or "load it or define it")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.function(node.args, node.body, _bound_in(node.body))

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.function(node.args, [node.body], set())

    def function(self, args: ast.arguments, body: list[ast.stmt] | list[ast.expr], bound: set[str]) -> None:
        for default in (*args.defaults, *(d for d in args.kw_defaults if d is not None)):
            self.visit(default)
        names = [a.arg for a in (*args.args, *args.kwonlyargs, args.vararg, args.kwarg) if a is not None]
        self.scopes.append({*names, *bound})
        loops, self.loops = self.loops, 0
        for statement in body:
            self.visit(statement)
        self.loops = loops
        self.scopes.pop()

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self.loops += 1
        for statement in node.body:
            self.visit(statement)
        self.loops -= 1

    def visit_Return(self, node: ast.Return) -> None:
        if not self.scopes:
            raise self.fail("return is only allowed in a function", node)
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        if not self.loops:
            raise self.fail("break is only allowed in a loop", node)

    def visit_Continue(self, node: ast.Continue) -> None:
        if not self.loops:
            raise self.fail("continue is only allowed in a loop", node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self.comprehension(node.generators, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self.comprehension(node.generators, [node.key, node.value])

    def comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> None:
        scope: set[str] = set()
        for position, generator in enumerate(generators):
            self.visit(generator.iter)
            if position == 0:
                self.scopes.append(scope)
            scope.update(name.id for name in _targets(generator.target))
            for condition in generator.ifs:
                self.visit(condition)
        for result in results:
            self.visit(result)
        self.scopes.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            raise self.fail("chained assignment is not part of Starlark", node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Tuple | ast.List):
            raise self.fail("cannot perform augmented assignment on a list or tuple expression", node)
        if isinstance(node.target, ast.Name) and not self.scopes and self.kind == "bzl":
            raise self.fail(f"cannot reassign global '{node.target.id}'", node)
        self.generic_visit(node)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def bound_at_top(node: ast.stmt) -> Iterable[str]:
    """Return the global names that a top-level statement binds."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from (name.id for name in _targets(target))
    elif isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_name(node.value.func, "load"):
        yield from (arg.value for arg in node.value.args[1:] if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
        yield from (keyword.arg for keyword in node.value.keywords if keyword.arg)


def _bound_in(body: Iterable[ast.stmt]) -> set[str]:
    bound: set[str] = set()
    for node in body:
        if isinstance(node, ast.Assign):
            bound.update(name.id for target in node.targets for name in _targets(target))
        elif isinstance(node, ast.AugAssign):
            bound.update(name.id for name in _targets(node.target))
        elif isinstance(node, ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.For):
            bound.update(name.id for name in _targets(node.target))
            bound |= _bound_in(node.body)
        elif isinstance(node, ast.If):
            bound |= _bound_in(node.body) | _bound_in(node.orelse)
    return bound
