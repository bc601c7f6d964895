"""Owns the small binaries that the readers' unit tests and fuzzing start from: tests/unit/test_binaries_seeds.zip.

python -m tests.e2e.gate_seeds      (from the project's root; needs clang-19, lld-19 and llvm-19)
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from pathlib import Path

SEEDS = Path(__file__).parents[1] / "unit" / "test_binaries_seeds.zip"
_C = """
extern int outside(int); extern int maybe(void) __attribute__((weak));
int plain(void) { return outside(1); }
int old_one(void) { return maybe ? maybe() : 0; }
int data_one = 3; _Thread_local int tls_one = 4;
const char trace[] = "St3__1 libc++abi:  libLiteRt.so libLiteRt.dll libLiteRt.dylib";
"""
_TBD = """--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ arm64-macos, x86_64-macos ]
    symbols: [ _outside, _maybe, dyld_stub_binder, __tlv_bootstrap ]
...
"""


def _run(folder: Path, *argv: str) -> None:
    subprocess.run(argv, cwd=folder, check=True)


def _elf(folder: Path, name: str, triple: str, *flags: str) -> None:
    compiler = ("clang-19", f"--target={triple}", "--ld-path=/usr/bin/ld.lld-19", "-fPIC", "-shared", "-nostdlib", "-O1", "-ffreestanding")
    _run(folder, *compiler, "-Wl,-soname,libneeded.so.1", "needed.c", "-o", "libneeded.so", "-Wl,--version-script=needed.map")
    linker = f"-Wl,-soname,{name},-z,now,-z,relro,--version-script=own.map,-rpath,$ORIGIN,--build-id=sha1"
    _run(folder, *compiler, "own.c", "libneeded.so", "-o", name, linker, *flags)


def _pe(folder: Path) -> None:
    (folder / "delay.def").write_text("LIBRARY libLiteRt.dll\nEXPORTS\noutside\n")
    (folder / "import.def").write_text("LIBRARY KERNEL32.dll\nEXPORTS\nmaybe\nby_number @9 NONAME\n")
    for name in ("delay", "import"):
        _run(folder, "llvm-dlltool-19", "-m", "i386:x86-64", "-d", f"{name}.def", "-l", f"{name}.lib")
    source = "__declspec(dllimport) int outside(int); __declspec(dllimport) int maybe(void); __declspec(dllimport) int by_number(void);\n"
    source += "void* __delayLoadHelper2(void* a, void* b) { return a; }\n"
    source += "int plain(void) { return outside(1) + maybe() + by_number(); }\nint data_one = 3;\n"
    (folder / "pe.c").write_text(source + 'const char trace[] = "@__1@std@@ libLiteRt.dll";\n')
    (folder / "pe.def").write_text("EXPORTS\nplain\ndata_one DATA\ntrace DATA\nsent=KERNEL32.Sleep\nplain_again=plain @40 NONAME\n")
    _run(folder, "clang-19", "--target=x86_64-pc-windows-msvc", "-O1", "-c", "pe.c", "-o", "pe.obj")
    base = ("lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/def:pe.def", "/out:small.dll", "/debug", "/pdb:small.pdb", "/Brepro")
    _run(folder, *base, "/delayload:libLiteRt.dll", "pe.obj", "delay.lib", "import.lib")


def _macho(folder: Path, name: str, arch: str, *flags: str) -> None:
    (folder / "system.tbd").write_text(_TBD)
    _run(folder, "clang-19", f"--target={arch}-apple-macos14", "-O1", "-ffreestanding", "-c", "own.c", "-o", "own.o")
    _run(
        folder, "ld64.lld-19", "-dylib", "-arch", arch.replace("aarch64", "arm64"), "-platform_version", "macos", "14.0", "14.0",
        "-install_name", f"@rpath/{name}", "-rpath", "@loader_path", "-o", name, "own.o", "system.tbd", *flags,
    )  # fmt: skip


def main() -> None:
    """Build all seeds and write the archive, with fixed dates."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "own.c").write_text(_C)
        (folder / "needed.c").write_text("int outside(int a) { return a; } int maybe(void) { return 2; }")
        (folder / "needed.map").write_text("N1 { global: outside; local: *; }; N2 { global: maybe; } N1;")
        (folder / "own.map").write_text("V1 { global: plain; local: *; }; V2 { global: old_one; data_one; tls_one; trace; } V1;")
        _elf(folder, "small-x64.so", "x86_64-linux-gnu")
        _elf(folder, "small-arm64.so", "aarch64-linux-gnu", "-Wl,--hash-style=sysv,-z,max-page-size=4096")
        _elf(folder, "small-x86.so", "i686-linux-gnu", "-Wl,-z,max-page-size=4096")
        _pe(folder)
        _macho(folder, "small-chained.dylib", "arm64", "-fixup_chains")
        _macho(folder, "small-opcodes.dylib", "x86_64", "-no_fixup_chains")
        _run(folder, "llvm-lipo-19", "-create", "small-chained.dylib", "small-opcodes.dylib", "-output", "small-fat.dylib")
        with zipfile.ZipFile(SEEDS, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(folder.glob("small*.*")):
                if path.suffix != ".pdb" and path.suffix != ".lib":
                    archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
