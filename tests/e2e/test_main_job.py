"""The main job on a tiny project: `scons` builds, checks and bundles; whatever is wrong is refused with a sentence that names it."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.engine import REPOSITORY
from tests.e2e.job_project import BUILD, Project, scons

ANSWER = "bazel-out/k8-opt/bin/_objs/answer/answer.pic.o"
BASE = "bazel-out/k8-opt/bin/_objs/base/base.pic.o"
MADE = "bazel-out/k8-opt/bin/made.h"
HOST = "bazel-out/k8-opt/bin/host/libTiny.so"
ARCHIVE = f"{HOST}.libraries.a"
BUNDLE = "bundle/litert-lm-native-runtime-linux-x64-v0.0.1.tar.gz"


def built(project: Project) -> Project:
    result = project.scons()
    assert result.code == 0, result.text
    return project


def refused(project: Project, *sentences: str, arguments: tuple[str, ...] = ()) -> str:
    """Build, and hold that it fails with these sentences, without a traceback, and leaves no bundle."""
    result = project.scons(*arguments)
    assert result.code == 2, result.text
    assert "Traceback" not in result.text
    for sentence in sentences:
        assert sentence in result.text, result.text
    assert project.bundles == []
    return result.text


def test_build_check_bundle_then_nothing_to_do(project: Project) -> None:
    result = project.scons()
    assert result.code == 0, result.text
    assert "Validated in-process LiteRT linkage on linux-x64" in result.text
    assert {ANSWER, BASE, MADE, HOST, BUNDLE} <= result.ran
    assert ctypes.CDLL(str(project.host)).answer() == 42
    checks = json.loads((project.root / "checks.json").read_text())
    assert checks["passed"] and f"checks  {len(checks['rules'])} rules passed" in result.text
    assert Path(BUNDLE).name in [file.name for file in project.bundles]
    assert (project.root / "bundle/manifest.json").is_file() and (project.root / "bundle/SHA256SUMS").is_file()
    again = project.scons()
    assert (again.code, again.ran) == (0, set())
    assert "up to date, 0 actions run, 7 skipped" in again.text
    assert "libTiny.so, " in again.text and "rules passed" in again.text


def test_a_shared_library_as_root_leaves_its_place_to_the_host(project: Project) -> None:
    """It says which symbols to export and under which name; the host has its own of both."""
    project.write("other.lds", "{ local: *; };")
    link = 'linkshared = True, linkopts = ["-Wl,-soname,libother.so", "-Wl,--version-script,$(location other.lds)", "-Wl,-s"]'
    shared = f'cc_binary(name = "libother.so", deps = [":answer", "other.lds"], {link})\n'
    project.write("BUILD", BUILD + shared + 'filegroup(name = "other", srcs = [":libother.so"])\n')
    project.lock["roots"] = ["//:other"]
    result = project.scons()
    assert result.code == 0, result.text
    assert ctypes.CDLL(str(project.host)).answer() == 42
    assert not any("libother" in step for step in result.ran)
    assert "up to date, 0 actions run, 7 skipped" in project.scons().text


def test_what_is_rebuilt(project: Project) -> None:
    built(project)
    project.write("base.h", "int base();  // the same object\n")
    assert project.scons().ran == {ANSWER, BASE}
    project.write("made.in", "43\n")
    assert project.scons().ran == {MADE, BASE, ARCHIVE, HOST, BUNDLE}
    assert ctypes.CDLL(str(project.host)).answer() == 43
    project.replace("BUILD", 'name = "base",', 'name = "base",\n    defines = ["NEW=1"],')
    assert project.scons().ran >= {ANSWER, BASE}
    assert project.scons().ran == set()
    project.bundles[0].unlink()
    assert project.scons().ran == {BUNDLE}


def test_a_new_file_in_a_glob_is_found(project: Project) -> None:
    project.replace("BUILD", 'srcs = ["base.cc"]', 'srcs = glob(["ba*.cc"])')
    built(project)
    project.write("basement.cc", "int basement() { return 1; }\n")
    result = project.scons()
    assert "bazel-out/k8-opt/bin/_objs/base/basement.pic.o" in result.ran
    (project.folder / "tiny/basement.cc").unlink()
    result = project.scons()
    assert result.code == 0 and {ANSWER, BASE, MADE}.isdisjoint(result.ran)
    assert project.scons().ran == set()


def test_a_flag_given_again_with_the_same_value_runs_nothing(project: Project) -> None:
    built(project)
    assert project.scons("link_mode=static").ran <= {HOST, BUNDLE}
    assert project.scons("link_mode=static").ran == set()


def test_another_bundle_tag_packs_again_and_links_nothing(project: Project) -> None:
    built(project)
    assert project.scons("tag=v0.0.1-rc1").ran == {"bundle/litert-lm-native-runtime-linux-x64-v0.0.1-rc1.tar.gz"}
    assert project.bundles and all("v0.0.1-rc1" in file.name for file in project.bundles), "what manifest.json does not name is gone"


def test_another_date_or_signature_packs_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    built(project)
    before = project.bundles[0].read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    assert project.scons().ran == {"bundle/litert-lm-native-runtime-linux-x64-v0.0.1.tar.gz"}
    assert project.bundles[0].read_bytes() != before
    monkeypatch.setenv("LITERT_LM_SIGN", "nonsense")
    refused(project, "LITERT_LM_SIGN")


def test_a_tag_that_names_no_file_is_refused_before_anything_is_compiled(project: Project) -> None:
    result = project.scons("tag=a/b")
    assert result.code == 2
    assert "release=: 'a/b' cannot be part of a file name" in result.text and "ran " not in result.text


def test_a_host_is_built_with_a_cache_and_its_objects_are_taken_from_it(project: Project, tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    result = project.scons(cache)
    assert result.code == 0 and "0 hits, 2 misses" in result.text, result.text
    other = Project(tmp_path / "other")
    result = other.scons(cache)
    assert result.code == 0 and "2 hits, 0 misses" in result.text, result.text
    assert other.host.is_file() and other.bundles


def test_a_cache_that_is_no_folder(project: Project, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    refused(project, "the cache is no folder", arguments=(f"cache={tmp_path / 'cache'}",))


def test_companions_that_are_not_there_are_refused_where_all_else_is_up_to_date(project: Project) -> None:
    assert project.scons().code == 0
    result = project.scons(f"companions={project.folder}/nowhere")
    assert result.code == 2
    assert f"companions={project.folder}/nowhere: there is no such folder of companions" in result.text


def test_a_swapped_compiler_rebuilds(project: Project) -> None:
    built(project)
    compiler = project.folder / "bin" / "g++"
    compiler.parent.mkdir()
    for name in ("g++", "gcc"):
        (compiler.parent / name).write_text(f'#!/bin/sh\nexec /usr/bin/{name} "$@"\n')
        (compiler.parent / name).chmod(0o755)
    result = project.scons(f"cc={compiler.parent / 'gcc'}", f"cxx={compiler}")
    assert {ANSWER, BASE} <= result.ran and MADE not in result.ran
    compiler.write_text('#!/bin/sh\n# another build of it\nexec /usr/bin/g++ "$@"\n')
    assert {ANSWER, BASE} <= project.scons(f"cc={compiler.parent / 'gcc'}", f"cxx={compiler}").ran


def test_goals_stop_where_they_are_named(project: Project) -> None:
    assert project.scons("fetch").code == 0
    assert (project.root / "external/tiny/BUILD").is_file() and not (project.root / MADE).exists()
    assert project.scons("host").code == 0
    assert project.host.is_file() and project.bundles == []
    assert project.scons("objects").ran == set()
    assert project.scons("check").ran == set()
    assert project.scons("bundle").ran == {BUNDLE}


def test_what_a_smaller_goal_left_out_is_made_by_the_next_build(project: Project) -> None:
    built(project)
    project.replace("base.cc", "to_string(MADE)", "to_string(MADE + 1)")
    assert project.scons("objects").ran == {BASE}
    assert project.scons().ran >= {ARCHIVE, HOST, BUNDLE}


def test_objects_without_a_host(project: Project) -> None:
    project.lock["product"] = {"kind": "objects"}
    result = project.scons()
    assert result.code == 0, result.text
    assert result.ran == {ANSWER, BASE, MADE}
    assert project.scons().ran == set()


def test_actions_and_compiledb(project: Project) -> None:
    result = project.scons("actions", "compiledb")
    assert result.code == 0 and result.ran == set(), result.text
    record = json.loads((project.root / "actions.json").read_text())[0]
    assert list(record) == ["label", "source", "output", "configuration", "defines", "includes", "flags"]
    assert (record["source"], record["configuration"]) in (("base.cc", "k8-opt"), ("answer.cc", "k8-opt"))
    assert ["-iquote", "."] in record["includes"] and "NDEBUG" in record["defines"] and "-O2" in record["flags"]
    built(project)
    for entry in json.loads((project.folder / "compile_commands.json").read_text()):
        assert entry["directory"] == str(project.root)
        assert subprocess.run(entry["arguments"], cwd=entry["directory"], check=False).returncode == 0


def test_clean_removes_all_that_was_made(project: Project) -> None:
    built(project)
    project.host.with_name("libTiny.so.rejected").write_text("of a build that was refused")
    project.write("BUILD", "cc_libary(")
    count = sum(path.is_symlink() or path.is_file() for path in project.root.rglob("*")) - 1
    assert f"would remove {count} files of {project.root}\n" in project.scons("-c", "-n").text
    assert project.host.is_file()
    result = project.scons("-c")
    assert (result.code, result.text) == (0, f"removed {count} files of {project.root}\n")
    assert [path for path in project.root.rglob("*") if not path.is_dir()] == [project.root / ".build/lock"]
    assert (project.folder / "tiny/base.cc").is_file()
    project.write("BUILD", BUILD)
    assert ANSWER in project.scons().ran


def test_clean_takes_no_goals(project: Project) -> None:
    built(project)
    refusal = "-c host: -c removes all that was made for a target and ref\n  -> scons -c, without goals"
    result = project.scons("-c", "host")
    assert result.code == 2 and refusal in result.text
    assert project.host.is_file()


def test_one_object_by_its_path(project: Project) -> None:
    result = project.scons(str(project.root / BASE))
    assert result.code == 0, result.text
    assert result.ran == {MADE, BASE}


def test_a_file_that_no_step_makes(project: Project) -> None:
    wanted = project.root / "answer.pic.o"
    refused(project, f"{wanted}: no step makes this file\n  -> did you mean ", f"{ANSWER}?", arguments=(str(wanted),))


def test_a_build_from_another_folder(project: Project, tmp_path: Path) -> None:
    """The project is named by -f: what is made goes below the folder that scons runs in."""
    there = tmp_path / "there"
    there.mkdir()
    arguments = [f"lock={project.folder / 'lock.json'}", "offline=yes", f"store={project.folder / 'store'}"]
    project.arguments()
    command = [sys.executable, "-m", "SCons", "-Q", "-f", REPOSITORY / "SConstruct"]
    done = subprocess.run([*command, *arguments], cwd=there, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "host    build/linux-x64/tiny/bazel-out/k8-opt/bin/host/libTiny.so, " in done.stdout
    sample = subprocess.run([*command, "fetch"], cwd=there, capture_output=True, text=True, timeout=300, check=False)
    assert "repositories of sample are in place" in sample.stdout, sample.stderr


@pytest.mark.parametrize("arguments", [(), ("-h",), ("targets",), ("hots",)])
def test_nobody_reads_what_is_printed(project: Project, arguments: tuple[str, ...]) -> None:
    """As in `scons | head -1`: the run goes on to its own end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reader, writer = os.pipe()
    os.close(reader)
    command = project.arguments(*arguments)
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr, done.stderr
    assert done.returncode == (2 if arguments == ("hots",) else 0), done.stderr
    assert project.host.is_file() == (not arguments)


def test_an_interrupted_build_says_what_is_left_and_shows_nothing_of_the_one_before(project: Project) -> None:
    project.replace("BUILD", 'cmd = "echo', 'cmd = "sleep `cat $(location wait.in)`; echo')
    project.replace("BUILD", 'srcs = ["made.in"]', 'srcs = ["made.in", "wait.in"]')
    project.replace("BUILD", "`cat $<` > $@", "`cat $(location made.in)` > $@")
    project.write("wait.in", "0\n")
    built(project)
    project.write("wait.in", "30\n")
    process = subprocess.Popen(
        project.arguments(), cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    made = project.root / MADE
    while made.exists():  # the genrule's own start removes it
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode != 0 and "left to do" in text, text
    assert not any(line.startswith(("host ", "checks ", "bundle ")) for line in text.splitlines()), text
    assert "up to date" not in text and project.bundles == []


def test_dry_run_names_the_steps_and_makes_nothing(project: Project) -> None:
    result = project.scons("-n")
    assert result.code == 0 and "Compile answer.cc" in result.text
    assert "0 actions run, 0 skipped, 7 left to do" in result.text and "up to date" not in result.text
    assert not (project.root / ANSWER).exists()


# Bad input


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("--nonsense", "--nonsense: unknown option '--nonsense'\n  -> `scons -h` lists the options, `scons -H` those of SCons"),
        ("--target=linux-x64", "--target: unknown option '--target'\n  -> options have no dashes: target=..."),
        ("--keep", "--keep: unknown option '--keep'\n  -> did you mean --keep-going?"),
        ("cache_limit=abc", "cache_limit=abc: cache_limit takes a size, not 'abc'\n  -> cache_limit=5G"),
        ("cache=SConstruct", f"cache={REPOSITORY / 'SConstruct'}: the cache is no folder"),
        ("launcher=/nope", "launcher=/nope: no launcher '/nope'\n  -> name a program, as in launcher=ccache"),
        ("launcher='ccache", "launcher='ccache: the command cannot be split into words: No closing quotation\n  -> close the quotation"),
        ("targets host", "targets host: targets is a command of its own\n  -> scons targets"),
    ],
)
def test_a_wrong_word_is_refused_where_all_is_up_to_date(project: Project, argument: str, sentence: str) -> None:
    built(project)
    result = project.scons(*argument.split())
    assert result.code == 2 and sentence in result.text, result.text
    assert "total " not in result.text


@pytest.mark.parametrize(
    ("argument", "sentence", "mend"),
    [
        ("targt=linux-x64", "targt=linux-x64: unknown option 'targt'", "did you mean target?"),
        ("target=linux-x46", "unknown target 'linux-x46'", "did you mean linux-x64?"),
        ("ref=sampel", "unknown ref 'sampel'", "did you mean sample?"),
        ("toolchain=gc", "unknown toolchain 'gc'", "did you mean gcc?"),
        ("offline=yess", "offline takes yes, no, not 'yess'", "did you mean yes?"),
        ("hots", "unknown goal 'hots'", "did you mean host?"),
        (
            "explain=//c:engine ref=v0.19.1",
            "unknown ref 'v0.19.1'",
            "scons lock ref=v0.19.1 makes its lock; the locks here: sample, sample-rust",
        ),
        ("lock", "ref=: the lock of sample is written by hand", "scons lock ref=v0.19.1"),
        ("patches ref=v0.15.1", "there is no lock of v0.15.1", "make it: scons lock ref=v0.15.1"),
        (
            "lock ref=v0.12.0 diff=yes",
            "there is no lock to compare v0.12.0 with",
            "make the lock of an older release first (scons lock ref=REF)",
        ),
        ("lock ref=v0.12.0 offline=yes", "the commit of v0.12.0 is not in the store", "what a tag means is asked of the network"),
    ],
)
def test_unknown_words_name_the_nearest_and_build_nothing(tmp_path: Path, argument: str, sentence: str, mend: str) -> None:
    result = scons(*argument.split(), f"build_dir={tmp_path / 'build'}")
    assert result.code == 2
    assert sentence in result.text and mend in result.text
    assert "Traceback" not in result.text
    assert not list((tmp_path).rglob("*.o"))


def test_help_is_grouped_and_has_examples() -> None:
    result = scons("-h")
    assert result.code == 0
    positions = [result.text.index(f"\n{word}\n") for word in ("Examples", "Goals", "Commands", "What is built", "Compilers", "Sources")]
    assert positions == sorted(positions)
    assert "scons target=linux-x64 ref=v0.19.1" in result.text


def test_targets_lists_the_table() -> None:
    result = scons("targets")
    assert result.code == 0
    assert "linux-x64" in result.text and "libLiteRtLm.so" in result.text


FAULTS = {
    "syntax": ("cc_library(name = 'x'\n", ["BUILD"]),
    "undefined name": ("x = undefined_thing\n", ["BUILD:", "undefined_thing"]),
    "unknown rule": ("cc_libary(name = 'x')\n", ["BUILD:", "cc_libary"]),
    "unknown attribute": ("cc_library(name = 'x', sorces = [])\n", ["BUILD:", "sorces"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_build_file(project: Project, fault: str) -> None:
    text, sentences = FAULTS[fault]
    project.write("BUILD", project.folder.joinpath("tiny/BUILD").read_text() + text)
    refused(project, *sentences)


def test_a_folder_in_the_place_of_an_output(project: Project) -> None:
    project.host.mkdir(parents=True)
    refused(project, f"{project.host}: a folder stands where the build makes a file\n  -> remove it")


def test_a_missing_source(project: Project) -> None:
    (project.folder / "tiny/base.cc").unlink()
    refused(project, "base.cc", "BUILD:")


def test_a_missing_source_of_a_macro(project: Project) -> None:
    (project.folder / "tiny/answer.cc").unlink()
    refused(project, "answer.cc", "BUILD:4", "in unit at ")


def test_a_fault_inside_a_macro_shows_its_stack(project: Project) -> None:
    project.replace("rules.bzl", "name = name,", "name = nome,")
    refused(project, "nome", "rules.bzl:3")


def test_a_dependency_cycle_prints_its_path(project: Project) -> None:
    project.replace("BUILD", 'srcs = ["base.cc"],', 'srcs = ["base.cc"],\n    deps = [":answer"],')
    text = refused(project, "cycle")
    assert text.index("//:answer") < text.index("//:base")


def test_a_private_name(project: Project) -> None:
    project.replace("BUILD", '"unit")', '"unit", "_own")')
    refused(project, "_own", "BUILD:2")


def test_no_compiler(project: Project) -> None:
    tools = project.folder / "empty"
    tools.mkdir()
    result = project.scons(path=str(tools))
    assert result.code == 2
    assert "no C compiler for linux-x64" in result.text and "apt-get install g++" in result.text


def test_a_compile_error_is_printed_whole_and_nothing_is_bundled(project: Project) -> None:
    built(project)
    project.write("base.cc", "int base() { return missing_name; }\n")
    text = refused(project, "FAILED: Compile base.cc", "//:base (", "BUILD:6", "missing_name", "1 step failed:")
    assert text.count("error: ‘missing_name’ was not declared in this scope") + text.count("error: 'missing_name'") == 2


def test_a_required_export_that_is_missing(project: Project) -> None:
    built(project)
    project.lock["product"]["required"] = ["answer", "question"]  # type: ignore[index]
    refused(project, "question", "was moved to", "libTiny.so.rejected")
    assert not project.host.exists() and project.host.with_name("libTiny.so.rejected").is_file()
    assert not json.loads((project.root / "checks.json").read_text())["passed"]
    refused(project, "question")
    project.lock["product"]["required"] = ["answer"]  # type: ignore[index]
    built(project)


def test_an_extra_export(project: Project) -> None:
    source = project.write("extra.cc", 'extern "C" int answer() { return 1; }\nextern "C" int leaked() { return 2; }\n')
    library = project.folder / "libTiny.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-Wl,-soname,libTiny.so", "-o", library, source], check=True)
    result = project.scons("check", f"file={library}")
    assert result.code == 1, result.text
    assert "leaked" in result.text and "only-exports" in result.text


def test_a_build_of_the_host_alone_leaves_no_bundle_of_another_host(project: Project) -> None:
    built(project)
    project.replace("base.cc", "MADE)", "MADE /* as before */)")
    same = project.scons("host")
    assert same.code == 0 and "\nbundle  " in same.text and project.bundles
    project.replace("made.in", "42", "43")
    other = project.scons("host")
    assert other.code == 0 and "\nhost  " in other.text and "\nbundle  " not in other.text
    assert project.bundles == []
    built(project)
    assert project.bundles


def test_a_library_is_judged_by_a_release_that_has_no_lock_here(project: Project) -> None:
    source = project.write("extra.cc", 'extern "C" int litert_lm_engine_create() { return 1; }\n')
    library = project.folder / "libLiteRtLm.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-Wl,-soname,libLiteRtLm.so", "-o", library, source], check=True)
    result = scons("check", f"file={library}", "target=linux-x64", "ref=v0.19.1", f"build_dir={project.folder / 'build'}")
    assert result.code == 1, result.text
    assert "BROKEN  required-exports" in result.text and "litert_lm_conversation_create: not in the export table" in result.text
    newest = scons("check", f"file={library}", "target=linux-x64", f"build_dir={project.folder / 'build'}")
    assert "BROKEN  required-exports" not in newest.text


def test_an_undeclared_inclusion_is_named_and_only_strict_refuses_it(project: Project) -> None:
    project.write("secret.h", "int secret();\n")
    project.replace("base.cc", '#include "made.h"', '#include "made.h"\n#include "secret.h"')
    complaint = "undeclared inclusion in //:base: base.cc reads what no hdrs, srcs or textual_hdrs of its dependencies names\n    secret.h"
    refused(project, complaint, "add the library that declares it to deps", arguments=("headers=strict",))
    warned = project.scons()
    assert warned.code == 0 and complaint in warned.text
    project.write("secret.h", "int secret(int);\n")
    assert "undeclared inclusion in" not in project.scons("headers=off").text


def test_an_object_of_the_cache_does_not_hide_an_undeclared_inclusion(project: Project, tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    project.write("secret.h", "int secret();\n")
    project.replace("base.cc", '#include "made.h"', '#include "made.h"\n#include "secret.h"')
    assert project.scons(cache, "headers=off").code == 0
    shutil.rmtree(project.root)
    warned = project.scons(cache)
    assert f"ran {BASE}: restored from the cache" in warned.text and "undeclared inclusion in //:base" in warned.text
    shutil.rmtree(project.root)
    refused(project, "undeclared inclusion in //:base", arguments=(cache, "headers=strict"))


def test_an_import_of_libLiteRt(project: Project) -> None:
    library = project.folder / "libLiteRt.so"
    source = project.write("other.cc", 'extern "C" int LiteRtThing() { return 1; }\n')
    subprocess.run(["g++", "-shared", "-fPIC", "-Wl,-soname,libLiteRt.so", "-o", library, source], check=True)
    project.lock["linkopts"] = ["-Wl,--no-as-needed", f"-L{project.folder}", "-lLiteRt"]
    refused(project, "libLiteRt.so", "BROKEN  runtime-imports", "libTiny.so.rejected")
    assert not project.host.exists()


def test_a_read_only_build_folder(project: Project) -> None:
    """Root writes everywhere but where the file system itself is read-only."""
    folder = project.folder / "build"
    folder.mkdir(mode=0o555)
    if os.geteuid() != 0:
        refused(project, "cannot write the build folder: Permission denied", "build_dir=PATH")
        return
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", folder], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no read-only file system can be mounted here: {mounted.stderr.strip()}")
    try:
        refused(project, "cannot write the build folder: Read-only file system", "build_dir=PATH")
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_build_folder_that_cannot_be_made(project: Project) -> None:
    (project.folder / "build").write_text("a file is in the way")
    refused(project, "cannot write the build folder", "build_dir=PATH")


def test_a_full_disk(project: Project) -> None:
    full = project.folder / "build" / "linux-x64" / "tiny" / ".build"
    full.mkdir(parents=True)
    (full / "dependencies.journal").symlink_to("/dev/full")
    result = project.scons()
    assert result.code == 2
    assert "No space left on device" in result.text


def test_paths_with_blanks_and_non_ascii_letters(tmp_path: Path) -> None:
    project = built(Project(tmp_path / "größe und maß"))
    assert project.scons().ran == set()


def test_a_moved_build_folder_is_still_good(project: Project, tmp_path: Path) -> None:
    built(project)
    shutil.move(project.folder / "build", tmp_path / "elsewhere")
    result = project.scons(f"build_dir={tmp_path / 'elsewhere'}")
    assert result.code == 0 and {ANSWER, BASE, MADE}.isdisjoint(result.ran), result.text


def test_the_traceback_comes_when_asked_for(project: Project) -> None:
    project.lock["roots"] = ["//:nothing"]
    refused(project, "nothing")
    assert "Traceback" in project.scons("debug=yes").text


def test_no_scons_import_in_the_model() -> None:
    for file in (REPOSITORY / "site_scons/litert_build").rglob("*.py"):
        assert "import SCons" not in file.read_text() and "from SCons" not in file.read_text(), file
