"""Owns the programs that the differential test runs: a corpus by hand, and generated ones.

programs().example()      # 'def f(a, b = 3):\\n    c = ...\\n    return ...\\n\\nresult = [f(1), ...]'
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

EXPRESSIONS = tuple(
    line.strip()
    for line in r"""
    1 + 2 * 3 - 4 // 3 % 5
    -7 // 2
    -7 % 3
    7 % -3
    -7 // -2
    7 / 2
    1 // 0
    1 % 0
    1 / 0
    1.5 // 0.5
    1.0 // 0
    2 << 10
    1 << -1
    -5 >> 1
    5 & 3 | 8 ^ 1
    ~5
    123456789012345678901234567890 * 987654321
    1e3
    1.0
    1e100
    1.5e-7
    0.1 + 0.2
    float("1.25")
    float("inf")
    float("-inf")
    float("nan")
    float("x")
    int("12")
    int("-12")
    int("+12")
    int("0x1f", 16)
    int("0b11", 0)
    int("0o17", 0)
    int("z", 36)
    int("12", 1)
    int("")
    int(" 1")
    int(3.9)
    int(-3.9)
    int(True)
    int(None)
    int([])
    True + 1
    True == 1
    1 == 1.0
    [True] == [1]
    None == False
    not []
    not "a"
    "" or "b"
    "a" and [] and 1
    1 if "" else 2
    1 < 2
    "a" < "b"
    "a" < 1
    [1, 2] < [1, 3]
    (1, 2) < (1, 2, 0)
    None < None
    True < False
    {} < {}
    [1] == (1,)
    {"a": 1, "b": 2} == {"b": 2, "a": 1}
    "abc"[0]
    "abc"[-1]
    "abc"[3]
    "abc"[1:]
    "abc"[::-1]
    "abc"[5:]
    "abc"[::0]
    "abc"["a"]
    [1, 2, 3][1:2]
    [1, 2, 3][-5:2]
    [1, 2, 3][::2]
    (1, 2, 3)[::-1]
    range(10)[2]
    list(range(10)[2:5])
    list(range(5, 0, -2))
    range(3) == range(0, 3)
    list(range(1, 2, 0))
    3 in range(5)
    len(range(0, 10, 3))
    "b" in "abc"
    1 in "abc"
    "a" in ["a"]
    "a" in {"a": 1}
    [] in [[]]
    1 not in [2]
    {"a": 1}["a"]
    {"a": 1}["b"]
    {"a": 1}.get("b")
    {"a": 1}.get("b", 2)
    {"a": 1} | {"b": 2, "a": 3}
    {"a": 1} + {"b": 2}
    {"a": 1, "a": 2}
    {[]: 1}
    {(): 1}
    {True: "x", 1: "y", (True,): 3, (1,): 4}
    {True: "x"}[1]
    {1: "x"}[True]
    {1: "x"}[1.0]
    [1 in {True: 1}, True in {1: 1}, (True,) in {(1,): 1}, True in [1]]
    {True: 1}.get(1, 7)
    {True: 1, "a": 2}.items()
    {True: 1} == {1: 1}
    {x: x for x in (0, False)}
    {True: 1}.pop(1, "none")
    {True: 1} | {1: 2}
    dict([(True, 1), (1, 2)], a = 3)
    {([],): 1}
    {"b": 1, "a": 2}.keys()
    {"b": 1, "a": 2}.values()
    {"b": 1, "a": 2}.items()
    dict([("a", 1), ["b", 2]])
    dict([("a", 1)], a = 2, b = 3)
    dict({"a": 1}, b = 2)
    dict([("a",)])
    dict(1)
    list("abc")
    list({"b": 1, "a": 2})
    list((1, 2))
    tuple([1, 2])
    tuple("ab")
    [1] + [2]
    [1] + (2,)
    (1,) + (2,)
    [1, 2] * 2
    2 * "ab"
    "ab" * -1
    [1] * "a"
    "a" + 1
    "a" + "b"
    -"a"
    +5
    -[]
    len("abc")
    len([1, 2])
    len({"a": 1})
    len(5)
    len(None)
    sorted([3, 1, 2])
    sorted([3, 1, 2], reverse = True)
    sorted(["b", "A", "a"])
    sorted([1, "a"])
    sorted({"b": 1, "a": 2})
    sorted("ba")
    sorted([(1, "b"), (1, "a"), (0, "z")])
    sorted(["bb", "a", "ccc", "d"], key = len)
    sorted(["bb", "a", "ccc", "d"], key = len, reverse = True)
    sorted([1, 2.5, -1])
    sorted([None, None])
    reversed([1, 2, 3])
    reversed("abc")
    reversed({"a": 1})
    min(3, 1, 2)
    max([3, 1, 2])
    max("a", "b")
    max(["bb", "a", "cc"], key = len)
    min(["bb", "a", "cc"], key = len)
    max([])
    min(1)
    max(1, "a")
    zip()
    zip([1, 2, 3])
    zip([1, 2, 3], ["a", "b"])
    zip([1], "a")
    enumerate(["a", "b"])
    enumerate(["a", "b"], 5)
    enumerate({"a": 1})
    any([0, "", None])
    any([0, 1])
    all([])
    all([1, 0])
    any("a")
    bool([])
    bool("a")
    bool(0.0)
    bool()
    str(1)
    str("a")
    str(["a", 'b"c', "d'e"])
    str((1,))
    str(())
    str({"a": [1, None], "b": (True, 1.5)})
    str(1.0)
    str(100000000000000000000.0)
    repr("a\tb\nc\\d")
    repr("\000\177\033")
    repr("\"")
    repr(None)
    type(1)
    type("a")
    type([])
    type({})
    type(())
    type(None)
    type(1.0)
    type(True)
    type(range(1))
    type(lambda: 1)
    hash("")
    hash("a")
    hash("hello world")
    hash(1)
    abs(-3)
    abs(2.5)
    abs("a")
    "a,b,,c".split(",")
    "a,b,,c".split(",", 1)
    "a,b,,c".rsplit(",", 1)
    "abc".split("x")
    "".split(",")
    "a\nb\r\nc\n".splitlines()
    "a\nb\r\nc\n".splitlines(True)
    "".splitlines()
    ",".join(["a", "b"])
    ",".join(("a",))
    ",".join([])
    ",".join([1])
    ",".join("abc")
    ",".join({"a": 1, "b": 2})
    "abcabc".find("c")
    "abcabc".find("c", 3)
    "abcabc".find("c", 3, 5)
    "abcabc".find("x")
    "abcabc".rfind("b")
    "abcabc".index("x")
    "abcabc".index("b", -3)
    "abcabc".rindex("a")
    "abcabc".count("bc")
    "abcabc".count("")
    "abcabc".count("b", 2)
    "abcabc".replace("b", "X")
    "abcabc".replace("b", "X", 1)
    "abc".replace("", "-")
    "abc".startswith("ab")
    "abc".startswith(("x", "a"))
    "abc".endswith(("x", "c"))
    "abc".startswith(1)
    "  abc  ".strip()
    "xxabcxx".strip("x")
    "xyabcyx".lstrip("xy")
    "abc".rstrip("cb")
    "abc".removeprefix("ab")
    "abc".removesuffix("bc")
    "abc".removesuffix("x")
    "a=b=c".partition("=")
    "a=b=c".rpartition("=")
    "abc".partition("=")
    "abc".rpartition("=")
    "abc".partition("")
    "hello WORLD".upper()
    "hello WORLD".lower()
    "hello WORLD".title()
    "hello WORLD".capitalize()
    "abc1".isalnum()
    "abc".isalpha()
    "123".isdigit()
    "ab".islower()
    "AB".isupper()
    " ".isspace()
    "".isspace()
    "Ab Cd".istitle()
    "abc".nope()
    "%s" % "a"
    "%s" % ["a"]
    "%s %r" % ("a", "b")
    "%d" % 5
    "%d" % True
    "%d" % "5"
    "%d" % 1.9
    "%o %x %X" % (8, 255, 255)
    "%x" % -255
    "%e %f %g" % (1.5, 1.5, 1.5)
    "%g" % 1
    "%f" % 100000
    "%s" % ()
    "%s" % (1, 2)
    "%%"  % ()
    "%" % ()
    "%y" % 1
    "100%" % 1
    "a" % ()
    "a" % 1
    "%s" % {"a": 1}
    "{} {}".format(1, "a")
    "{1} {0}".format(1, "a")
    "{a} {b}".format(a = 1, b = [2])
    "{{}}".format()
    "{}".format()
    "{a}".format()
    "{} {0}".format(1)
    "{".format()
    "}".format()
    "{2}".format(1)
    "{a.b}".format(a = 1)
    "{0[0]}".format([1])
    "{}{x}".format(1, x = 2)
    [x * 2 for x in [1, 2, 3]]
    [x for x in range(10) if x % 2 if x > 3]
    [(x, y) for x in [1, 2] for y in ["a", "b"]]
    [x for x in "abc"]
    [x for x in 5]
    [y for x in [[1], [2, 3]] for y in x]
    {x: x * x for x in range(3)}
    {x: y for x, y in [("a", 1), ("b", 2)]}
    {x % 2: x for x in range(4)}
    [a for a, b in [(1, 2, 3)]]
    [a + b for (a, b) in [(1, 2)]]
    [a + b + c for a, (b, c) in [(1, (2, 3))]]
    (lambda x, y = 2: x + y)(1)
    (lambda *a, **k: (a, k))(1, 2, x = 3)
    (lambda x: x)()
    (lambda x: x)(1, 2)
    (lambda x: x)(y = 1)
    getattr("a", "nope", 1)
    hasattr("a", "upper")
    hasattr("a", "nope")
    dir([])
    undefined_name
    "a" "b"
    1 < 2 < 3
    (1)
    (1,)
    ()
    [[], {}, (), ""]
    r"a\d"
    '''a"b'''
    "\101\a\b"
    0x1F + 0o17
    010
    """.strip("\n").split("\n")
)  # fmt: skip

FUNCTIONS: tuple[str, ...] = (
    "x = [1, 2]\ny = x\ny += [3]\nreturn x",
    "x = [1, 2]\ny = x\ny = y + [3]\nreturn x",
    "x = {'a': 1}\ny = x\ny |= {'b': 2}\nreturn x",
    "x = (1,)\ny = x\ny += (2,)\nreturn (x, y)",
    "x = [1, 2, 3]\nx[1] = 5\nx[-1] += 10\nreturn x",
    "x = [1]\nx[3] = 1\nreturn x",
    "x = (1,)\nx[0] = 2\nreturn x",
    "x = 'ab'\nx[0] = 'c'\nreturn x",
    "x = {'a': [1]}\nx['a'] += [2]\nx['b'] = 1\nreturn x",
    "x = {'a': 1}\nx['b'] += 1\nreturn x",
    "x = {}\nx[[]] = 1\nreturn x",
    "x = [1, 2, 3]\nfor i in x:\n    x.append(i)\nreturn x",
    "x = {'a': 1}\nfor i in x:\n    x['b'] = 2\nreturn x",
    "x = {'a': 1}\nfor i in x.keys():\n    x['b'] = 2\nreturn x",
    "x = [1, 2, 3]\nfor i in x:\n    if i == 2:\n        break\nx.append(4)\nreturn x",
    "x = 0\nfor i in range(5):\n    if i == 1:\n        continue\n    x += i\nreturn x",
    "for i in 'abc':\n    pass\nreturn 1",
    "for i in 5:\n    pass\nreturn 1",
    "for a, b in [(1, 2), (3, 4)]:\n    pass\nreturn a * b",
    "for a, b in [(1, 2), (3,)]:\n    pass\nreturn a",
    "a, b = [1, 2]\na, b = b, a\nreturn (a, b)",
    "a, b = 1\nreturn a",
    "a, b = 'xy'\nreturn a",
    "[a, (b, c)] = [1, (2, 3)]\nreturn (a, b, c)",
    "if False:\n    x = 1\nreturn x",
    "x = [1, 2, 3]\nx.insert(1, 9)\nx.insert(-1, 8)\nx.insert(99, 7)\nreturn x",
    "x = [1, 2, 3]\ny = x.pop()\nz = x.pop(0)\nreturn (x, y, z)",
    "x = []\nreturn x.pop()",
    "x = [1, 2, 1]\nx.remove(1)\nreturn x",
    "x = [1]\nx.remove(5)\nreturn x",
    "x = [1, 2, 1]\nreturn (x.index(1), x.index(1, 1), x.index(2, 0, 2))",
    "x = [1]\nreturn x.index(5)",
    "x = [1]\nx.extend((2, 3))\nx.extend({'a': 1})\nreturn x",
    "x = [1]\nx.extend('ab')\nreturn x",
    "x = [1]\nx.clear()\nreturn x",
    "x = {'a': 1, 'b': 2}\ny = x.pop('a')\nz = x.pop('q', 7)\nreturn (x, y, z)",
    "x = {}\nreturn x.pop('a')",
    "x = {}\nreturn x.popitem()",
    "x = {'a': 1, 'b': 2}\ny = x.popitem()\nreturn (x, y)",
    "x = {'a': 1}\ny = x.setdefault('a', 5)\nz = x.setdefault('b', 6)\nw = x.setdefault('c')\nreturn (x, y, z, w)",
    "x = {'b': 1}\nx.update({'a': 2}, c = 3)\nx.update([('b', 9)])\nreturn x",
    "x = {'b': 1, 'a': 2}\nx['b'] = 3\nx.pop('a')\nx['a'] = 4\nreturn x",
    "x = {'a': 1}\nx.clear()\nreturn x",
    "def g(a, b = 2, *args, c = 3, **kw):\n    return (a, b, args, c, kw)\nreturn [g(1), g(1, 5, 6, 7, c = 8, d = 9), g(b = 1, a = 0)]",
    "def g(a, b):\n    return a - b\nreturn g(*[5], **{'b': 3})",
    "def g(a):\n    return a\nreturn g(1, a = 2)",
    "def g(a):\n    return a\nreturn g(1, b = 2)",
    "def g(*, a):\n    return a\nreturn g(1)",
    "def g(*, a):\n    return a\nreturn g(a = 1)",
    "def g(n):\n    return g(n - 1)\nreturn g(1)",
    "def g():\n    return\nreturn g()",
    "x = 1\ndef g():\n    return x\nx = 2\nreturn g()",
    "fs = [lambda y: x + y for x in [1, 2]]\nreturn [f(10) for f in fs]",
    "x = [i for i in [1]]\nreturn i",
    "x = 5\ny = [x for x in [1, 2]]\nreturn (x, y)",
    "x = 3\nx += 1.5\nx -= 1\nx *= 2\nx //= 1\nx %= 4\nreturn x",
    "x = 6\nx |= 1\nx &= 5\nx ^= 2\nx <<= 2\nx >>= 1\nreturn x",
    "x = 7\nx /= 2\nreturn x",
    "x = 'a'\nx *= 3\nx += 'b'\nreturn x",
    "x = '%s-%s'\nx %= (1, 2)\nreturn x",
    "x = []\nx.append(x)\nreturn len(x)",
    "return fail('no')",
    "pass",
    "x = [1, 2, 3]\nreturn [x.pop() for _ in x]",
    "x = [3, 1, 2]\ny = sorted(x, key = lambda i: -i)\nreturn (x, y)",
    "if 1:\n    x = 'a'\nelif 2:\n    x = 'b'\nelse:\n    x = 'c'\nreturn x",
    "x = 10\nfor i in range(3):\n    for j in range(3):\n        if j == 2:\n            break\n        x += i * j\nreturn x",
)  # fmt: skip

# Generated programs: expressions by type, so that most of them have a value.

Draw = Callable[[st.SearchStrategy[str]], str]
_INT = st.integers(-20, 20).map(lambda n: f"({n})" if n < 0 else str(n))
_STRING = st.sampled_from(["", "a", "b", "ab", "a,b", " x ", "A_b", "%s", "{}", "a\\n", 'q"', "10"]).map(lambda s: f"'{s}'")
_BOOL = st.sampled_from(["True", "False"])


def _atoms(names: dict[str, list[str]], kind: str, constant: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(constant, st.sampled_from(names[kind])) if names[kind] else constant


def _expressions(draw: Draw, names: dict[str, list[str]], kind: str, depth: int) -> str:
    """Return an expression of a kind: int, str, bool, list (of int), words (of str), dict (str to int)."""
    constants = {
        "int": _INT, "str": _STRING, "bool": _BOOL, "list": st.sampled_from(["[]", "[3, 1, 2]", "[0]"]),
        "words": st.sampled_from(["[]", "['b', 'a']", "['x', 'x', '']"]), "dict": st.sampled_from(["{}", "{'b': 1, 'a': 2}"]),
    }  # fmt: skip
    if depth <= 0:
        return draw(_atoms(names, kind, constants[kind]))
    template = draw(st.sampled_from(_TEMPLATES[kind]))
    parts: list[str] = []
    for piece in template.split("<"):
        inner, mark, rest = piece.partition(">")
        known = mark and inner in _TEMPLATES
        parts.append(_expressions(draw, names, inner, depth - 1) + rest if known else f"<{piece}" if parts else piece)
    return "".join(parts)


_TEMPLATES: dict[str, tuple[str, ...]] = {
    "int": (
        "(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "(<int> // <int>)", "(<int> % <int>)", "(<int> & <int>)",
        "(<int> | <int>)", "(<int> ^ <int>)", "(<int> % 1000 << 3)", "(<int> >> 1)", "(-<int>)", "(~<int>)", "len(<str>)", "len(<list>)",
        "len(<dict>)", "abs(<int>)", "int(<str>)", "<list>[<int>]", "<dict>[<str>]", "<dict>.get(<str>, <int>)", "min(<int>, <int>)",
        "max(<list>)", "<str>.find(<str>)", "<str>.count(<str>)", "(<int> if <bool> else <int>)", "(<int> or <int>)", "(<int> and <int>)",
        "<list>.index(<int>)", "int(<int>)", "<str>.index(<str>)", "<str>.rfind(<str>)", "hash(<str>)",
    ),
    "str": (
        "(<str> + <str>)", "(<str> * 2)", "<str>.upper()", "<str>.strip()", "<str>.lstrip(<str>)", "<str>.replace(<str>, <str>)",
        "<str>[<int>:<int>]", "<str>[::-1]", "<str>[<int>]", "str(<int>)", "str(<list>)", "repr(<str>)", "repr(<dict>)", "str(<words>)",
        "('%s|%s' % (<str>, <list>))", "('%d %x' % (<int>, <int>))", "('%r' % <str>)", "'{}-{}'.format(<int>, <str>)",
        "'{b}{a}'.format(a = <words>, b = <bool>)", "<str>.join(<words>)", "<words>[<int>]", "(<str> if <bool> else <str>)",
        "type(<list>)", "<str>.title()", "<str>.capitalize()", "<str>.removeprefix(<str>)", "<str>.partition(<str>)[2]",
        "<str>.rpartition(<str>)[0]", "(<str> % <int>)", "<str>.format(<int>)", "str(<dict>.items())", "(<str> or <str>)",
        "str(zip(<list>, <words>))", "str(enumerate(<words>))", "str(<str>.rsplit(',', 1))", "str(<dict>)", "max(<words>)",
    ),
    "bool": (
        "(<int> < <int>)", "(<str> <= <str>)", "(<list> == <list>)", "(<int> in <list>)", "(<str> in <dict>)", "(<str> in <str>)",
        "(not <list>)", "bool(<str>)", "any(<list>)", "all(<words>)", "<str>.startswith(<str>)", "<str>.endswith((<str>, <str>))",
        "(<bool> and <bool>)", "(<bool> or <bool>)", "(<list> < <list>)", "(<words> > <words>)", "<str>.isalnum()", "<str>.islower()",
        "(<dict> == <dict>)", "(<int> != <int>)", "(<int> == <bool>)", "<str>.isspace()", "<str>.istitle()", "<str>.isdigit()",
        "(type(<int>) == type(<str>))", "hasattr(<str>, 'upper')",
    ),
    "list": (
        "(<list> + <list>)", "(<list> * 2)", "sorted(<list>)", "sorted(<list>, reverse = <bool>)", "reversed(<list>)",
        "<list>[<int>:<int>]", "<list>[::2]", "<dict>.values()", "list(range(<int> % 9))", "list(range(<int> % 5, <int> % 30, 3))",
        "[v * 2 for v in <list>]", "[v for v in <list> if v > <int>]", "[len(w) for w in <words>]", "[<int>, <int>]",
        "[v + u for v in <list> for u in <list>]", "sorted(<list>, key = lambda v: -v)", "list(tuple(<list>))", "(<list> or <list>)",
        "[v for k, v in <dict>.items()]", "[i for i, w in enumerate(<words>, 2)]", "[<list>[0]]", "[a * b for a, b in zip(<list>, <list>)]",
    ),
    "words": (
        "(<words> + <words>)", "<str>.split('a')", "<str>.split(' ', <int>)", "<str>.splitlines()", "<dict>.keys()",
        "sorted(<words>)", "sorted(<words>, key = len)", "[w.upper() for w in <words>]", "[w for w in <words> if w]", "list(<dict>)",
        "[str(v) for v in <list>]", "<words>[::-1]", "<words>[:<int>]", "[<str>, <str>]", "[w + x for w in <words> for x in <words>]",
        "list(<str>.elems())", "list(<str>.partition(<str>))", "['%s=%d' % (k, v) for k, v in <dict>.items()]",
    ),
    "dict": (
        "(<dict> | <dict>)", "dict(<dict>)", "dict(zip(<words>, <list>))", "{w: len(w) for w in <words>}", "{<str>: <int>, 'z': <int>}",
        "dict([(<str>, <int>)])", "dict(a = <int>, b = <int>)", "{k: v for k, v in <dict>.items() if v}", "dict(<dict>, q = <int>)",
    ),
}  # fmt: skip

_STATEMENTS: dict[str, tuple[str, ...]] = {
    "int": ("{v} += <int>", "{v} -= <int>", "{v} //= <int>", "for e in <list>:\n        {v} += e"),
    "str": ("{v} += <str>", "for e in <words>:\n        {v} = e + {v}", "if <bool>:\n        {v} = <str>\n    else:\n        {v} *= 2"),
    "bool": ("{v} = not {v}", "for e in <list>:\n        if e > <int>:\n            {v} = <bool>\n            break"),
    "list": (
        "{v} += <list>", "{v}.append(<int>)", "{v}.extend(<list>)", "{v}.insert(<int>, <int>)", "{v}[0] = <int>", "{v}.pop()",
        "{v}[-1] += <int>", "for e in range(3):\n        {v}.append(e)",
        "for e in {v}:\n        if e == 0:\n            continue\n        {v} = [e]",
        "{v}.remove(<int>)", "for e in {v}:\n        {v}.append(e)",
    ),
    "words": ("{v} += <words>", "{v}.append(<str>)", "{v}.extend(<words>)", "{v}.clear()", "{v} *= 2"),
    "dict": (
        "{v}[<str>] = <int>", "{v} |= <dict>", "{v}.update(<dict>)", "{v}.pop(<str>, None)", "{v}.setdefault(<str>, <int>)",
        "{v}['a'] += <int>", "for e in {v}:\n        {v}['n'] = 1", "for e in {v}.keys():\n        {v}[e] = <int>",
    ),
}  # fmt: skip


def _filled(draw: Draw, template: str, names: dict[str, list[str]], depth: int) -> str:
    for kind in _TEMPLATES:
        while f"<{kind}>" in template:
            template = template.replace(f"<{kind}>", _expressions(draw, names, kind, depth), 1)
    return template


_CALLS = ("f(1)", "f(2, 4, 6)", "f(q = 5, p = -1)", "f(7, z = 'k')", "f(*[1, 2], **{'y': 3})", "f()", "f(1, p = 2)")


@st.composite
def programs(draw: Draw) -> str:
    """A function with typed locals, statements that change them, and a result that shows them all."""
    names: dict[str, list[str]] = {kind: [] for kind in _TEMPLATES}
    lines = ["def f(p, q = 3, *args, **kwargs):"]
    names["int"] += ["p", "q"]
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(sorted(_TEMPLATES)))
        lines.append(f"    x{number} = {_expressions(draw, names, kind, draw(st.integers(0, 3)))}")
        names[kind].append(f"x{number}")
        if draw(st.booleans()):
            statement = draw(st.sampled_from(_STATEMENTS[kind])).replace("{v}", f"x{number}")
            lines.append(f"    {_filled(draw, statement, names, 1)}")
    shown = ", ".join(name for group in names.values() for name in group)
    lines.append(f"    return ({shown}, args, kwargs)")
    call = draw(st.sampled_from(_CALLS))
    return "\n".join([*lines, "", f"result = {call}"])
