"""Owns what the oracle is asked about: for each case the real trees that stand for repositories, and the targets.

    lock = CASES["xnnpack"].lock(roots)      # the case for our evaluator; without roots, for whoever wants only its trees
    trees = materialize(lock, store=folder, overlays_dir=folder)

tests/real/oracle/<case>.json is what Bazel said, tests/real/regenerate_oracle.py asks it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from litert_build.reports.oracle import Snapshot, load_snapshot
from litert_build.sources.lock import FileRef, Lock, Product, Repository

from tests.real.trees import tree_path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Case:
    """One question to the oracle. `query` selects the root targets; `trees` maps repositories to rows of the table of trees; `stubs`
    names repositories of ours (tests/real/stubs), mostly what BUILD files load or list and the closure does not need; `overlays`
    maps repositories to the files of the main tree that stand in them, by their path inside; `fused` is a folder of the repository
    `fused_into` whose files stand at that tree's root, `written` are further files of it by their content; `lock_file` is a lock that
    says it all.
    """

    name: str
    main: str
    trees: dict[str, str]
    query: str
    cxxopts: tuple[str, ...] = ()
    defines: dict[str, str] = field(default_factory=dict)
    stubs: tuple[str, ...] = ()
    overlays: dict[str, dict[str, str]] = field(default_factory=dict)
    fused_into: str = ""
    fused: str = ""
    written: dict[str, str] = field(default_factory=dict)
    internal_users: bool = False
    lock_file: Path | None = None

    @property
    def file(self) -> Path:
        return HERE / "oracle" / f"{self.name}.json"

    def snapshot(self) -> Snapshot:
        """Return what Bazel said. Raises BuildError where it was not asked."""
        return load_snapshot(self.file)

    def lock(self, roots: Sequence[str] = ()) -> Lock:
        """Return the lock of this case. Raises TreeMissing where one of its trees cannot be had."""
        if self.lock_file:
            return replace(Lock.read(self.lock_file), roots=tuple(roots))
        folders = {name: tree_path(tree) for name, tree in self.trees.items()} | {name: HERE / "stubs" / name for name in self.stubs}
        return Lock(
            file=self.file,
            ref=self.name,
            release=self.name,
            main=self.main,
            repositories={name: Repository(name, folder, link_files=self._laid_over(name, folder)) for name, folder in folders.items()},
            roots=tuple(roots),
            product=Product("objects"),
            link_mode="none",
            cxxopts=self.cxxopts,
            defines=self.defines,
            visibility="advisory" if self.internal_users else "checked",
        )

    def _laid_over(self, repository: str, folder: Path) -> dict[str, FileRef]:
        if repository == self.fused_into:
            fused = [file for file in (folder / self.fused).rglob("*") if file.is_file()]
            files = {file.relative_to(folder / self.fused).as_posix(): FileRef(path=file) for file in sorted(fused)}
            return files | {inside: FileRef(content=text) for inside, text in self.written.items()}
        if repository not in self.overlays:
            return {}
        files = {inside: FileRef(repository=self.main, inner=file) for inside, file in self.overlays[repository].items()}
        return {"WORKSPACE": FileRef(content=""), **files}  # Bazel takes a folder for a repository only where it finds this file


def _libraries(pattern: str) -> str:
    return f'kind("cc_library", {pattern}) except attr("testonly", 1, {pattern})'


def _llvm(name: str, root: str, main: str = "llvm-project") -> Case:
    """LLVM's overlay as its own repository rule lays it out: BUILD files over the tree, the version and the back ends written.

    Bazel evaluates LLVM as the main repository, but runs its table generator only where it is another: with the main one's empty
    workspace_root LLVM's gentbl() makes `-I /llvm/include`. Then `main` is a repository of ours.
    """
    version = {
        "CMAKE_CXX_STANDARD": "17",
        "LLVM_VERSION_MAJOR": "19",
        "LLVM_VERSION_MINOR": "1",
        "LLVM_VERSION_PATCH": "7",
        "LLVM_VERSION_SUFFIX": "",
        "LLVM_VERSION": "19.1.7",
        "PACKAGE_VERSION": "19.1.7",
    }
    back_ends = "AArch64 AMDGPU ARM AVR BPF Hexagon Lanai LoongArch Mips MSP430 NVPTX PowerPC RISCV Sparc SystemZ VE WebAssembly X86 XCore"
    lines = [f'{key} = "{value}"' for key, value in version.items()]
    return Case(
        name,
        main,
        {"llvm-project": "llvm-toolchain-19"},
        root,
        cxxopts=("-std=c++17",),
        stubs=("llvm_zlib", "llvm_zstd", *({main} - {"llvm-project"})),
        fused_into="llvm-project",
        fused="utils/bazel/llvm-project-overlay",
        written={
            "BUILD.bazel": "",
            "vars.bzl": "\n".join([*lines, "llvm_vars = {" + ", ".join(f'"{key}": {key}' for key in version) + "}"]) + "\n",
            "llvm/targets.bzl": f"llvm_targets = {back_ends.split()}\n",
        },
    )


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
        Case(
            "proto-user",
            "proto_user",
            {"com_google_protobuf": "protobuf-3.21.12"},
            "//schema:draw",
            stubs=("proto_user", "zlib"),
        ),
        Case("constructs", "constructs", {}, "set(//app:app //app:libplugin.so //more:more)", stubs=("constructs",)),
        Case("highway", "hwy", {"hwy": "highway"}, _libraries("//:*")),
        Case("benchmark", "com_google_benchmark", {"com_google_benchmark": "benchmark"}, "//:benchmark_main"),
        Case("brotli", "org_brotli", {"org_brotli": "brotli"}, 'kind("cc_(library|binary)", //:*)'),
        Case("gemmlowp", "gemmlowp", {"gemmlowp": "gemmlowp"}, _libraries("//:*")),
        Case("googletest", "com_google_googletest", {"com_google_googletest": "googletest"}, "//:gtest_main"),
        Case("snappy", "snappy", {"snappy": "snappy"}, "//:snappy"),
        Case(
            "tflite",
            "org_tensorflow",
            {
                "org_tensorflow": "tensorflow-2.14.1",
                "FP16": "fp16",
                "FXdiv": "fxdiv",
                "arm_neon_2_x86_sse": "neon-2-sse",
                "com_google_absl": "abseil-20240722",
                "com_google_protobuf": "protobuf-3.21.12",
                "cpuinfo": "cpuinfo",
                "eigen_archive": "eigen3",
                "farmhash_archive": "farmhash",
                "fft2d": "oourafft",
                "flatbuffers": "flatbuffers-23.5.26",
                "gemmlowp": "gemmlowp",
                "pthreadpool": "pthreadpool",
            },
            "//tensorflow/lite/c:tensorflowlite_c",
            cxxopts=("-std=c++17",),
            defines={"tflite_with_xnnpack": "false", "tflite_kernel_use_xnnpack": "false"},
            stubs=(
                "build_bazel_rules_android",
                "com_github_grpc_grpc",
                "local_config_cuda",
                "local_config_remote_execution",
                "local_config_rocm",
                "local_config_tensorrt",
                "ruy",
                "zlib",
            ),
            overlays={
                "FP16": {"BUILD.bazel": "third_party/FP16/FP16.BUILD"},
                "arm_neon_2_x86_sse": {"BUILD.bazel": "third_party/arm_neon_2_x86_sse.BUILD"},
                "eigen_archive": {"BUILD.bazel": "third_party/eigen3/eigen_archive.BUILD"},
                "farmhash_archive": {"BUILD.bazel": "third_party/farmhash/farmhash.BUILD"},
                "fft2d": {"BUILD.bazel": "third_party/fft2d/fft2d.BUILD"},
                "flatbuffers": {
                    "BUILD.bazel": "third_party/flatbuffers/flatbuffers.BUILD",
                    "build_defs.bzl": "third_party/flatbuffers/build_defs.bzl",
                },
            },
        ),
        Case(
            "sample",
            "litert_lm",
            {},
            "set(//c:engine @litert_lm_native//stream_proxy:stream_proxy)",
            lock_file=HERE.parents[1] / "third_party" / "refs" / "sample.json",
        ),
        _llvm("clang", "//clang:clang"),
        _llvm("mlir-opt", "//mlir:mlir-opt"),
    )
}

# Built, and not asked about.
LLVM_TABLES = _llvm("llvm-tables", "@llvm-project//clang:clang", main="llvm_user")
