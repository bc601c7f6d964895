"""Owns what Starlark admits of Python's grammar.

    Validator(text, "pkg/BUILD", "build").check(ast.parse(text))      # BuildError at pkg/BUILD:3: while loop is not part of Starlark

Rules: the Starlark specification ("Lexical elements" to "Statements"), Bazel's "Differences with Python" page.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Literal

from litert_build.errors import BuildError

Kind = Literal["build", "bzl", "workspace"]
ESCAPE_MEND = r"write \\ for a backslash, or a raw string"
MAX_NAMED = 5_000

_STATEMENTS = (
    ast.Expr, ast.Assign, ast.AugAssign, ast.FunctionDef, ast.If, ast.For, ast.Return, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip
_EXPRESSIONS = (
    ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.Call, ast.Attribute, ast.Subscript, ast.Slice,
    ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Lambda, ast.Starred,
)  # fmt: skip
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitOr, ast.BitAnd, ast.BitXor, ast.LShift, ast.RShift, ast.Invert,
    ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)  # fmt: skip
_PARTS = (ast.arguments, ast.arg, ast.keyword, ast.comprehension, ast.Load, ast.Store)
_ALLOWED = frozenset((*_STATEMENTS, *_EXPRESSIONS, *_OPERATORS, *_PARTS))
_ONE_STRING = re.compile(
    r"""r?(?:\"{3}(?:[^\\"]|\\.|"(?!""))*"{3}|'{3}(?:[^\\']|\\.|'(?!''))*'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""", re.DOTALL
)
_PLAIN_STRING = re.compile(r"""\"[^"\n]*"|'[^'\n]*'""")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = frozenset("\n\\\"'abfnrtv")
_NAMES = {
    ast.While: "while loop", ast.ClassDef: "class definition", ast.Import: "import", ast.ImportFrom: "import", ast.Try: "try statement",
    ast.With: "with statement", ast.Raise: "raise statement", ast.Delete: "del statement", ast.Global: "global statement",
    ast.Nonlocal: "nonlocal statement", ast.Assert: "assert statement", ast.Yield: "yield", ast.JoinedStr: "f-string",
    ast.Set: "set literal", ast.SetComp: "set comprehension", ast.GeneratorExp: "generator expression", ast.NamedExpr: "walrus operator",
    ast.Is: "operator is", ast.IsNot: "operator is not", ast.Pow: "operator **", ast.MatMult: "operator @",
    ast.AnnAssign: "type annotation", ast.AsyncFunctionDef: "async function",
}  # fmt: skip


@dataclass(frozen=True)
class Load:
    """One load() statement: the label as written and (local name, name in the loaded file) pairs."""

    label: str
    names: tuple[tuple[str, str], ...]
    line: int


def is_load(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "load"
    )


def load_of(node: ast.stmt) -> Load:
    """Return the Load that a validated load() statement stands for."""
    assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    label, *symbols = node.value.args
    pairs = [(s.value, s.value) for s in symbols if isinstance(s, ast.Constant)]
    pairs += [(str(k.arg), k.value.value) for k in node.value.keywords if isinstance(k.value, ast.Constant)]
    assert isinstance(label, ast.Constant)
    return Load(str(label.value), tuple((str(local), str(name)) for local, name in pairs), node.lineno)


class Validator(ast.NodeVisitor):
    """Admits Starlark and nothing more of Python."""

    def __init__(self, text: str, file: str, kind: Kind) -> None:
        self.lines = text.split("\n")
        self.coded = (-1, b"")  # the last line with other letters than ASCII's that was asked for, by number
        self.file = file
        self.kind = kind

    def fail(self, what: str, node: ast.AST, mend: str = "") -> BuildError:
        return BuildError(what, where=f"{self.file}:{getattr(node, 'lineno', 1)}", mend=mend)

    def check(self, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.If | ast.For):
                word = "if" if isinstance(node, ast.If) else "for"
                raise self.fail(
                    f"`{word}` statements are not allowed at the top level", node, "use a comprehension or move it into a function"
                )
            if isinstance(node, ast.FunctionDef) and self.kind != "bzl":
                raise self.fail("functions may not be defined in a BUILD file", node, "move it to a .bzl file and load it")
            if is_load(node):
                self.check_load(node)
            else:
                self.visit(node)

    def check_load(self, node: ast.stmt) -> None:
        assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        call = node.value
        values: list[ast.expr] = [*call.args, *(k.value for k in call.keywords)]
        for value in values:
            if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
                raise self.fail("load() takes string literals only", node, 'write load("//package:file.bzl", "symbol")')
        if not call.args or any(k.arg is None for k in call.keywords):
            raise self.fail("load() needs a label as its first argument", node)
        load = load_of(node)
        if not load.names:
            raise self.fail("load() names no symbol", node)
        local = [name for name, _ in load.names]
        for position, name in enumerate(local):
            if name in local[:position]:
                raise self.fail(f"load() defines '{name}' more than once", node)
        for _, name in load.names:
            if name.startswith("_"):
                raise self.fail(f"symbol '{name}' is private and cannot be imported", node, "drop the underscore where it is defined")

    def generic_visit(self, node: ast.AST) -> None:
        if type(node) not in _ALLOWED:
            name = _NAMES.get(type(node), type(node).__name__)
            raise self.fail(f"{name} is not part of Starlark", node)
        super().generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list or node.returns or getattr(node, "type_params", None):
            raise self.fail("decorators and annotations are not part of Starlark", node)
        self.check_name(node.name, node)
        self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        if self.kind != "bzl":
            raise self.fail("lambda is not allowed in a BUILD file", node)
        self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> None:
        if node.posonlyargs:
            raise self.fail("positional-only parameters are not part of Starlark", node.posonlyargs[0])
        self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        if node.annotation:
            raise self.fail("type annotations are not part of Starlark", node)
        self.check_name(node.arg, node)

    def visit_For(self, node: ast.For) -> None:
        if node.orelse:
            raise self.fail("for ... else is not part of Starlark", node)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            raise self.fail("async is not part of Starlark", node.target)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator in node.ops:
            if type(operator) not in _ALLOWED:
                raise self.fail(f"{_NAMES.get(type(operator), 'operator')} is not part of Starlark", node)
        if len(node.ops) > 1:
            raise self.fail("comparisons do not chain in Starlark", node, "join them with `and`")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) not in _ALLOWED:
            raise self.fail(f"{_NAMES.get(type(node.op), 'operator')} is not part of Starlark", node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == "load":
            raise self.fail("load() is only allowed at the top level", node)
        stars = [a for a in node.args if isinstance(a, ast.Starred)] + [k for k in node.keywords if k.arg is None]
        if stars and self.kind == "build":
            raise self.fail("*args and **kwargs arguments are not allowed in BUILD files", node, "pass the arguments explicitly")
        if sum(isinstance(a, ast.Starred) for a in node.args) > 1 or sum(k.arg is None for k in node.keywords) > 1:
            raise self.fail("a call takes one *args and one **kwargs", node)
        if stars:
            self.check_order(node)
        if len(node.keywords) > MAX_NAMED:  # Python compares each with each
            raise self.fail(f"a call takes at most {MAX_NAMED} named arguments", node, "give a dict")
        names = [k.arg for k in node.keywords]
        if len(set(names)) < len(names):
            twice = next(k for position, k in enumerate(node.keywords) if k.arg in names[:position])
            raise self.fail(f"duplicate keyword argument: {twice.arg}", twice)
        self.visit(node.func)
        for argument in node.args:
            self.visit(argument.value if isinstance(argument, ast.Starred) else argument)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def check_order(self, node: ast.Call) -> None:
        """Refuse what Python admits behind *args and **kwargs."""
        starred = next((a for a in node.args if isinstance(a, ast.Starred)), None)
        if starred is not None and starred is not node.args[-1]:
            raise self.fail("positional argument may not follow *args", node.args[-1])
        place = (starred.lineno, starred.col_offset) if starred is not None else None
        unpacked = False
        for keyword in node.keywords:
            if keyword.arg is None:
                unpacked = True
            elif unpacked or (place is not None and (keyword.value.lineno, keyword.value.col_offset) > place):
                raise self.fail(f"keyword argument {keyword.arg} may not follow {'**kwargs' if unpacked else '*args'}", keyword.value)

    def visit_Starred(self, node: ast.Starred) -> None:
        raise self.fail("starred expressions are only allowed as call arguments", node)

    def visit_Dict(self, node: ast.Dict) -> None:
        if None in node.keys:
            raise self.fail("dict unpacking is not part of Starlark", node, "join dicts with |")
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            raise self.fail("fields cannot be assigned", node)
        self.check_name(node.attr, node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Slice) and not isinstance(node.ctx, ast.Load):
            raise self.fail("slices cannot be assigned", node)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.check_name(node.id, node)

    def check_name(self, name: str, node: ast.AST) -> None:
        if not name.isascii():
            raise self.fail(f"the name {name} holds other letters than a to z", node, "names are written in ASCII")
        if name.startswith("__"):
            raise self.fail(f"the name {name} is not allowed", node, "names that start with two underscores are reserved")

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bytes | complex) or value is ...:
            raise self.fail(f"{type(value).__name__} literal is not part of Starlark", node)
        if isinstance(value, str):
            text = self.segment(node)
            if "\\" in text or not _PLAIN_STRING.fullmatch(text):
                self.check_string(text, node)
        elif type(value) in (int, float):
            self.check_number(self.segment(node), node)

    def check_string(self, text: str, node: ast.Constant) -> None:
        prefix = text[: min(text.find(quote) for quote in "\"'" if quote in text)]
        if prefix not in ("", "r"):
            raise self.fail(f"the string prefix {prefix} is not part of Starlark", node)
        if not _ONE_STRING.fullmatch(text):
            raise self.fail("implicit string concatenation is not allowed", node, "use the + operator")
        for escape in () if prefix else _ESCAPE.finditer(text):
            octal = escape[1].isdigit() and escape[1][0] in "01234567"
            if escape[1] in _ESCAPED or (octal and int(escape[1], 8) < 256):
                continue
            what = "octal escape sequence out of range (at most \\377)" if octal else f"invalid escape sequence: {escape[0]}"
            where = f"{self.file}:{node.lineno + text.count(chr(10), 0, escape.start())}"
            raise BuildError(what, where=where, mend=ESCAPE_MEND)

    def check_number(self, text: str, node: ast.Constant) -> None:
        if "_" in text:
            raise self.fail("underscores in numbers are not part of Starlark", node)
        if len(text) > 1 and text[0] == "0" and (text[1] in "bB" or text.isdigit()):
            raise self.fail(f"invalid octal literal: {text}", node, "write 0o17 for octal, 0x1f for hexadecimal numbers")

    def segment(self, node: ast.Constant) -> str:
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        end = node.end_col_offset or 0
        if first == last and self.lines[first].isascii():
            return self.lines[first][node.col_offset : end]
        if first == last:
            if self.coded[0] != first:
                self.coded = (first, self.lines[first].encode())
            return self.coded[1][node.col_offset : end].decode()
        lines = self.lines[first : last + 1]
        if all(map(str.isascii, lines)):
            lines[-1] = lines[-1][:end]
            lines[0] = lines[0][node.col_offset :]
            return "\n".join(lines)
        coded = [line.encode() for line in lines]
        coded[-1] = coded[-1][:end]
        coded[0] = coded[0][node.col_offset :]
        return b"\n".join(coded).decode()
