"""The files that the gate reads and writes beside binaries: headers, waivers, SARIF."""

from __future__ import annotations

import dataclasses
import json
from datetime import date
from pathlib import Path

import pytest
from litert_build.checks.gate import check_context
from litert_build.checks.headers import read_api
from litert_build.checks.model import Waiver
from litert_build.checks.samples import sound
from litert_build.checks.sarif import to_sarif
from litert_build.checks.waivers import read_waivers
from litert_build.errors import BuildError

HEADER = r"""
// A comment with int not_a_function(void);
/* and another:
   void nor_this(int); */
#ifndef ENGINE_H_
#define ENGINE_H_
#define LITERT_LM_EXPORT __attribute__((visibility("default")))
#define TWO_LINES(a) \
  int neither_this(int a);
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct LiteRtLmEngine LiteRtLmEngine;
typedef enum { kText = 0, kImage = 1 } LiteRtLmInputType;
enum LiteRtLmStatus { kOk = 0 };
typedef struct { int x; float y; } LiteRtLmPoint;
typedef void (*LiteRtLmStreamCallback)(void* data, const LiteRtLmChunk* chunk);
typedef int32_t LiteRtLmToken;
LITERT_LM_EXPORT
LiteRtLmEngine* litert_lm_engine_create(const LiteRtLmEngineSettings* settings);
LITERT_LM_EXPORT void litert_lm_engine_delete(LiteRtLmEngine* engine);
LITERT_LM_EXPORT int litert_lm_stream(LiteRtLmEngine* engine, LiteRtLmStreamCallback callback,
                                      void* callback_data);
__attribute__((visibility("default"))) bool litert_lm_is_final(const LiteRtLmChunk*);
float litert_lm_score(LiteRtLmInputType type, enum LiteRtLmStatus status, size_t count, const int tokens[], LiteRtLmToken last);
LiteRtLmPoint litert_lm_point(LiteRtLmPoint at, unsigned long long id, const char *name);
void litert_lm_inline_callback(int (*compare)(const void*, const void*), void);
static inline int litert_lm_helper(int value) { return value + 1; }
unsigned litert_lm_version(void);
#ifdef __cplusplus
}  // extern "C"
#endif
#endif
"""


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "engine.h"
    path.write_text(HEADER)
    return path


def test_signatures_are_words_of_the_calling_convention(header: Path) -> None:
    assert read_api([header]) == {
        "litert_lm_engine_create": "ptr(ptr)",
        "litert_lm_engine_delete": "void(ptr)",
        "litert_lm_stream": "i32(ptr, fn{void(ptr, ptr)}, ptr)",
        "litert_lm_is_final": "bool(ptr)",
        "litert_lm_score": "f32(i32, i32, size, ptr, i32)",
        "litert_lm_point": "LiteRtLmPoint(LiteRtLmPoint, u64, ptr)",
        "litert_lm_inline_callback": "void(fn{i32(ptr, ptr)}, void)",
        "litert_lm_version": "u32()",
    }


def test_a_callback_that_changes_its_shape_changes_the_signature(header: Path) -> None:
    before = read_api([header])["litert_lm_stream"]
    header.write_text(HEADER.replace("(void* data, const LiteRtLmChunk* chunk)", "(void* data, char* text, bool last, char* error)"))
    assert read_api([header])["litert_lm_stream"] == before.replace("void(ptr, ptr)", "void(ptr, ptr, bool, ptr)")


def test_names_of_parameters_and_typedefs_of_pointers_change_nothing(header: Path) -> None:
    before = read_api([header])
    header.write_text(HEADER.replace("settings)", "s)").replace("size_t count", "size_t"))
    assert read_api([header]) == before


def test_two_declarations_that_differ_are_an_error_with_both(header: Path, tmp_path: Path) -> None:
    (tmp_path / "other.h").write_text("int litert_lm_engine_create(void* settings, void** engine);")
    with pytest.raises(BuildError) as caught:
        read_api([header, tmp_path / "other.h"])
    assert "litert_lm_engine_create is declared as ptr(ptr) and as i32(ptr, ptr)" in str(caught.value)
    assert "other.h" in caught.value.where


def test_a_header_that_is_absent_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot read the header"):
        read_api([tmp_path / "absent.h"])


def test_the_rule_reads_the_headers_of_the_policy(header: Path) -> None:
    policy = dataclasses.replace(
        sound("linux-x64").policy, headers=(header,), signatures={"litert_lm_engine_create": "i32(ptr, ptr)", "litert_lm_gone": "void()"}
    )
    text = check_context(dataclasses.replace(sound("linux-x64"), policy=policy, api=None)).text
    assert "litert_lm_engine_create: declared as ptr(ptr), the bridge was written for i32(ptr, ptr)" in text
    assert "litert_lm_gone: no header declares it" in text


GOOD = {"rule": "bind-now", "reason": "upstream links lazily, issue 12", "until": "2027-03-31"}


def write(folder: Path, content: object) -> Path:
    path = folder / "waivers.json"
    path.write_text(json.dumps(content))
    return path


def test_waivers_are_read_with_wildcards_for_what_is_not_said(tmp_path: Path) -> None:
    assert read_waivers(write(tmp_path, [GOOD])) == (Waiver("bind-now", GOOD["reason"], date(2027, 3, 31), "*", "*"),)
    assert read_waivers(tmp_path / "absent.json") == ()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rule": "bindnow"}, "no rule is called 'bindnow'"),
        ({"reason": " "}, "a waiver needs a reason"),
        ({"until": "next year"}, "a waiver needs an end date"),
        ({"until": ""}, "a waiver needs an end date"),
        ({"subjct": "*"}, "unknown field 'subjct'"),
        ({"until": 2027}, "a waiver is an object of texts"),
    ],
)
def test_a_faulty_waiver_is_an_error_with_its_number(tmp_path: Path, change: dict[str, object], text: str) -> None:
    with pytest.raises(BuildError) as caught:
        read_waivers(write(tmp_path, [GOOD, {**GOOD, **change}]))
    assert text in caught.value.what and "waiver 2" in caught.value.where


def test_the_nearest_rule_and_field_are_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        read_waivers(write(tmp_path, [{**GOOD, "rule": "bindnow"}]))
    assert caught.value.mend == "did you mean bind-now?"


@pytest.mark.parametrize("content", ["{", '"text"', "{}"])
def test_a_file_that_is_no_list_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "waivers.json").write_text(content)
    with pytest.raises(BuildError) as caught:
        read_waivers(tmp_path / "waivers.json")
    assert caught.value.mend == "write a JSON list of objects"


def test_a_waived_finding_is_a_suppressed_note_in_sarif() -> None:
    context = sound("linux-x64")
    waiver = Waiver("bind-now", "upstream links lazily, issue 12", date(2027, 3, 31))
    context = dataclasses.replace(
        context, facts=dataclasses.replace(context.facts, bind_now=False), policy=dataclasses.replace(context.policy, waivers=(waiver,))
    )
    (result,) = json.loads(to_sarif([check_context(context)]))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("bind-now", "note")
    assert result["suppressions"] == [{"kind": "external", "justification": "upstream links lazily, issue 12 (until 2027-03-31)"}]
