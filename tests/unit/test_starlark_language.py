"""The Starlark language without any of Bazel's functions: what programs give, and each refusal with its sentence and place."""

from __future__ import annotations

from typing import Any

import pytest
from litert_build.bazel.analysis import on_deep_stack
from litert_build.errors import BuildError
from litert_build.starlark.modules import Modules
from litert_build.starlark.syntax import compile_file
from litert_build.starlark.values import to_repr

from tests.unit.bazel_samples import Memory, failure, printed, run


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("[type(x) for x in [1, 1.0, '', True, None, [], (), {}, range(1)]]",
         '["int", "float", "string", "bool", "NoneType", "list", "tuple", "dict", "range"]'),
        ("type(len)", '"builtin_function_or_method"'),
        ("type(lambda: 1)", '"function"'),
        ("[True == 1, [True] == [1], {'a': True} == {'a': 1}, (0,) == (False,), 1 == 1.0]", "[False, False, False, False, True]"),
        ("True in [1, 2]", "False"),
        ("{True: 'x', 1: 'y', (True,): 3, (1,): 4, (1, (0,)): 5, (1, (False,)): 6}",
         '{True: "x", 1: "y", (True,): 3, (1,): 4, (1, (0,)): 5, (1, (False,)): 6}'),
        ("[1 in {True: 1}, True in {1: 1}, (True,) in {(1,): 1}, 1 in (True,), True in range(2), 1.0 in range(2), 'a' in range(2)]",
         "[False, False, False, False, False, False, False]"),
        ("[1.0 in {1: 2}, True in {True: 1}, (False,) in {(False,): 1}, {True: 1}.get(1, 7), {1: 2}.get(True)]",
         "[True, True, True, 7, None]"),
        ("[{True: 1, 'a': 2}.keys(), {True: 1, 'a': 2}.items(), [k for k in {False: 1}], [type(k) for k in {False: 1}]]",
         '[[True, "a"], [(True, 1), ("a", 2)], [False], ["bool"]]'),
        ("[[k == True for k in {True: 1}], {True: 1}.keys() == [True], {(True,): 1}.items() == [((True,), 1)]]", "[[True], True, True]"),
        ("[list(set([True])) == [True], [k == False for k in set([False])]]", "[True, [True]]"),
        ("[not k for k in {False: 1}] + [dict({False: 1}).popitem()[0] == False, sorted({True: 1, False: 2}) == [False, True]]",
         "[True, True, True]"),
        ("dict({True: 1}, a = 2) | {1: 3} == {1: 3, 'a': 2, True: 1}", "True"),
        ("[{True: 1} == {1: 1}, {True: 1} == {True: True}, {True: 1} == {True: 1}]", "[False, False, True]"),
        ("[list({True: 1}), dict([(True, 1), (1, 2)]), {x: x for x in (0, False)}, len({0: 1, False: 2})]",
         "[[True], {True: 1, 1: 2}, {0: 0, False: False}, 2]"),
        ("[list(set([1, True, 0])), True in set([1]), set([True]) == set([1]), list(set([1]) | set([True])), set([1, True]) - set([1])]",
         "[[1, True, 0], False, False, [1, True], set([True])]"),
        ("[a + b for a, b in [{True: 1, 'x': 2}] if False]", "[]"),
        ("[1, 2].index(1) == 0", "True"),
        ("str(['a', ('b',), {'c': None}])", r'"[\"a\", (\"b\",), {\"c\": None}]"'),
        ("str('a') + repr('a')", r'"a\"a\""'),
        ("repr('é\\n')", r'"\"é\\n\""'),
        ("list({'z': 1, 'a': 2, 'm': 3})", '["z", "a", "m"]'),
        ("[zip([1], [2]), enumerate(['a']), reversed([1, 2]), {'a': 1}.items()]", '[[(1, 2)], [(0, "a")], [2, 1], [("a", 1)]]'),
        ("[type(x) for x in [zip(), enumerate([]), {}.keys(), {}.items(), reversed([])]]", '["list", "list", "list", "list", "list"]'),
        ("[hash('hello'), hash(''), hash('𝄞'), hash('polygenelubricants')]", "[99162322, 0, 1772394, -2147483648]"),
        ("'%s %r %d %x %%' % ('a', 'a', 3, 255)", r'"a \"a\" 3 ff %"'),
        ("'{} {}'.format('a', [1]) + '{b}{a}{{}}'.format(a = 1, b = 2)", '"a [1]21{}"'),
        ("[1.0, 1e100, 0.1, float('inf'), -float('inf')]", "[1.0, 1e+100, 0.1, +inf, -inf]"),
        ("[1e16, -12345678901234567.0, 1e17, 1e-5, '%g %G' % (1e-7, 1e-7)]",
         '[10000000000000000.0, -12345678901234568.0, 1e+17, 1e-05, "1e-07 1E-07"]'),
        ("dict([('a', 1)], *[], **{'b': 2})", '{"a": 1, "b": 2}'),
        ("{1: 'a', 'x': 2, (1, 2): 3, None: 4}[(1, 2)]", "3"),
        ("'abc'.elems()", '["a", "b", "c"]'),
        ("[not [], not 'a', bool({}), bool(range(0)), bool(0.0)]", "[True, False, False, False, False]"),
        ("[x for x in range(3)] + [y for y in (1, 2) if y > 1]", "[0, 1, 2, 2]"),
        ("{} == set([]), set([1, 1]) | set([2]), 1 in set([1])", "(False, set([1, 2]), True)"),
        ("'a\\\n.b'", '"a.b"'),
        (r"'\\a\\b\a\b\f\v\0\7\101\377\'\"\t'", r'"\\a\\b\x07\x08\x0c\x0b\x00\x07Aÿ' + r"'\"\t" + '"'),
        ("[r'\\x', r'\\\\q', 0x1F + 0X1f, 0o17, 1.5, 0.5, 1e3, 1if True else 2]", r'["\\x", "\\\\q", 62, 15, 1.5, 0.5, 1000.0, 1]'),
        ("r'\\d' + '''a\nb'''", r'"\\da\nb"'),
        ("getattr('a', 'nope', 7)", "7"),
        ("sorted(['b', 'a', 'C'], key = lambda s: s.lower(), reverse = True)", '["C", "b", "a"]'),
    ],
)  # fmt: skip
def test_value(expression: str, result: str) -> None:
    assert to_repr(run(f"x = {expression}")["x"]) == result


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("[c for c in 'abc']", "type 'string' is not iterable"),
        ("list('abc')", "type 'string' is not iterable"),
        ("[x for x in 5]", "type 'int' is not iterable"),
        ("{'a': 1, 'b': 2, 'a': 3}", 'dictionary expression has duplicate key: "a"'),
        ("{[]: 1}", "unhashable type: 'list'"),
        ("{'a': {}}[{}]", "unhashable type: 'dict'"),
        ("{}['k']", 'key "k" not found in dictionary'),
        ("{True: 'x'}[1]", "key 1 not found in dictionary"),
        ("{0: 'x'}[False]", "key False not found in dictionary"),
        ("{(1, True): 'x'}[(1, 1)]", "key (1, 1) not found in dictionary"),
        ("{True: 1, 1: 2, True: 3}", "dictionary expression has duplicate key: True"),
        ("{1: 1, 1.0: 2}", "dictionary expression has duplicate key: 1.0"),
        ("{0: 1}.pop(False)", "KeyError: False"),
        ("set([1]).remove(True)", "element True not found in set"),
        ("{([],): 1}", "unhashable type: 'tuple'"),
        ("(lambda **k: k)(**{True: 2})", "keywords must be strings, not bool"),
        ("[1, 2][2]", "index out of range (index is 2, but sequence has 2 elements)"),
        ("[1]['a']", "got 'string' for list index, want 'int'"),
        ("'%d' % 'x'", "got string for '%d' format, want int or float"),
        ("'%s %s' % ('a',)", 'not enough arguments for format pattern "%s %s": ("a",)'),
        ("'%s' % (1, 2)", 'not all arguments converted for format pattern "%s": (1, 2)'),
        ("'%c' % 65", 'unsupported format character "c" in format string "%c"'),
        ("'%q' % 1", 'unsupported format character "q" in format string "%q"'),
        ("'100%' % ()", 'unsupported format character "" in format string "100%"'),
        ("'{0.__class__}'.format(1)", 'Invalid character in format field "0.__class__"'),
        ("'{a[0]}'.format(a = [1])", 'Invalid character in format field "a[0]"'),
        ("'{} {1}'.format(1, 2)", "Cannot mix manual and automatic numbering of positional fields"),
        ("'{x}'.format(y = 1)", "Missing argument 'x'"),
        ("'{}{}'.format(1)", "No replacement found for index 1"),
        ("'}'.format()", "Found '}' without matching '{'"),
        ("1 + 'a'", "unsupported binary operation: int + string"),
        ("True + 1", "unsupported binary operation: bool + int"),
        ("[] + ()", "unsupported binary operation: list + tuple"),
        ("{} + {}", "unsupported binary operation: dict + dict (use the | operator)"),
        ("1 < 'a'", "unsupported comparison: int <=> string"),
        ("sorted([1, 'a'])", "unsupported comparison: string <=> int"),
        ("sorted([None, None])", "unsupported comparison: NoneType <=> NoneType"),
        ("-'a'", "unsupported unary operation: -string"),
        ("1 // 0", "integer division by zero"),
        ("1.0 / 0", "floating-point division by zero"),
        ("1 % 0", "integer modulo by zero"),
        ("1 << 600", "shift count out of range: 600"),
        ("'a' * 200000000", "excessive repeat (1 * 200000000 elements)"),
        ("'a'.nope", "'string' value has no field or method 'nope'"),
        ("[].nope()", "'list' value has no field or method 'nope'"),
        ("len(5)", "int is not iterable"),
        ("len()", "len() missing 1 required positional argument: 'value'"),
        ("'a b'.split()", "split() missing 1 required positional argument: 'sep'"),
        ("'a b'.upper(x = 1)", "upper() got an unexpected keyword argument 'x'"),
        ("int('1_0')", 'invalid literal for int() with base 10: "1_0"'),
        ("int([])", "list cannot be converted to int"),
        ("','.join(['a', 1])", "expected string for sequence element 1, got '1' of type 'int'"),
        ("max([])", "max() of an empty sequence"),
        ("range(1, 2, 0)", "step cannot be 0"),
        ("[i for i in range(1 << 40)]", "range(): got 1099511627776, want a value in signed 32-bit range"),
        ("'a'()", "'string' object is not callable"),
        ("[1](2)", "'list' object is not callable"),
        ("{}()", "'dict' object is not callable"),
        ("None()", "'NoneType' object is not callable"),
        ("'abc'.index('x')", 'substring "x" not found in "abc"'),
        ("[1].index(True)", "item True not found in list"),
        ("hash(1)", "hash() takes a string, not int"),
        ("getattr('a', '__class__')", 'getattr() takes the name of a field, not "__class__"'),
        ("fail('no', [1], 'luck')", 'no [1] luck'),
        ("fail(msg = 'no', attr = 'srcs')", "attribute srcs: no"),
        ("(lambda x: x)()", "<lambda>() missing 1 required positional argument: 'x'"),
        ("(lambda x: x)(1, x = 2)", "<lambda>() got multiple values for argument 'x'"),
        ("(lambda *a: a)(*5)", "argument after * must be an iterable, not int"),
        ("(lambda **k: k)(**{1: 2})", "keywords must be strings, not int"),
        ("[a for a, b in [(1, 2), (3,)]]", "too few values to unpack (got 1, want 2)"),
    ],
)  # fmt: skip
def test_fault_of_a_value(expression: str, message: str) -> None:
    error = failure(f"ok = 1\n\nx = {expression}")
    assert (error.where, error.what) == ("main.bzl:3", message)


@pytest.mark.parametrize(
    ("text", "message", "line", "mend"),
    [
        ("x = 'a' 'b'", "implicit string concatenation is not allowed", 1, "use the + operator"),
        ("x = ['a',\n  'b'\n  'c',\n]", "implicit string concatenation is not allowed", 2, "use the + operator"),
        (r"x = '\d'", r"invalid escape sequence: \d", 1, r"write \\ for a backslash, or a raw string"),
        (r"x = '\x41'", r"invalid escape sequence: \x", 1, r"write \\ for a backslash, or a raw string"),
        (r"x = '\N{EN DASH}'", r"invalid escape sequence: \N", 1, r"write \\ for a backslash, or a raw string"),
        (r"x = '\x4'", r"invalid escape sequence: there is no \x, \u, \U or \N", 1, r"write \\ for a backslash, or a raw string"),
        (r"x = 'a\u0041'", r"invalid escape sequence: \u", 1, r"write \\ for a backslash, or a raw string"),
        (r"x = 'é\U0001F600'", r"invalid escape sequence: \U", 1, r"write \\ for a backslash, or a raw string"),
        (r"x = '\8'", r"invalid escape sequence: \8", 1, r"write \\ for a backslash, or a raw string"),
        (r"x = '\400'", r"octal escape sequence out of range (at most \377)", 1, r"write \\ for a backslash, or a raw string"),
        ("x = 1\ny = \"\"\"a\n\\t\n\\q\"\"\"", r"invalid escape sequence: \q", 4, r"write \\ for a backslash, or a raw string"),
        ("x = u'a'", "the string prefix u is not part of Starlark", 1, ""),
        ("x = R'a'", "the string prefix R is not part of Starlark", 1, ""),
        ("x = 0b11", "invalid octal literal: 0b11", 1, "write 0o17 for octal, 0x1f for hexadecimal numbers"),
        ("x = 00", "invalid octal literal: 00", 1, "write 0o17 for octal, 0x1f for hexadecimal numbers"),
        ("x = (", "syntax error: '(' was never closed", 1, ""),
        ("x = 1\nx = 2", "cannot reassign global 'x'", 2, "it was first bound at main.bzl:1: choose another name"),
        ("x = 1\nx += 2", "cannot reassign global 'x'", 2, ""),
        ("x = lenn([])", "name 'lenn' is not defined", 1, "did you mean len?"),
        ("def f():\n    return qqqqq", "name 'qqqqq' is not defined", 2, "load it or define it"),
        ("def f(source):\n    return sorce", "name 'sorce' is not defined", 2, "did you mean source?"),
        ("x = [quux for quux in [1]]\ny = quux", "name 'quux' is not defined", 2, "load it or define it"),
        ("x = y\ny = 1", "global variable 'y' is referenced before assignment", 1, ""),
        ("if True:\n    x = 1", "`if` statements are not allowed at the top level", 1, "use a comprehension or move it into a function"),
        ("for x in []:\n    pass", "`for` statements are not allowed at the top level", 1,
         "use a comprehension or move it into a function"),
        ("def f():\n    while True:\n        pass", "while loop is not part of Starlark", 2, ""),
        ("import os", "import is not part of Starlark", 1, ""),
        ("class A:\n    pass", "class definition is not part of Starlark", 1, ""),
        ("def f():\n    try:\n        pass\n    except:\n        pass", "try statement is not part of Starlark", 2, ""),
        ("x = f'{1}'", "f-string is not part of Starlark", 1, ""),
        ("x = 2 ** 3", "operator ** is not part of Starlark", 1, ""),
        ("x = 1 is 1", "operator is is not part of Starlark", 1, ""),
        ("x = 1 < 2 < 3", "comparisons do not chain in Starlark", 1, "join them with `and`"),
        ("x = {1, 2}", "set literal is not part of Starlark", 1, ""),
        ("x = list(i for i in [])", "generator expression is not part of Starlark", 1, ""),
        ("x = (y := 1)", "walrus operator is not part of Starlark", 1, ""),
        ("x: int = 1", "type annotation is not part of Starlark", 1, ""),
        ("def f(a: int):\n    pass", "type annotations are not part of Starlark", 1, ""),
        ("def f():\n    yield 1", "yield is not part of Starlark", 2, ""),
        ("x = b'a'", "bytes literal is not part of Starlark", 1, ""),
        ("x = 1_000", "underscores in numbers are not part of Starlark", 1, ""),
        ("x = 1j", "complex literal is not part of Starlark", 1, ""),
        ("x = {**{}}", "dict unpacking is not part of Starlark", 1, "join dicts with |"),
        ("x = [*[]]", "starred expressions are only allowed as call arguments", 1, ""),
        ("x = 'a'.__class__", "the name __class__ is not allowed", 1, "names that start with two underscores are reserved"),
        ("x = __builtins__", "the name __builtins__ is not allowed", 1, "names that start with two underscores are reserved"),
        ("return 1", "return is only allowed in a function", 1, ""),
        ("def f():\n    break", "break is only allowed in a loop", 2, ""),
        ("def f(x):\n    x.y = 1", "fields cannot be assigned", 2, ""),
        ("def f(x):\n    x[1:] = []", "slices cannot be assigned", 2, ""),
        ("def f():\n    x = y = 1", "chained assignment is not part of Starlark", 2, ""),
        ("def f():\n    load('a.bzl', 'x')", "load() is only allowed at the top level", 2, ""),
        ("load('a.bzl')", "load() names no symbol", 1, ""),
        ("load('a' + '.bzl', 'x')", "load() takes string literals only", 1, 'write load("//package:file.bzl", "symbol")'),
        ("load('a.bzl', '_x')", "symbol '_x' is private and cannot be imported", 1, "drop the underscore where it is defined"),
        ("x = f(*[1], 2)", "positional argument may not follow *args", 1, ""),
        ("x = dict(\n    *[],\n    b = 1)", "keyword argument b may not follow *args", 3, ""),
        ("x = dict(**{}, b = 1)", "keyword argument b may not follow **kwargs", 1, ""),
        ("x = dict(*[], *[])", "a call takes one *args and one **kwargs", 1, ""),
        ("é = 1", "the name é holds other letters than a to z", 1, "names are written in ASCII"),
        ("\nload('a.bzl', 'x', y = 'z', x = 'w')", "load() defines 'x' more than once", 2, ""),
        ("x = dict(\n    a = 1,\n    a = 2,\n)", "duplicate keyword argument: a", 3, ""),
        ("def f(a, b, a):\n    pass", "syntax error: duplicate argument 'a' in function definition", 1, ""),
        ("x = 1\0", "the file holds a NUL byte", 1, ""),
    ],
)  # fmt: skip
def test_fault_of_the_text(text: str, message: str, line: int, mend: str) -> None:
    error = failure(text)
    assert (error.where, error.what, error.mend) == (f"main.bzl:{line}", message, mend)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x = [1]\nfor i in x:\n    x.append(i)", "list value is temporarily immutable due to active for-loop iteration"),
        ("x = {'a': 1}\nfor i in x:\n    x[i] = 2", "dict value is temporarily immutable due to active for-loop iteration"),
        ("x = [1]\n\n[x.pop() for _ in x]", "list value is temporarily immutable due to active for-loop iteration"),
        ("\n\nfor i in 'abc': pass", "type 'string' is not iterable"),
        ("\n\na, b = 'xy'", "got 'string' in sequence assignment"),
        ("\n\na, b = [1, 2, 3]", "too many values to unpack (got 3, want 2)"),
        ("\n\n'abc'[0] = 'x'", "can only assign an element in a dictionary or a list, not in a 'string'"),
        ("x = [1]\n\nx[5] = 1", "index out of range (index is 5, but sequence has 1 elements)"),
        ("x = {'a': 1}\n\nx['a'] //= 0", "integer division by zero"),
        ("x = {'a': 1}\n\nx['a'] += 'b'", "unsupported binary operation: int + string"),
        ("\n\nx = x + 1", "local variable 'x' is referenced before assignment"),
        ("def g(a): pass\n\ng()", "g() missing 1 required positional argument: 'a'"),
        ("\n\nfail('stop')", "stop"),
    ],
)
def test_fault_in_a_function_shows_the_call_first(body: str, message: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    error = failure(f"def f():\n{lines}\ny = 0\nz = f()\n")
    last = body.count("\n") + 5
    assert (error.what, error.where, error.notes[0]) == (message, f"main.bzl:{last}", "in f at main.bzl:4")


def test_recursion_is_refused_directly_and_through_others() -> None:
    error = failure("def f():\n    return f()\n\nx = f()\n")
    assert (error.what, error.where, error.notes) == ("function 'f' called recursively", "main.bzl:4", ("in f at main.bzl:2",))
    error = failure("def f():\n    return g()\n\ndef g():\n    return f()\n\nx = f()\n")
    assert (error.what, error.notes) == ("function 'f' called recursively", ("in f at main.bzl:2", "in g at main.bzl:5"))


def test_functions_may_be_called_twice_and_by_each_other() -> None:
    assert run("def g(x):\n    return x + 1\n\ndef f(x):\n    return g(g(x))\n\nx = [f(1), f(2)]\n")["x"] == [3, 4]


# Loading


def test_loaded_values_are_frozen() -> None:
    shared = "L = [1]\nD = {'a': [1]}\nT = ([],)\ndef default(x = []):\n    x.append(1)\n    return x\ndef closure():\n    L.append(2)\n"
    for change, kind in (
        ("L.append(2)", "list"),
        ("D['a'].append(2)", "list"),
        ("T[0].append(1)", "list"),
        ("default()", "list"),
        ("closure()", "list"),
        ("L.clear()", "list"),
        ("L.extend([])", "list"),
        ("L.insert(0, 1)", "list"),
        ("L.pop()", "list"),
        ("L.remove(1)", "list"),
        ("D.pop('a')", "dict"),
        ("D.update(b = 1)", "dict"),
        ("D.setdefault('b', 1)", "dict"),
        ("D.clear()", "dict"),
        ("D.popitem()", "dict"),
    ):
        error = failure(f"load('b.bzl', 'L', 'D', 'T', 'default', 'closure')\ny = {change}\n", b=shared)
        assert (error.what, error.where) == (f"trying to mutate a frozen {kind} value", "main.bzl:2"), change


def test_a_key_that_is_a_bool_is_kept_apart_by_every_change() -> None:
    body = """
        def f():
            d = {1: "one"}
            d[True] = "true"
            d.setdefault(False, "false")
            d.update([(0, "zero")])
            d[True] += "!"
            d.pop(1)
            a, b, c = d
            first = d.popitem()
            return [d, first, a, b, c]
        x = f()
        """
    assert to_repr(run(body)["x"]) == '[{False: "false", 0: "zero"}, (True, "true!"), True, False, 0]'


def test_augmented_assignment_of_a_loaded_list_is_refused_and_a_sum_is_not() -> None:
    error = failure("load('b.bzl', 'L')\ndef f():\n    x = L\n    x += [2]\ny = f()\n", b="L = [1]")
    assert (error.what, error.where) == ("trying to mutate a frozen list value", "main.bzl:5")
    assert run("load('b.bzl', 'L')\nx = L + [2]\n", b="L = [1]")["x"] == [1, 2]


def test_values_of_the_own_file_are_mutable_until_it_ends() -> None:
    assert run("x = [1]\ny = [x.append(2)]\n")["x"] == [1, 2]


def test_load_runs_before_the_body_and_its_names_are_local() -> None:
    values = run("load('b.bzl', y = 'x')\nx = y + 1\n", b="x = 1")
    assert values == {"x": 2}
    error = failure("load('c.bzl', 'x')\nz = x\n", b="x = 1", c="load('b.bzl', 'x')\ny = x\n")
    assert error.what == "file c.bzl does not contain symbol 'x'"
    assert (error.where, error.mend) == ("main.bzl:1", "it defines: y")


def test_missing_symbol_names_the_nearest() -> None:
    error = failure("load('b.bzl', 'my_libary')", b="def my_library():\n    pass\n")
    assert (error.where, error.mend) == ("main.bzl:1", "did you mean my_library?")


def test_load_cycles_print_their_path() -> None:
    error = failure("load('b.bzl', 'x')", b="\n\nload('c.bzl', 'x')", c="load('main.bzl', 'x')")
    assert (error.what, error.where) == ("load cycle", "c.bzl:1")
    assert error.notes == ("main.bzl", "b.bzl", "c.bzl", "main.bzl")


def test_a_file_that_loads_itself_is_a_cycle() -> None:
    assert failure("load('main.bzl', 'x')").notes == ("main.bzl", "main.bzl")


def test_a_module_runs_once() -> None:
    memory = Memory({"main.bzl": "load('a.bzl', 'x')\nload('b.bzl', y = 'x')", "a.bzl": "load('b.bzl', 'x')", "b.bzl": "x = print('once')"})
    with pytest.raises(BuildError, match=r"a\.bzl does not contain symbol 'x'"):
        Modules(memory).load("main.bzl", "")
    assert memory.printed == ["once"]


def test_symbols_of_a_missing_file_fail_when_used_only() -> None:
    assert "f" in run("load('gone.bzl', 'x')\ndef f():\n    return [y for y in x]\n")
    error = failure("load('gone.bzl', 'thing')\n\ny = 1 if thing else 2\n")
    assert error.what == "'thing' of gone.bzl decides something, but there is no file gone.bzl"
    assert (error.where, error.notes) == ("main.bzl:3", ("loaded at main.bzl:1",))
    error = failure("load('gone.bzl', 'thing')\ny = [i for i in thing(1).field + ['a']]\n")
    assert error.what == "'thing().field' of gone.bzl is looped over, but there is no file gone.bzl"


def test_an_error_in_a_loaded_file_is_at_its_own_line() -> None:
    error = failure("load('b.bzl', 'x')", b="y = 1\nx = y + 'a'\n")
    assert error.where == "b.bzl:2"


def test_the_macro_stack_crosses_files() -> None:
    error = failure("load('b.bzl', 'outer')\n\nx = outer(1)\n", b="def inner(x):\n    fail('no', x)\n\ndef outer(x):\n    inner(x)\n")
    assert str(error) == "main.bzl:3: no 1\n    in outer at b.bzl:5\n    in inner at b.bzl:2"


def test_functions_keep_the_globals_of_their_file() -> None:
    other = "SECRET = 7\ndef get():\n    return SECRET\n"
    assert run("load('b.bzl', 'get')\nSECRET = 1\nx = get()\n", b=other)["x"] == 7


def test_print_gives_nothing_back() -> None:
    assert printed("x = [print('a', 1), print(['b'], sep = '-')]") == ["a 1", '["b"]']


# Bad input


def compiled(text: str) -> Any:
    return on_deep_stack(lambda: compile_file(text, "big.bzl", "bzl", ["len"]))


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + ")" * 5000,
        "x = " + "[" * 100_000 + "]" * 100_000,
        "x = " + "-" * 200_000 + "1",
        "x = " + "1+" * 200_000 + "1",
        "x = " + "not " * 100_000 + "1",
        "x = a" + ".b" * 200_000,
        "x = " + "len(" * 150 + ")" * 150,
    ],
    ids=["parentheses", "lists", "unary", "sum", "not", "fields", "calls"],
)
def test_text_nested_too_deeply_ends_in_an_error(text: str) -> None:
    try:
        compiled(text)
    except BuildError as error:
        assert error.where.startswith("big.bzl")


def test_deep_values_end_in_an_error_or_a_text() -> None:
    assert (
        failure("def f():\n    x = []\n    for i in range(100000):\n        x = [x]\n    return x == [x]\ny = f()\n").where == "main.bzl:6"
    )
    assert "..." in run("def f():\n    x = []\n    for i in range(1000):\n        x = [x]\n    return str(x)\ny = f()\n")["y"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("x.append(x)", "[[...]]"), ("x.extend([x, x, {1: x}])", "[[...], [...], {1: [...]}]"),
        ("d = {}; d['a'] = d; x.append((d, d))", '[({"a": {...}}, {"a": {...}})]'), ("x.append(([1], [1]))", "[([1], [1])]"),
    ],
)  # fmt: skip
def test_values_that_hold_themselves_have_a_text(change: str, text: str) -> None:
    assert run(f"def f():\n    x = []\n    {change}\n    return str(x)\ny = f()\n")["y"] == text


def test_files_of_fifty_megabytes_are_refused() -> None:
    with pytest.raises(BuildError, match="the file is larger than 4000000 characters") as caught:
        compile_file("x = 1\n" * 9_000_000, "big.bzl", "bzl", [])
    assert caught.value.where == "big.bzl"


def test_a_call_of_too_many_names_is_refused() -> None:
    error = failure("\nx = dict(" + ",".join(f"a{i} = 1" for i in range(5001)) + ")")
    assert (error.what, error.where, error.mend) == ("a call takes at most 5000 named arguments", "main.bzl:2", "give a dict")


@pytest.mark.parametrize("letter", ["a", "é"])
def test_long_lines_are_read_once(letter: str) -> None:
    count = 300_000 // len(f"'{letter}',")
    assert compiled(f"x = [{f'{chr(39)}{letter}{chr(39)},' * count}]\ny = 'é' + '{letter}b'\n")
    error = failure(f"x = ['é', '{letter}', '{letter}' 'b']")
    assert error.what == "implicit string concatenation is not allowed"


def test_windows_line_ends_change_nothing() -> None:
    assert run("x = 'a\\\r\nb' + '''c\r\nd'''\r\ny = 1\r\n") == {"x": "abc\nd", "y": 1}
    assert failure("x = 1\r\ny = nope\r\n").where == "main.bzl:2"
