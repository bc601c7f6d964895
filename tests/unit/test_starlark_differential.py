"""Our Starlark against starlark-rust (PyPI's starlark-pyo3): the same printed result, or an error from both.

starlark-rust is not Bazel's interpreter. Where the two are known to differ, ours follows Bazel's and DIFFERENCES says why; each
of them is asserted to differ still, so that a difference that goes away is not kept as an excuse.
"""

from __future__ import annotations

import pytest
import starlark
from hypothesis import HealthCheck, Phase, given, settings
from litert_build.errors import BuildError
from litert_build.starlark.values import to_repr

from tests.unit.bazel_samples import run
from tests.unit.starlark_programs import EXPRESSIONS, FUNCTIONS, programs

# Expression: why ours differs from starlark-rust.
DIFFERENCES: dict[str, str] = {
    'int("1_000")': "Bazel's int() takes digits alone",
    'repr("é")': "Bazel's repr() leaves letters as they are",
    "type(len)": "Bazel has a type of its own for built-in functions",
    '"  a  b ".split()': "Bazel's split() has no default separator",
    '"  a  b ".split(None, 1)': "Bazel's split() takes a string alone",
    '"  a  b ".rsplit(None, 1)': "Bazel's rsplit() takes a string alone",
    '"abc".split("")': "Bazel refuses an empty separator",
    '"abc".startswith("b", 1)': "Bazel's startswith() takes where to start",
    '"abc".endswith("b", 0, 2)': "Bazel's endswith() takes where to start and end",
    '"abc".upper': "the text of a bound method is nobody's interface",
    "-1424447581 << 3": "starlark-rust's shift loses bits of numbers this large",
    '"\\x41"': "Bazel refuses hexadecimal escapes",
    '"\\u0041"': "Bazel refuses Unicode escapes",
    "0b11": "Bazel has no binary numbers",
    '"\\q"': "Bazel refuses escapes that mean nothing",
}


def ours(program: str) -> str:
    """Return repr(result) of a program, or `error`."""
    try:
        return to_repr(run(program)["result"])
    except BuildError:
        return "error"


def theirs(program: str) -> str:
    module = starlark.Module()
    try:
        tree = starlark.parse("main.bzl", f"{program}\nrepr(result)\n", dialect=starlark.Dialect.extended())
        return str(starlark.eval(module, tree, starlark.Globals.standard()))
    except starlark.StarlarkError:
        return "error"


def assert_same(program: str) -> None:
    expected = theirs(program)
    assert ours(program) == expected, program


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression: str) -> None:
    assert_same(f"result = {expression}")


@pytest.mark.parametrize("body", FUNCTIONS)
def test_function(body: str) -> None:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    assert_same(f"def main():\n{lines}\n\nresult = main()")


@pytest.mark.parametrize("expression", DIFFERENCES)
def test_known_difference_is_still_one(expression: str) -> None:
    program = f"result = {expression}"
    assert ours(program) != theirs(program), DIFFERENCES[expression]


@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(programs())
def test_generated_program(program: str) -> None:
    assert_same(program)
