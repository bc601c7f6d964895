"""The oracle's normalizer and comparison: what Bazel prints becomes records, and no deviation passes unseen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from litert_build.actions import ActionList, Compile, Copy, Run
from litert_build.errors import BuildError
from litert_build.reports.oracle import (
    ALLOWED,
    ALLOWED_FOR_TOOLS,
    Allowed,
    Command,
    Record,
    Snapshot,
    canonical_label,
    commands_from_aquery,
    commands_of,
    compare,
    compare_commands,
    dump_snapshot,
    load_snapshot,
    records_from_actions,
    records_from_aquery,
    records_of,
    split_arguments,
)

BASE = Record(
    "//a:b",
    "a/b.cc",
    defines=("NDEBUG", "A=1"),
    includes=(("-iquote", "."), ("-isystem", "external/x/include")),
    flags=("-O2", "-fPIC", "-Wall"),
)
OTHER = Record("@x//:y", "external/x/y.c", flags=("-fPIC",))


def aquery(**changes: Any) -> dict[str, Any]:
    arguments = ["/usr/bin/gcc", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=1", "-MD", "-MF", "o/b.pic.d", "-frandom-seed=o/b.pic.o", "-fPIC"]
    arguments += ["-iquote", ".", "-isystem", "inc", "-Isrc", "-DX=\"y\"", "-Wall", "-c", "a/b.cc", "-o", "o/b.pic.o"]  # fmt: skip
    action = {"targetId": 1, "mnemonic": "CppCompile", "configurationId": 7, "arguments": arguments, **changes}
    return {
        "targets": [{"id": 1, "label": "@@//a:b"}],
        "configuration": [{"id": 7, "mnemonic": "k8-opt"}, {"id": 8, "mnemonic": "k8-opt-exec"}],
        "actions": [action],
    }


@pytest.mark.parametrize(
    ("printed", "canonical"),
    [
        ("//a:b", "//a:b"),
        ("@@//a:b", "//a:b"),
        ("@//a/b", "//a/b:b"),
        ("@@cpuinfo//:cpuinfo", "@cpuinfo//:cpuinfo"),
        ("@cpuinfo//src/x:y", "@cpuinfo//src/x:y"),
    ],
)
def test_labels_have_one_spelling(printed: str, canonical: str) -> None:
    assert canonical_label(printed) == canonical


def test_relative_label_is_refused() -> None:
    with pytest.raises(BuildError, match="':b' is no absolute label"):
        canonical_label(":b")


def test_arguments_are_split_in_order_whether_joined_or_not() -> None:
    command = ["gcc", "-DA", "-D", "B=2", "-Ix", "-I", "y", "-isystem", "z", "-idirafter", "w", "-O2", "-c", "s.c", "-o", "s.o"]
    source, defines, includes, flags = split_arguments(command)
    assert (source, defines, flags) == ("s.c", ("A", "B=2"), ("-O2",))
    assert includes == (("-I", "x"), ("-I", "y"), ("-isystem", "z"), ("-idirafter", "w"))


def test_aquery_becomes_a_record() -> None:
    assert records_from_aquery(aquery(), "k8-opt") == [
        Record(
            "//a:b",
            "a/b.cc",
            ("_FORTIFY_SOURCE=1", 'X="y"'),
            (("-iquote", "."), ("-isystem", "inc"), ("-I", "src")),
            ("-U_FORTIFY_SOURCE", "-fPIC", "-Wall"),
        )
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"configurationId": 8},
        {"mnemonic": "CppLink"},
        {"arguments": ["gcc", "-c", "a.cc", "-o", "a.o"]},
        {"arguments": ["gcc", "-fPIC", "-fsyntax-only", "-c", "a.h", "-o", "a.h.processed"]},
    ],
)
def test_what_is_no_object_of_the_configuration_is_left_out(changes: dict[str, Any]) -> None:
    assert records_from_aquery(aquery(**changes), "k8-opt") == []


def test_hash_of_a_transition_does_not_reach_the_records() -> None:
    document = aquery(
        configurationId=8,
        arguments=["gcc", "-fPIC", "-iquote", "bazel-out/k8-opt-exec-ST-a8/bin", "-Ibazel-out/k8-opt-exec-ST-a8/x", "-c", "a.cc"],
    )
    document["configuration"][1]["mnemonic"] = "k8-opt-exec-ST-a8"
    (record,) = records_from_aquery(document, "k8-opt-exec")
    assert record.includes == (("-iquote", "bazel-out/k8-opt-exec/bin"), ("-I", "bazel-out/k8-opt-exec/x"))
    assert records_from_aquery(document, "k8-opt") == []


def test_tools_of_bazel_itself_are_left_out() -> None:
    document = aquery()
    document["targets"][0]["label"] = "@@bazel_tools//src/tools/launcher:launcher"
    assert records_from_aquery(document, "k8-opt") == []


def test_our_action_list_and_its_json_give_the_same_records() -> None:
    compiled = Compile(
        "@@//a:b", "a/b.cc", "o/b.pic.o", "o/b.pic.d", "k8-opt", "c++", BASE.defines, BASE.includes, BASE.flags, location="a/BUILD:3"
    )
    actions = ActionList()
    actions.add(compiled)
    actions.add(replace(compiled, configuration="k8-opt-exec", output="exec/b.o"))
    actions.add(Copy("//a:c", "a/h.h", "o/h.h"))
    entry = {
        "label": "//a:b",
        "source": "a/b.cc",
        "output": "o/b.pic.o",
        "configuration": "k8-opt",
        "defines": list(BASE.defines),
        "includes": [list(pair) for pair in BASE.includes],
        "flags": list(BASE.flags),
    }
    assert records_of(actions, "k8-opt") == records_from_actions([entry, {**entry, "configuration": "k8-opt-exec"}], "k8-opt") == [BASE]


def genrule(text: str, label: str = "//a:gen", configuration: str = "k8-opt") -> Run:
    return Run(label, "Genrule", ("bash", "-c", f"set -e -o pipefail; {text}"), (), (f"{label}.out",), configuration=configuration)


def bazel_commands(*commands: tuple[str, str, list[str]]) -> list[Command]:
    document = {
        "targets": [{"id": 1, "label": "@@//a:gen"}],
        "configuration": [{"id": 7, "mnemonic": "k8-opt"}, {"id": 8, "mnemonic": "k8-opt-exec-ST-a8"}],
        "actions": [
            {"targetId": 1, "configurationId": 8 if configuration == "exec" else 7, "mnemonic": mnemonic, "arguments": arguments}
            for configuration, mnemonic, arguments in commands
        ],
    }
    return commands_from_aquery(document)


def commands(*runs: Run) -> list[Command]:
    actions = ActionList()
    for run in runs:
        actions.add(run)
    return commands_of(actions)


def test_commands_are_compared_without_the_shells_preamble_and_hashes_of_transitions() -> None:
    setup = "source external/bazel_tools/tools/genrule/genrule-setup.sh; "
    theirs = bazel_commands(
        ("target", "Genrule", ["/bin/bash", "-c", f"{setup}bazel-out/k8-opt-exec-ST-a8/bin/t > $out"]),
        ("exec", "Generate", ["bazel-out/k8-opt-exec-ST-a8/bin/t", "a b"]),
        ("target", "CppLink", ["gcc", "x.o"]),
        ("target", "FileWrite", []),
    )
    run = Run("//a:gen", "Generate", ("bazel-out/k8-opt-exec/bin/t", "a b"), (), ("o",), configuration="k8-opt-exec")
    assert compare_commands(commands(genrule("bazel-out/k8-opt-exec/bin/t > $out"), run), theirs).report() == ""
    assert [command.key for command in theirs] == [("//a:gen", "k8-opt", "Genrule"), ("//a:gen", "k8-opt-exec", "Generate")]


def test_bazels_protoc_for_a_library_counts_as_one_a_file() -> None:
    theirs = bazel_commands(("target", "GenProto", ["protoc", "--cpp_out=o", "-I.", "a.proto", "b.proto"]))
    runs = [
        Run("//a:gen", "GenProto", ("protoc", "--cpp_out=o", "-I.", name), (), (f"{name}.cc",), configuration="k8-opt")
        for name in ("a.proto", "b.proto")
    ]
    assert compare_commands(commands(*runs), theirs).report() == ""
    assert "only ours: protoc -I." in compare_commands(commands(replace(runs[0], argv=("protoc", "-I.", "a.proto"))), theirs).report()


def test_changed_and_invented_commands_are_reported_and_data_is_not_missed() -> None:
    theirs = bazel_commands(("target", "Genrule", ["/bin/bash", "-c", "cp a b"]))
    report = compare_commands(commands(genrule("cp a c")), theirs).report()
    assert report.startswith("1 commands\ncommands: //a:gen Genrule in k8-opt\n")
    assert "only ours: 'cp a c'" in report
    assert "only Bazel: 'cp a b'" in report
    for other in (genrule("cp a b", label="//a:other"), genrule("cp a b", configuration="k8-opt-exec")):
        assert compare_commands(commands(other), theirs).report().startswith("1 extra\nextra: //a:")
    assert compare_commands([], theirs).report() == ""


def test_equal_lists_have_nothing_to_report() -> None:
    comparison = compare([BASE, OTHER], [OTHER, BASE])
    assert (comparison.report(), comparison.differences, comparison.used) == ("", [], {})


MUTANTS = [
    ("dropped define", replace(BASE, defines=("NDEBUG",)), "defines", "only Bazel: A=1"),
    ("changed define", replace(BASE, defines=("NDEBUG", "A=2")), "defines", "only ours: A=2"),
    ("swapped defines", replace(BASE, defines=("A=1", "NDEBUG")), "defines", "order differs at 0: Bazel NDEBUG, ours A=1"),
    ("doubled define", replace(BASE, defines=("NDEBUG", "A=1", "A=1")), "defines", "only ours: A=1"),
    ("dropped include", replace(BASE, includes=BASE.includes[:1]), "includes", "only Bazel: -isystem external/x/include"),
    ("changed kind", replace(BASE, includes=(("-I", "."), BASE.includes[1])), "includes", "only ours: -I ."),
    ("swapped includes", replace(BASE, includes=BASE.includes[::-1]), "includes", "order differs at 0"),
    ("dropped flag", replace(BASE, flags=("-O2", "-fPIC")), "flags", "only Bazel: -Wall"),
    ("added flag", replace(BASE, flags=(*BASE.flags, "-mavx2")), "flags", "only ours: -mavx2"),
    ("swapped flags", replace(BASE, flags=("-fPIC", "-O2", "-Wall")), "flags", "order differs at 0: Bazel -O2, ours -fPIC"),
]


@pytest.mark.parametrize(("ours", "kind", "detail"), [row[1:] for row in MUTANTS], ids=[row[0] for row in MUTANTS])
def test_each_deviation_is_reported_with_its_label(ours: Record, kind: str, detail: str) -> None:
    report = compare([ours, OTHER], [BASE, OTHER]).report()
    assert report.startswith(f"1 {kind}\n{kind}: //a:b a/b.cc\n")
    assert detail in report


def test_missing_extra_and_repeated_units_are_reported() -> None:
    other_source = replace(BASE, source="a/c.cc")
    report = compare([other_source, OTHER, OTHER], [BASE, OTHER]).report()
    assert report.splitlines()[0] == "1 extra, 1 missing, 1 repeated"
    assert "missing: //a:b a/b.cc" in report
    assert "extra: //a:b a/c.cc" in report
    assert "ours: compiled more than once" in report


def test_long_reports_are_cut_and_say_so() -> None:
    theirs = [replace(BASE, source=f"a/{number}.cc") for number in range(5)]
    report = compare([BASE], theirs).report(limit=2)
    assert report.splitlines()[0] == "1 extra, 5 missing"
    assert report.splitlines()[-1] == "... and 4 more"


def test_empty_oracle_is_no_pass() -> None:
    with pytest.raises(BuildError, match="the oracle holds no record to compare with"):
        compare([], [])


def test_allowance_covers_its_side_and_its_items_only() -> None:
    root = ("-iquote", "external/bazel_tools")
    theirs = replace(BASE, includes=(*BASE.includes, root))
    comparison = compare([BASE], [theirs])
    assert comparison.report() == ""
    assert comparison.used == {ALLOWED[0]: 1}
    assert "only ours: -iquote external/bazel_tools" in compare([theirs], [BASE]).report()
    near = replace(BASE, includes=(*BASE.includes, ("-iquote", "external/bazel_tools_more")))
    assert "only Bazel: -iquote external/bazel_tools_more" in compare([BASE], [near]).report()


def test_allowance_does_not_hide_an_order_that_both_sides_have() -> None:
    allowed = [Allowed("flags", side, "-Wall", "test") for side in ("bazel", "ours")]  # type: ignore[arg-type]
    ours = replace(BASE, flags=("-Wall", "-O2", "-fPIC"))
    assert "order differs at 0" in compare([ours], [BASE], allowed).report()


def test_allowance_takes_the_last_of_items_that_both_sides_have() -> None:
    allowed = [Allowed("flags", "bazel", "-g0", "test")]
    ours, theirs = replace(BASE, flags=("-g0", "-O2")), replace(BASE, flags=("-g0", "-O2", "-g0"))
    assert compare([ours], [theirs], allowed).report() == ""
    assert "order differs" in compare([replace(BASE, flags=("-O2", "-g0"))], [theirs], allowed).report()
    assert "only ours: -g0" in compare([theirs], [ours], allowed).report()


def test_every_allowance_has_a_reason() -> None:
    assert all(len(row.reason) > 20 for row in ALLOWED_FOR_TOOLS)


def test_snapshot_survives_the_file_and_its_bytes_do_not_depend_on_order(tmp_path: Path) -> None:
    twin = replace(BASE, source="a/a.cc")
    runs = tuple(bazel_commands(("target", "Genrule", ["/bin/bash", "-c", "cp a b"])))
    text = dump_snapshot(Snapshot({"bazel": "7.7.1"}, (BASE, OTHER, twin), (BASE,), runs))
    assert text == dump_snapshot(Snapshot({"bazel": "7.7.1"}, (twin, OTHER, BASE), (BASE,), runs))
    file = tmp_path / "case.json"
    file.write_text(text)
    assert load_snapshot(file) == Snapshot({"bazel": "7.7.1"}, (twin, BASE, OTHER), (BASE,), runs)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"provenance": {}, "defines": [], "includes": [], "flags": [], "records": [["//a:b", 0, 0, 0, "", ["x"]]], "tools": []}',
    ],
)
def test_broken_snapshot_names_its_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "case.json"
    file.write_text(text)
    with pytest.raises(BuildError, match="not an oracle snapshot") as caught:
        load_snapshot(file)
    assert caught.value.where == str(file)
