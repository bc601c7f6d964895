"""Owns what the oracle is asked about: for each case the real trees that stand for repositories, and the targets.

    case = CASES["xnnpack"]
    case.lock(roots)            # the same case for our evaluator, over the trees' folders

tests/real/oracle/<case>.json is what Bazel said, tests/real/regenerate_oracle.py asks it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litert_build.reports.oracle import Snapshot, load_snapshot
from litert_build.sources.lock import Lock, Product, Repository

from tests.real.trees import require

HERE = Path(__file__).resolve().parent
RULES = {"bazel_skylib": "bazel-skylib", "rules_cc": "rules-cc", "platforms": "platforms"}


@dataclass(frozen=True)
class Case:
    """One question to the oracle. `query` selects the root targets; `trees` maps repositories to rows of the table of trees, `stubs`
    names repositories of which BUILD files load or list something that the closure does not need (tests/real/stubs)."""

    name: str
    main: str
    trees: dict[str, str]
    query: str
    cxxopts: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()
    internal_users: bool = field(default=False)

    @property
    def file(self) -> Path:
        return HERE / "oracle" / f"{self.name}.json"

    def snapshot(self) -> Snapshot:
        """Return what Bazel said. Raises BuildError where it was not asked."""
        return load_snapshot(self.file)

    def folders(self) -> dict[str, Path]:
        """Return the folder of each repository. Skips the running test, by name, where an optional tree cannot be had."""
        trees = {repository: require(tree) for repository, tree in {**RULES, **self.trees}.items()}
        return {**trees, **{name: HERE / "stubs" / name for name in self.stubs}}

    def lock(self, roots: Sequence[str]) -> Lock:
        """Return the lock of this case for the given root labels."""
        return Lock(
            file=self.file,
            ref=self.name,
            release=self.name,
            main=self.main,
            repositories={name: Repository(name=name, path=folder) for name, folder in self.folders().items()},
            roots=tuple(roots),
            product=Product("objects"),
            link_mode="none",
            cxxopts=self.cxxopts,
            visibility="advisory" if self.internal_users else "checked",
        )


def _libraries(pattern: str) -> str:
    return f'kind("cc_library", {pattern}) except attr("testonly", 1, {pattern})'


CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("abseil-20220623", "com_google_absl", {"com_google_absl": "abseil-20220623"}, _libraries("//absl/...")),
        Case("abseil-20240722", "com_google_absl", {"com_google_absl": "abseil-20240722"}, _libraries("//absl/...")),
        Case("abseil-20260526", "abseil-cpp", {"abseil-cpp": "abseil-20260526"}, _libraries("//absl/..."), cxxopts=("-std=c++17",)),
        Case(
            "xnnpack",
            "xnnpack",
            {"xnnpack": "xnnpack-20241108", "cpuinfo": "cpuinfo", "pthreadpool": "pthreadpool", "FXdiv": "fxdiv"},
            "//:XNNPACK",
            internal_users=True,
        ),
        Case("re2", "re2", {"re2": "re2-20240702", "abseil-cpp": "abseil-20240722"}, "//:re2"),
        Case(
            "flatbuffers",
            "com_github_google_flatbuffers",
            {"com_github_google_flatbuffers": "flatbuffers-23.5.26"},
            "set(//:flatbuffers //:flatc)",
            stubs=("aspect_rules_js", "npm"),
        ),
        Case(
            "protobuf",
            "com_google_protobuf",
            {"com_google_protobuf": "protobuf-3.21.12"},
            "set(//:protobuf //:protoc)",
            stubs=("zlib",),
        ),
        Case("highway", "hwy", {"hwy": "highway"}, _libraries("//:*")),
    )
}
