"""Rules written in Starlark: their ctx, actions, providers, depsets, aspects and outputs, and what each refusal says."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from litert_build.actions import Copy, Run, Write
from litert_build.bazel.analysis import Analysis

from tests.unit.bazel_samples import Tree

BIN = "bazel-out/k8-opt/bin"
EXEC = "bazel-out/k8-opt-exec/bin"
RULE = """\
    Info = provider(fields = ["files", "n"])

    def _impl(ctx):
    {body}

    r = rule(
        implementation = _impl,
        attrs = {{
            "srcs": attr.label_list(allow_files = True),
            "src": attr.label(allow_single_file = True),
            "deps": attr.label_list(),
            "out": attr.output(),
            "outs": attr.output_list(),
            "n": attr.int(default = 3),
            "words": attr.string_list(default = ["a"]),
            "table": attr.string_dict(),
            "keyed": attr.label_keyed_string_dict(allow_files = True),
            "choice": attr.string(values = ["p", "q"], default = "p"),
            "flag": attr.bool(),
            "_tool": attr.label(default = "//:tool", executable = True, cfg = "exec"),
        }},
    )
    """
FILES = {"t.cc": "", "a.txt": "", "b.txt": "", "t.in": "x=@A@ @A@ @B@\n"}


def rule_tree(folder: Path, body: str, build: str = "r(name = 'x')") -> Tree:
    """A tree whose rule r runs `body`; it stands at line 4 of r.bzl on, the calls of r at line 3 of BUILD on."""
    indented = textwrap.indent(textwrap.dedent(body).strip("\n"), "        ").lstrip()
    text = textwrap.dedent(RULE).format(body="    " + textwrap.dedent(indented).replace("\n        ", "\n    "))
    return Tree(folder, {**FILES, "BUILD": f"load(':r.bzl', 'r')\ncc_binary(name = 'tool', srcs = ['t.cc'])\n{build}\n", "r.bzl": text})


def said(folder: Path, body: str, build: str = "r(name = 'x')") -> str:
    """Return what the implementation says by fail()."""
    return rule_tree(folder, body, build).failure("//:x").what


def of(analysis: Analysis, kind: Any, label: str = "//:x") -> Any:
    """Return the one action of a kind that a label registered."""
    [action] = [action for action in analysis.actions if isinstance(action, kind) and action.label == label]
    return action


# ctx


@pytest.mark.parametrize(
    ("shown", "build", "text"),
    [
        ("ctx.attr.n, ctx.attr.words, ctx.attr.table, ctx.attr.flag", "r(name = 'x')", '3 ["a"] {} False'),
        ("ctx.attr.n, ctx.attr.words", "r(name = 'x', n = 5, words = [])", "5 []"),
        ("ctx.attr.words", "r(name = 'x', words = select({'//conditions:default': ['s']}) + ['t'])", '["s", "t"]'),
        ("ctx.label, ctx.label.name, ctx.label.package, ctx.attr.name", "r(name = 'x')", "@//:x x  x"),
        ("ctx.attr.src, ctx.file.src, ctx.attr.srcs, ctx.files.srcs, ctx.outputs.out", "r(name = 'x')", "None None [] [] None"),
        ("ctx.file.src.path, ctx.attr.src.label", "r(name = 'x', src = 'a.txt')", "a.txt @//:a.txt"),
        ("[f.basename for f in ctx.files.srcs], ctx.files.srcs[0].extension", "r(name = 'x', srcs = ['a.txt', 't.in'])",
         '["a.txt", "t.in"] txt'),
        ("ctx.executable._tool.path, ctx.executable._tool.short_path", "r(name = 'x')", f"{EXEC}/tool tool"),
        ("ctx.outputs.out.path, ctx.outputs.out.root.path, ctx.outputs.out.is_source", "r(name = 'x', out = 'o')", f"{BIN}/o {BIN} False"),
        ("ctx.bin_dir.path, ctx.workspace_name, ctx.build_file_path", "r(name = 'x')", f"{BIN} main BUILD"),
        ("ctx.var['COMPILATION_MODE'], ctx.var['TARGET_CPU']", "r(name = 'x')", "opt k8"),
        ("[(k.label, v) for k, v in ctx.attr.keyed.items()]", "r(name = 'x', keyed = {':a.txt': 'v'})", '[(@//:a.txt, "v")]'),
        ("ctx.expand_location('$(location a.txt)', ctx.attr.srcs)", "r(name = 'x', srcs = ['a.txt'])", "a.txt"),
        ("ctx.expand_make_variables('cmd', '$(BINDIR) $(X)', {'X': '1'})", "r(name = 'x')", f"{BIN} 1"),
        ("[f.path for f in ctx.runfiles(files = ctx.files.srcs).merge(ctx.runfiles()).files.to_list()]", "r(name = 'x', srcs = ['a.txt'])",
         '["a.txt"]'),
        ("ctx.actions.declare_file('q', sibling = ctx.actions.declare_file('d/p')).path", "r(name = 'x')", f"{BIN}/d/q"),
        ("ctx.attr.srcs[0].files.to_list()[0].path, DefaultInfo in ctx.attr.srcs[0], Info in ctx.attr.srcs[0]",
         "r(name = 'x', srcs = ['a.txt'])",
         "a.txt True False"),
        ("json.encode({'b': 'é', 'a': {'d': 1, 'c': [None, True]}}), json.encode(struct(z = 1, y = {'x': 2, 'w': 3}))", "r(name = 'x')",
         '{"a":{"c":[null,true],"d":1},"b":"é"} {"y":{"w":3,"x":2},"z":1}'),
        ("ctx.features, ctx.disabled_features", "r(name = 'x', features = ['f', '-g'])", '["f"] ["g"]'),
    ],
)  # fmt: skip
def test_ctx(tmp_path: Path, shown: str, build: str, text: str) -> None:
    assert said(tmp_path, f"fail({shown})", build) == text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("fail('deep', 1)", "deep 1"),
        ("return ctx.nope", "'ctx' value has no field or method 'nope'"),
        ("return ctx.attr.nope", "'struct' has no field 'nope'"),
        ("return ctx.fragments.cpp", "ctx.fragments is not supported: the target's row and the lock set the flags"),
        ("return Info(q = 1)", "Info has no field 'q' (it has files, n)"),
        ("return Info(1)", "Info: provider instances take named arguments only"),
        ("return DefaultInfo(files = ['a'])", "DefaultInfo(files) takes a depset, not list"),
        ("return DefaultInfo(executable = 'a')", "DefaultInfo(executable) takes a File, not string"),
        ("ctx.attr.words.append('b')", "trying to mutate a frozen list value"),
        ("ctx.attr.table['a'] = 'b'", "trying to mutate a frozen dict value"),
        ("ctx.files.srcs.append('b')", "trying to mutate a frozen list value"),
        ("return json.encode({1: 2})", "json.encode: dict has int key, want string"),
        ("return json.encode({True: 2})", "json.encode: dict has bool key, want string"),
        ("return depset([[]])", "depset elements must not be mutable values (list)"),
        ("return depset([1, 'a'])", "cannot add an item of type 'string' to a depset of 'int'"),
        ("return depset([1, True])", "cannot add an item of type 'bool' to a depset of 'int'"),
        ("return depset(['a'], transitive = [depset([1])])", "cannot add an item of type 'string' to a depset of 'int'"),
        ("return depset(transitive = [depset(), depset([1]), depset(['a'])])", "cannot add a depset of 'string' to a depset of 'int'"),
        ("return struct(a = 1) < struct(a = 2)", "unsupported comparison: struct <=> struct"),
        ("return depset(['a'], order = 'odd')", "Invalid order: odd"),
        ("return depset(['a'], transitive = [['b']])", "at index of transitive, got element of type list, want depset"),
        ("return depset([], order = 'preorder', transitive = [depset(['a'], order = 'postorder')])",
         "Order 'preorder' is incompatible with order 'postorder'"),
        ("return [f for f in depset(['a'])]", "type 'depset' is not iterable"),
        ("return ctx.actions.declare_directory('d')", 'actions.declare_directory("d") is not supported: declare its files'),
        ("return ctx.actions.nope()", "'actions' value has no field or method 'nope'"),
        ("ctx.actions.declare_file('../../o')", 'actions.declare_file("../../o") is not a plain path below the package'),
        ("ctx.actions.declare_file('/o')", 'actions.declare_file("/o") is not a plain path below the package'),
        ("ctx.actions.write(ctx.actions.declare_file('o'), 5)", "actions.write(content) takes a string or Args, not int"),
        ("ctx.actions.run(outputs = [], executable = 5)", "actions.run(executable) takes a File, FilesToRunProvider or string, not int"),
        ("ctx.actions.run(outputs = ctx.files.srcs, executable = 'x')", "an action makes at least one file: its outputs are empty"),
        ("ctx.actions.run(outputs = [ctx.actions.declare_file('o')], executable = 'x', inputs = ['a'])", "expected a File, got string"),
        ("ctx.actions.run(executable = 'x')", "actions.run() missing 1 required positional argument: 'outputs'"),
        ("ctx.actions.run(outputs = [ctx.actions.declare_file('o')], executable = 'x', arguments = [1])",
         "arguments are strings or ctx.actions.args(), not int"),
        ("ctx.actions.run(outputs = ['o'], executable = 'x')", "an action makes declared files, not string"),
        ("ctx.actions.write('o', 'text')", "an action makes declared files, not string"),
        ("ctx.actions.symlink(output = 'o', target_file = ctx.actions.declare_file('o'))", "an action makes declared files, not string"),
        ("ctx.actions.args().add(['a'])", "Args.add() takes one value, not list: use add_all()"),
        ("ctx.actions.args().set_param_file_format('odd')",
         "Args.set_param_file_format() takes shell, multiline or flag_per_line, not odd"),
        ("ctx.actions.expand_template(template = ctx.actions.declare_file('t'), output = ctx.actions.declare_file('o'))",
         f"actions.expand_template: the template {BIN}/t is a generated file, which is not there at analysis"),
    ],
)  # fmt: skip
def test_a_fault_of_an_implementation_is_at_the_target(tmp_path: Path, body: str, message: str) -> None:
    tree = rule_tree(tmp_path, body)
    error = tree.failure("//:x")
    assert (error.what, error.where) == (message, f"{tree.shown()}BUILD:3")
    assert error.notes[0] == f"in _impl at {tree.shown()}r.bzl:4"


@pytest.mark.parametrize(
    ("body", "build", "message"),
    [
        ("return 5", "r(name = 'x')", "rule r returned int, which is no provider instance"),
        ("return [DefaultInfo(), 'a']", "r(name = 'x')", "rule r returned string, which is no provider instance"),
        ("return [Info(), Info()]", "r(name = 'x')", "rule r returned two instances of Info"),
        ("ctx.actions.declare_file('o'); ctx.actions.declare_file('d/p')", "r(name = 'x')",
         "rule r declares files that no action makes: o, d/p"),
        ("pass", "r(name = 'x', out = 'o')", "//:x: no action makes its output 'o'"),
        ("ctx.actions.write(ctx.file.src, 'text')", "r(name = 'x', src = 'a.txt')",
         "an action makes declared files, not the source file a.txt"),
        ("pass", "r(name = 'x', nope = 1)", "r rule 'x' has no attribute 'nope'; did you mean name?"),
        ("pass", "r(name = 'x', n = 'a')", "expected value of type 'int' for attribute 'n', but got \"a\" (string)"),
        ("pass", "r(name = 'x', choice = 'z')", "attribute 'choice': invalid value \"z\", want one of \"p\", \"q\""),
        ("pass", "r(name = 'x', _tool = ':t')", "r rule 'x': attribute '_tool' is private"),
        ("pass", "r(name = 'x', srcs = ['none.txt'])", "no such target '//:none.txt'"),
        ("return ctx.file.srcs", "r(name = 'x')", "'ctx.file' has no field 'srcs': it holds the label attributes with allow_single_file"),
        ("return ctx.executable.srcs", "r(name = 'x')",
         "'ctx.executable' has no field 'srcs': it holds the label attributes with executable"),
        ("return [d[Info] for d in ctx.attr.srcs]", "r(name = 'x', srcs = ['a.txt'])",
         "target //:a.txt (source file) does not provide <provider Info>"),
    ],
)  # fmt: skip
def test_a_fault_of_a_starlark_target(tmp_path: Path, body: str, build: str, message: str) -> None:
    tree = rule_tree(tmp_path, body, build)
    error = tree.failure("//:x")
    assert error.what.startswith(message) and error.where == f"{tree.shown()}BUILD:3"


# What attributes take


ATTRIBUTES = """\
    Info = provider(fields = ["a"])
    Other = provider(fields = ["a"])

    def _give(ctx):
        return [Info(a = 1)]

    give = rule(_give)

    def _impl(ctx):
        pass

    r = rule(_impl, attrs = {{"s": attr.{attribute}}})
    """
GIVEN = """\
    load(":r.bzl", "give", "r")
    r(name = "x", {given})
    genrule(name = "one", outs = ["o.c"], cmd = "touch $@")
    genrule(name = "two", outs = ["p.c", "p.h"], cmd = "touch $(OUTS)")
    filegroup(name = "none")
    alias(name = "other", actual = ":none")
    alias(name = "text", actual = "a.txt")
    give(name = "info")
    cc_library(name = "cc")
    """


def attribute_tree(folder: Path, attribute: str, given: str) -> Tree:
    files = {"BUILD": textwrap.dedent(GIVEN).format(given=given), "r.bzl": textwrap.dedent(ATTRIBUTES).format(attribute=attribute)}
    return Tree(folder, {**files, "a.txt": "", "a.sh": ""})


@pytest.mark.parametrize(
    ("attribute", "given", "fault"),
    [
        ("label()", "s = 'a.txt'", ": source file '//:a.txt' is misplaced here (expected no files)"),
        ("label_list()", "s = ['o.c']", ": generated file '//:o.c' is misplaced here (expected no files)"),
        ("label_list()", "s = [':text']", ": source file '//:text' is misplaced here (expected no files)"),
        ("label_list(allow_files = False)", "s = ['a.txt']", ": source file '//:a.txt' is misplaced here (expected no files)"),
        ("label_keyed_string_dict()", "s = {'a.txt': 'v'}", ": source file '//:a.txt' is misplaced here (expected no files)"),
        ("string_keyed_label_dict()", "s = {'k': 'a.txt'}", ": source file '//:a.txt' is misplaced here (expected no files)"),
        ("label_list(allow_files = ['.c'])", "s = ['a.txt']", ": source file '//:a.txt' is misplaced here (expected .c)"),
        ("label_list(allow_files = ['.cc', '.h', '.d'])", "s = ['a.txt']",
         ": source file '//:a.txt' is misplaced here (expected .cc, .h or .d)"),
        ("label_list(allow_files = ['.h'])", "s = ['o.c']", ": generated file '//:o.c' is misplaced here (expected .h)"),
        ("label_list(allow_files = ['.h'])", "s = [':one']", ": '//:one' does not produce any r s files (expected .h)"),
        ("label_list(allow_files = ['.cc', '.h'])", "s = [':none']", ": '//:none' does not produce any r s files (expected .cc or .h)"),
        ("label(allow_single_file = True)", "s = ':two'", ": '//:two' must produce a single file, it has 2"),
        ("label(allow_single_file = True)", "s = ':none'", ": '//:none' must produce a single file, it has 0"),
        ("label(allow_single_file = ['.h'])", "s = 'a.txt'", ": source file '//:a.txt' is misplaced here (expected .h)"),
        ("label(allow_single_file = ['.h'])", "s = ':one'", ": '//:one' does not produce any r s files (expected .h)"),
        ("label(providers = [Info])", "s = ':none'", ": '//:none' does not have mandatory providers: 'Info'"),
        ("label(providers = [Info])", "s = ':other'", ": '//:other' does not have mandatory providers: 'Info'"),
        ("label(providers = ['cc'])", "s = ':cc'", ": '//:cc' does not have mandatory providers: 'cc'"),
        ("label_list(providers = [Info, Other])", "s = [':none']", ": '//:none' does not have mandatory providers: ['Info', 'Other']"),
        ("label_list(providers = [[Info, Other], [CcInfo]])", "s = [':none']",
         ": '//:none' does not have mandatory providers: ['Info', 'Other'] or 'CcInfo'"),
        ("label_list(providers = [[Info, Other]])", "s = [':info']", ": '//:info' does not have mandatory providers: 'Other'"),
        ("label_list(providers = [Info], allow_files = True)", "s = ['a.txt', ':one']",
         ": '//:one' does not have mandatory providers: 'Info'"),
        ("label_list(providers = [Info], default = [':none'])", "", ": '//:none' does not have mandatory providers: 'Info'"),
        ("label_list(allow_empty = False)", "s = []", " must not be empty"),
        ("label_list(allow_empty = False)", "", " must not be empty"),
        ("string_dict(allow_empty = False)", "s = {}", " must not be empty"),
        ("string_list(allow_empty = False)", "s = select({'//conditions:default': []})", " must not be empty"),
    ],
)  # fmt: skip
def test_attributes_take_what_their_rule_says(tmp_path: Path, attribute: str, given: str, fault: str) -> None:
    tree = attribute_tree(tmp_path, attribute, given)
    error = tree.failure("//:x")
    assert (error.what, error.where) == (f"attribute 's' of //:x{fault}", f"{tree.shown()}BUILD:2")
    assert error.mend


@pytest.mark.parametrize(
    ("attribute", "given"),
    [
        ("label_list()", "s = [':one', ':none', ':info']"),
        ("label_list(allow_files = True)", "s = ['a.txt', 'o.c', ':none', ':text']"),
        ("label_list(allow_files = ['.h'])", "s = [':two']"),
        ("label(allow_single_file = True)", "s = ':one'"),
        ("label(allow_single_file = ['.txt'])", "s = 'a.txt'"),
        ("label_list(providers = [[Info], [CcInfo]])", "s = [':info', ':cc']"),
        ("label_list(providers = [Info], allow_files = True)", "s = ['a.txt', 'o.c', ':info']"),
        ("label_list(providers = [[JavaInfo], [PyInfo]])", "s = [':none']"),
        ("label_list(providers = [])", "s = [':none']"),
        ("label(executable = True, cfg = 'exec', allow_files = True)", "s = 'a.sh'"),
        ("string_list(allow_empty = False)", "s = ['a']"),
        ("string(values = ['a'])", ""),
        ("string(values = ['a'], default = 'b')", ""),
        ("bool()", "s = 1"),
    ],
)
def test_attributes_that_are_well_given(tmp_path: Path, attribute: str, given: str) -> None:
    assert attribute_tree(tmp_path, attribute, given).analyze("//:x").link.objects == ()


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("label(foo = 1)", "attr.label() got an unexpected keyword argument 'foo'"),
        ("label(allow_files = True, allow_single_file = True)", "an attribute takes allow_files or allow_single_file, not both"),
        ("label(executable = True)", 'an attribute with executable = True needs cfg: write cfg = "exec" for a tool'),
        ("label_list(providers = [1])", "providers takes providers alone or lists of them alone, not int"),
        ("label_list(providers = [Info, [Other]])", "providers takes providers alone or lists of them alone, not list"),
        ("label_list(providers = Info)", "providers takes a list, not Provider"),
        ("string(default = 1)", "expected value of type 'string' for attribute 'default', but got 1 (int)"),
        ("int(default = True)", "expected value of type 'int' for attribute 'default', but got True (bool)"),
        ("string_list(default = 'a')", "expected value of type 'list(string)' for attribute 'default', but got \"a\" (string)"),
    ],
)
def test_attributes_that_cannot_be_declared(tmp_path: Path, attribute: str, message: str) -> None:
    tree = attribute_tree(tmp_path, attribute, "")
    error = tree.load_failure()
    assert (error.what, error.where) == (message, f"{tree.shown()}r.bzl:12")


@pytest.mark.parametrize(
    ("name", "why"),
    [("name", "each rule has it"), ("tags", "each rule has it"), ("a-b", "it is no identifier"), ("", "it is no identifier")],
)
def test_names_that_no_attribute_has(tmp_path: Path, name: str, why: str) -> None:
    tree = Tree(
        tmp_path, {"BUILD": "load(':r.bzl', 'r')", "r.bzl": f"def f(ctx): pass\n\nr = rule(f, attrs = {{'{name}': attr.string()}})"}
    )
    error = tree.load_failure()
    assert (error.what, error.where) == (f"attribute '{name}' cannot be declared: {why}", f"{tree.shown()}r.bzl:3")


def test_a_tool_that_cannot_run(tmp_path: Path) -> None:
    error = attribute_tree(tmp_path, "label(executable = True, cfg = 'exec')", "s = ':none'").failure("//:x")
    assert error.what == "//:none is used as a tool, but it has 0 files and no executable"


# ctx.actions


def test_run(tmp_path: Path) -> None:
    body = """\
        out = ctx.actions.declare_file("o")
        ctx.actions.run(executable = ctx.executable._tool, outputs = [out], inputs = ctx.files.srcs, arguments = ["-o", out.path],
            mnemonic = "Make", env = {"B": "1", "A": "2"})
        return DefaultInfo(files = depset([out]))
        """
    action = of(rule_tree(tmp_path, body, "r(name = 'x', srcs = ['a.txt'])").analyze("//:x"), Run)
    assert (action.mnemonic, action.argv, action.outputs) == ("Make", (f"{EXEC}/tool", "-o", f"{BIN}/o"), (f"{BIN}/o",))
    assert (action.inputs, action.tools, action.env) == (("a.txt", f"{EXEC}/tool"), (f"{EXEC}/tool",), (("A", "2"), ("B", "1")))


ARGS = """\
    out = ctx.actions.declare_file("d/o")
    args = ctx.actions.args()
    args.add("-o", out)
    args.add_all(ctx.files.srcs, before_each = "-i")
    args.add_all("--none", [])
    args.add_all("--some", [], omit_if_empty = False)
    args.add_joined("--joined", ["p", "q"], join_with = ",", format_joined = "<%s>")
    args.add(1, format = "n=%s")
    args.add_all(["a", "a", "b"], uniquify = True, map_each = lambda s: s + "!" if s != "b" else None, format_each = "[%s]")
    args.add_all(depset(["y"], transitive = [depset(["z"])]), terminate_with = "--")
    args.add("it's")
    {more}
    ctx.actions.run(executable = "tool", outputs = [out], arguments = [args, "last"])
    return DefaultInfo(files = depset([out]))
    """
WORDS = ["-o", f"{BIN}/d/o", "-i", "a.txt", "--some", "--joined", "<p,q>", "n=1", "[a!]", "z", "y", "--", "it's"]


def test_args(tmp_path: Path) -> None:
    analysis = rule_tree(tmp_path, ARGS.format(more="pass"), "r(name = 'x', srcs = ['a.txt'])").analyze("//:x")
    assert list(of(analysis, Run).argv) == ["tool", *WORDS, "last"]


@pytest.mark.parametrize(("style", "last"), [("multiline", "it's"), ("shell", "'it'\"'\"'s'")])
def test_parameter_files(tmp_path: Path, style: str, last: str) -> None:
    more = f"args.use_param_file('@%s', use_always = True)\n    args.set_param_file_format('{style}')"
    analysis = rule_tree(tmp_path, ARGS.format(more=more), "r(name = 'x', srcs = ['a.txt'])").analyze("//:x")
    written, action = of(analysis, Write), of(analysis, Run)
    assert written.output == f"{BIN}/d/o-0.params" and written.output in action.inputs
    assert action.argv == ("tool", f"@{BIN}/d/o-0.params", "last")
    lines = written.content.splitlines()
    assert (lines[-1], lines[:4]) == (last, WORDS[:4])


def test_run_shell(tmp_path: Path) -> None:
    body = """\
        ctx.actions.run_shell(command = "cat $1 > $2", outputs = [ctx.outputs.out], inputs = ctx.files.srcs,
            arguments = [ctx.files.srcs[0].path, ctx.outputs.out.path], tools = [ctx.executable._tool])
        """
    action = of(rule_tree(tmp_path, body, "r(name = 'x', srcs = ['a.txt'], out = 'o')").analyze("//:x"), Run)
    assert action.argv == ("bash", "-c", "cat $1 > $2", "", "a.txt", f"{BIN}/o")
    assert action.tools == (f"{EXEC}/tool",)


def test_write_expand_template_and_symlink(tmp_path: Path) -> None:
    body = """\
        args = ctx.actions.args()
        args.add_all(["p", "q"])
        ctx.actions.write(ctx.outputs.outs[0], "hi", is_executable = True)
        ctx.actions.write(output = ctx.outputs.outs[1], content = args)
        ctx.actions.expand_template(template = ctx.file.src, output = ctx.outputs.outs[2], substitutions = {"@A@": "1"})
        ctx.actions.symlink(output = ctx.outputs.outs[3], target_file = ctx.file.src)
        """
    tree = rule_tree(tmp_path, body, "r(name = 'x', src = 't.in', outs = ['a', 'b', 'c', 'd'])")
    analysis = tree.analyze("//:x")
    writes = [(a.output, a.content, a.executable) for a in analysis.actions if isinstance(a, Write)]
    assert writes == [(f"{BIN}/a", "hi", True), (f"{BIN}/b", "p\nq\n", False), (f"{BIN}/c", "x=1 1 @B@\n", False)]
    assert (of(analysis, Copy).source, of(analysis, Copy).output) == ("t.in", f"{BIN}/d")
    assert tree.trees["main"] / "t.in" in [Path(path) for path in analysis.read]


# Providers, depsets, aspects, outputs


@pytest.mark.parametrize(
    ("order", "elements"),
    [("default", "d c b a"), ("postorder", "d c b a"), ("preorder", "a b d c"), ("topological", "a b c d")],
)
def test_depset_orders(tmp_path: Path, order: str, elements: str) -> None:
    children = "right, left" if order in ("default", "postorder") else "left, right"
    body = f"""\
        bottom = depset(["d"], order = "{order}")
        left = depset(["b"], order = "{order}", transitive = [bottom])
        right = depset(["c"], order = "{order}", transitive = [bottom])
        fail(" ".join(depset(["a"], order = "{order}", transitive = [{children}]).to_list()))
        """
    assert said(tmp_path, body) == elements


def test_depsets_tell_a_bool_from_a_number(tmp_path: Path) -> None:
    body = """\
        inner = depset([(1,), (True,)])
        both = depset([(True,), (False,)], transitive = [inner])
        fail(both.to_list(), [x == (True,) for x in both.to_list()], depset([True, False]).to_list() == [True, False])
        """
    assert said(tmp_path, body) == "[(1,), (True,), (False,)] [False, True, False] True"


def test_depsets_hold_each_struct_once_whatever_it_holds(tmp_path: Path) -> None:
    body = """\
        one = struct(a = [1], b = {"k": struct(c = [])})
        same = struct(b = {"k": struct(c = [])}, a = [1])
        fail(one == same, len(depset([one, same, struct(a = [2], b = {})]).to_list()), depset([one]).to_list()[0].a)
        """
    assert said(tmp_path, body) == "True 2 [1]"


def test_providers_gather_along_deps(tmp_path: Path) -> None:
    body = """\
        files = depset(ctx.files.srcs, transitive = [d[Info].files for d in ctx.attr.deps])
        if ctx.label.name == "x":
            fail([f.path for f in files.to_list()], ctx.attr.deps[0][Info].n, type(ctx.attr.deps[0][Info]))
        return [Info(files = files, n = ctx.attr.n), DefaultInfo(files = files)]
        """
    build = "r(name = 'x', srcs = ['a.txt'], deps = [':y'])\nr(name = 'y', srcs = ['b.txt'], n = 7)"
    assert said(tmp_path, body, build) == '["b.txt", "a.txt"] 7 struct'


def test_struct_and_provider_init(tmp_path: Path) -> None:
    rule = """\
        def _init(a, b = 2):
            return {"a": a, "b": b}

        Made, _raw = provider(fields = ["a", "b"], init = _init)

        def _impl(ctx):
            s = struct(x = 1, y = [2])
            fail(Made(1), Made(a = 5).b, _raw(a = 0), s, s.x, s == struct(y = [2], x = 1), hasattr(s, "z"), dir(s))

        r = rule(_impl)
        """
    tree = Tree(tmp_path, {"BUILD": "load(':r.bzl', 'r')\nr(name = 'x')", "r.bzl": rule})
    assert tree.failure("//:x").what == (
        'Made(a = 1, b = 2) 2 Made(a = 0) struct(x = 1, y = [2]) 1 True False ["x", "y"]'
    )  # fmt: skip


def test_aspects_see_each_target_along_their_attributes(tmp_path: Path) -> None:
    rule = """\
        Seen = provider(fields = ["names"])

        def _look(target, ctx):
            below = [d[Seen].names for d in ctx.rule.attr.deps] if hasattr(ctx.rule.attr, "deps") else []
            return Seen(names = depset([ctx.rule.kind + " " + target.label.name], transitive = below, order = "postorder"))

        look = aspect(_look, attr_aspects = ["deps"])

        def _impl(ctx):
            fail(ctx.attr.target[Seen].names.to_list())

        r = rule(_impl, attrs = {"target": attr.label(aspects = [look])})
        """
    build = """\
        load(":r.bzl", "r")
        r(name = "x", target = ":a")
        cc_library(name = "a", deps = [":b", ":c"])
        cc_library(name = "b", deps = [":c"])
        alias(name = "c", actual = ":d")
        cc_library(name = "d")
        """
    tree = Tree(tmp_path, {"BUILD": build, "r.bzl": rule})
    assert tree.failure("//:x").what == '["cc_library d", "cc_library b", "cc_library a"]'


def test_an_output_is_a_target_of_its_own(tmp_path: Path) -> None:
    body = "ctx.actions.write(ctx.outputs.out, ctx.label.name)"
    tree = rule_tree(tmp_path, body, "r(name = 'y', out = 'made.cc')\ncc_library(name = 'x', srcs = ['made.cc'])")
    assert [action.source for action in tree.analyze("//:x").actions.compiles() if action.label == "//:x"] == [f"{BIN}/made.cc"]


def test_a_starlark_rule_can_be_a_tool(tmp_path: Path) -> None:
    rule = """\
        def _impl(ctx):
            ctx.actions.write(ctx.outputs.executable, "#!/bin/sh", is_executable = True)
            return DefaultInfo(executable = ctx.outputs.executable)

        script = rule(_impl, executable = True)
        """
    build = "load(':r.bzl', 'script')\nscript(name = 't')\ngenrule(name = 'x', outs = ['o'], tools = [':t'], cmd = '$(location :t) $@')"
    analysis = Tree(tmp_path, {"BUILD": build, "r.bzl": rule}).analyze("//:x")
    assert of(analysis, Run).argv[-1].endswith(f"{EXEC}/t {BIN}/o")


def test_cc_info_passes_through_a_starlark_rule(tmp_path: Path) -> None:
    rule = """\
        def _impl(ctx):
            return [cc_common.merge_cc_infos(cc_infos = [d[CcInfo] for d in ctx.attr.deps])]

        r = rule(_impl, attrs = {"deps": attr.label_list()})
        """
    build = """\
        load(":r.bzl", "r")
        cc_library(name = "a", srcs = ["a.cc"], defines = ["A"], includes = ["inc"])
        r(name = "r", deps = [":a"])
        cc_library(name = "x", srcs = ["x.cc"], deps = [":r"])
        """
    analysis = Tree(tmp_path, {"BUILD": build, "r.bzl": rule, "a.cc": "", "x.cc": ""}).analyze("//:x")
    [action] = [action for action in analysis.actions.compiles() if action.label == "//:x"]
    assert "A" in action.defines and ("-isystem", "inc") in action.includes
    assert len({*analysis.link.objects, *analysis.link.lazy}) == 2
