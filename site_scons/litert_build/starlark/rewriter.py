"""Owns the change of Starlark's operators and literals, parsed as Python's, into calls of operators.RUNTIME.

    rewriter = Rewriter()
    rewriter.visit(node)       # [1] + x  becomes  __Add(__list([1]), x)
    rewriter.functions         # {"__def1": "my_macro"}: the makers of the functions that were met

Rules: the Starlark specification, "Expressions".
"""

from __future__ import annotations

import ast
from typing import Any

_LOAD = ast.Load()


def _place(node: ast.expr | ast.stmt) -> dict[str, Any]:
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def _constant(value: Any, node: ast.expr | ast.stmt) -> ast.Constant:
    return ast.Constant(value, **_place(node))


class Rewriter(ast.NodeTransformer):
    """Puts calls of operators.RUNTIME in the place of Python's own operators and literals."""

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}

    def call(self, name: str, node: ast.expr | ast.stmt, *args: ast.expr) -> ast.Call:
        place = _place(node)
        return ast.Call(func=ast.Name(id=name, ctx=_LOAD, **place), args=list(args), keywords=[], **place)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return self.call("__list", node, node) if isinstance(node.ctx, ast.Load) else node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        pairs = [ast.Tuple([key, value], _LOAD, **_place(key)) for key, value in zip(node.keys, node.values) if key is not None]
        return self.call("__dict", node, *pairs)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        return self.call("__list", node, node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        pair = ast.Tuple([node.key, node.value], _LOAD, **_place(node.key))
        return self.call("__dict_from", node, ast.ListComp(pair, node.generators, **_place(node)))

    def guarded(self, iterable: ast.expr, target: ast.expr) -> ast.expr:
        if isinstance(target, ast.Tuple | ast.List):
            return self.call("__iter_unpacked", iterable, iterable, _constant(len(target.elts), iterable))
        return self.call("__iter", iterable, iterable)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = self.guarded(node.iter, node.target)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self.guarded(node.iter, node.target)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            return ast.Expr(self.call("__assign", node, target.value, target.slice, node.value), **_place(node))
        if isinstance(target, ast.Tuple | ast.List):
            node.value = self.call("__unpack", node.value, node.value, _constant(len(target.elts), node))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        operator = {"Add": "__iadd", "BitOr": "__ior"}.get(type(node.op).__name__, f"__{type(node.op).__name__}")
        place = _place(node)
        if isinstance(node.target, ast.Subscript):
            name = ast.Name(operator, _LOAD, **place)
            return ast.Expr(self.call("__update", node, node.target.value, node.target.slice, name, node.value), **place)
        assert isinstance(node.target, ast.Name)
        value = self.call(operator, node, ast.Name(node.target.id, _LOAD, **place), node.value)
        return ast.Assign([node.target], value, **place)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return self.call("__attr", node, node.value, _constant(node.attr, node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        index: ast.expr = node.slice
        if isinstance(index, ast.Slice):
            bounds = [bound or _constant(None, node) for bound in (index.lower, index.upper, index.step)]
            index = self.call("__slice", node, *bounds)
        return self.call("__index", node, node.value, index)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self.call(f"__{type(node.op).__name__}", node, node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return self.call(f"__{type(node.ops[0]).__name__}", node, node.left, node.comparators[0])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return node
        symbol = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        return self.call("__unary", node, _constant(symbol, node), node.operand)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                argument.value = self.call("__args", argument.value, argument.value)
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = self.call("__kwargs", keyword.value, keyword.value)
        return node

    def maker(self, name: str) -> str:
        key = f"__def{len(self.functions) + 1}"
        self.functions[key] = name
        return key

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        place = _place(node)
        node.decorator_list = [ast.Name(self.maker(node.name), _LOAD, **place)]
        if node.args.kwarg:
            name = node.args.kwarg.arg
            wrapped = self.call("__kwdict", node, ast.Name(name, _LOAD, **place))
            node.body.insert(0, ast.Assign([ast.Name(name, ast.Store(), **place)], wrapped, **place))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        return self.call(self.maker("lambda"), node, node)
