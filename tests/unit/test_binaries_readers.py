"""The readers on small real files of every format, and what they say about damaged ones."""

from __future__ import annotations

import struct
import zipfile
from functools import cache
from pathlib import Path

import pytest
from litert_build.binaries.linkmap import LinkMap
from litert_build.binaries.reader import read_binary
from litert_build.binaries.trie import read_trie
from litert_build.binaries.window import Names, Window
from litert_build.errors import BuildError

SEEDS = Path(__file__).with_name("test_binaries_seeds.zip")
ELF = ["small-x64.so", "small-arm64.so", "small-x86.so"]
MACHO = ["small-chained.dylib", "small-opcodes.dylib", "small-fat.dylib"]


@cache
def seed(name: str) -> bytes:
    with zipfile.ZipFile(SEEDS) as archive:
        return archive.read(name)


def write(folder: Path, name: str, data: bytes | None = None) -> Path:
    path = folder / name
    path.write_bytes(seed(name) if data is None else data)
    return path


@pytest.mark.parametrize("name", ELF)
def test_an_elf_library(tmp_path: Path, name: str) -> None:
    facts = read_binary(write(tmp_path, name))
    assert (facts.format, facts.kind, facts.platform, facts.soname) == ("elf", "shared library", "linux", name)
    assert facts.arch == name.removesuffix(".so").split("-")[1]
    assert facts.needed == ("libneeded.so.1",) and facts.version_needs == {"libneeded.so.1": ("N1", "N2")}
    assert [(s.name, s.kind, s.binding, s.version, s.library) for s in facts.imports] == [
        ("outside", "func", "global", "N1", "libneeded.so.1"),
        ("maybe", "func", "weak", "N2", "libneeded.so.1"),
    ]
    assert [(s.name, s.kind, s.version) for s in facts.exports] == [
        ("plain", "func", "@@V1"), ("old_one", "func", "@@V2"), ("data_one", "object", "@@V2"),
        ("tls_one", "tls", "@@V2"), ("trace", "object", "@@V2"),
    ]  # fmt: skip
    assert facts.relro and facts.bind_now and facts.nx and not facts.text_relocations and facts.runpath == ("$ORIGIN",)
    assert len(facts.build_id) == 40 and dict(facts.sections)[".dynsym"]
    assert facts.imported_names == {"outside"}


def test_a_dll(tmp_path: Path) -> None:
    facts = read_binary(write(tmp_path, "small.dll"))
    assert (facts.format, facts.arch, facts.kind) == ("pe", "x64", "shared library")
    assert (facts.needed, facts.delay_needed) == (("KERNEL32.dll",), ("libLiteRt.dll",))
    assert {(s.name, s.kind, s.library) for s in facts.exports} == {
        ("plain", "func", ""), ("data_one", "object", ""), ("trace", "object", ""),
        ("sent", "forwarder", "KERNEL32.Sleep"), ("#40", "ordinal", ""),
    }  # fmt: skip
    assert {(s.name, s.library) for s in facts.imports} == {("maybe", "KERNEL32.dll"), ("#9", "KERNEL32.dll"), ("outside", "libLiteRt.dll")}
    assert facts.flags == ("HIGH_ENTROPY_VA", "DYNAMIC_BASE", "NX_COMPAT") and facts.exports_found and len(facts.build_id) == 33


@pytest.mark.parametrize("name", MACHO)
def test_a_dylib(tmp_path: Path, name: str) -> None:
    facts = read_binary(write(tmp_path, name), "arm64")
    assert (facts.format, facts.kind, facts.platform, facts.minimum_os) == ("macho", "shared library", "macos", "14.0")
    assert facts.slices == (("x64", "arm64") if "fat" in name else ("x64",) if "opcodes" in name else ("arm64",))
    assert facts.needed == ("/usr/lib/libSystem.B.dylib",) and facts.runpath == ("@loader_path",)
    assert {s.name: s.kind for s in facts.exports}["_tls_one"] == "tls" and facts.exported_names == {
        "plain",
        "old_one",
        "data_one",
        "tls_one",
        "trace",
    }
    assert {s.name: (s.binding, s.library) for s in facts.imports}["_maybe"] == ("weak", "/usr/lib/libSystem.B.dylib")


def test_the_bytes_name_the_runtime_and_the_libraries(tmp_path: Path) -> None:
    evidence = read_binary(write(tmp_path, "small-x64.so")).evidence
    assert evidence.families["libc++"][0] == "St3__1 in 1 names" and list(evidence.providers) == ["libc++"]
    assert "libLiteRt.so" in evidence.libraries


def test_a_wide_string_of_a_dll_is_found(tmp_path: Path) -> None:
    wide = "C:\\x\\libLiteRt.dll".encode("utf-16-le")
    data = seed("small.dll")
    assert (
        "libLiteRt.dll"
        in read_binary(write(tmp_path, "small.dll", data.replace(b"libLiteRt.dll", b"libOther12.dl") + wide)).evidence.libraries
    )


def test_a_name_in_capitals_is_found_in_a_dll(tmp_path: Path) -> None:
    data = seed("small.dll").replace(b"libLiteRt.dll", b"LIBLITERT.DLL")
    assert "LIBLITERT.DLL" in read_binary(write(tmp_path, "small.dll", data)).evidence.libraries


def test_a_name_that_straddles_two_reads_is_found(tmp_path: Path) -> None:
    data = seed("small-x64.so")
    filler = b"\0" * ((1 << 23) - len(data) - 8)
    assert "libStraddling.so" in read_binary(write(tmp_path, "small-x64.so", data + filler + b"libStraddling.so\0")).evidence.libraries


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "not a linked library: 0 bytes that begin with nothing"),
        (b"!<arch>\n", "not a linked library: 8 bytes that begin with 21 3c 61 72 63 68 3e 0a"),
        (b"\x7fELF\x02\x01\x01", "malformed binary: its ELF headers cannot be read"),
        (b"MZ", "malformed binary: its PE headers cannot be read"),
        (b"\xcf\xfa\xed\xfe", "malformed binary"),
        (b"\xca\xfe\xba\xbe\0\0\0\x01", "malformed binary"),
        (b"\xca\xfe\xba\xbe\0\0\xff\xff", "malformed binary: a fat file of 65535 architectures"),
    ],
)
def test_what_is_no_binary_is_one_clear_error(tmp_path: Path, data: bytes, text: str) -> None:
    with pytest.raises(BuildError) as caught:
        read_binary(write(tmp_path, "x.so", data))
    assert text in caught.value.what and caught.value.where.endswith("x.so") and caught.value.mend


def test_a_file_that_is_absent(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot read the binary: No such file"):
        read_binary(tmp_path / "absent.so")


def test_an_lfs_pointer_tells_its_oid(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        read_binary(write(tmp_path, "x.so", b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"))
    assert caught.value.notes == ("oid sha256:ab", "size 12")


@pytest.mark.parametrize("name", [*ELF, *MACHO, "small.dll"])
@pytest.mark.parametrize("share", [1, 3, 5, 7])
def test_a_truncated_library_is_refused(tmp_path: Path, name: str, share: int) -> None:
    with pytest.raises(BuildError):
        read_binary(write(tmp_path, name, seed(name)[: len(seed(name)) * share // 16]))


def test_an_export_trie_that_loops_is_refused(tmp_path: Path) -> None:
    loop = b"\x00\x01a\x00\x00"
    with pytest.raises(BuildError, match="reaches node 0x0 twice"):
        list(read_trie(tmp_path, loop, str))


def test_a_number_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="has no end"):
        list(read_trie(tmp_path, b"\xff" * 20, str))


def test_names_that_overlap_without_bound_are_refused(tmp_path: Path) -> None:
    names = Names(tmp_path, b"a" * 200_000 + b"\0")
    with pytest.raises(BuildError, match="overlap beyond any real string table"):
        for offset in range(100):
            assert names[offset]


@pytest.mark.parametrize(("offset", "length"), [(-1, 4), (0, 5), (4, 1), (0, -1), (1 << 62, 1)])
def test_no_read_leaves_the_file(tmp_path: Path, offset: int, length: int) -> None:
    path = write(tmp_path, "four", b"1234")
    with Window.open(path) as window, pytest.raises(BuildError, match="lies outside the file of 4 bytes"):
        window.read(offset, length)


def test_a_symbol_count_beyond_the_file_is_refused(tmp_path: Path) -> None:
    data = bytearray(seed("small-chained.dylib"))
    at = data.index(struct.pack("<II", 2, 24))
    data[at + 12 : at + 16] = struct.pack("<I", 0x7FFFFFFF)
    with pytest.raises(BuildError, match="the symbol table at"):
        read_binary(write(tmp_path, "small-chained.dylib", bytes(data)))


GNU_MAP = """Archive member included to satisfy reference by file (symbol)

libdump.a(dump.o)             use.o (litert_lm_dump)

Memory Configuration

Linker script and memory map

LOAD host.o
LOAD use.o
LOAD libdump.a

.text           0x0000000000001000      0x300
 .text._ZN4absl8DurationE
                0x0000000000001000       0x10 host.o
 .text          0x0000000000001010       0x20 host.o
                0x0000000000001010                litert_lm_engine_create
 .text          0x0000000000001030       0x20 libdump.a(dump.o)
                0x0000000000001030                litert_lm_dump
                0x0000000000001050                PROVIDE (etext = .)
"""
LLD_MAP = """             VMA              LMA     Size Align Out     In      Symbol
            1000             1000      300    16 .text
            1000             1000       10    16         host.o:(.text._ZN4absl8DurationE)
            1010             1010       20    16         host.o:(.text)
            1010             1010       20     1                 litert_lm_engine_create
            1030             1030       20    16         libdump.a(dump.o):(.text)
            1030             1030       20     1                 litert_lm_dump
            1050             1050        8     8         <internal>:(.got)
"""


APPLE_MAP = """# Path: libLiteRtLm.dylib
# Arch: arm64
# Object files:
[  0] linker synthesized
[  1] host.o
[  2] libdump.a(dump.o)
# Sections:
# Address	Size    	Segment	Section
0x00000318	0x00000010	__TEXT	__text
# Symbols:
# Address	Size    	File  Name
0x00000318	0x00000008	[  1] _litert_lm_engine_create
0x00000320	0x00000008	[  2] _litert_lm_dump
0x00000328	0x00000008	[  1] __ZN4absl8DurationE
0x00000330	0x00001038	[  0] compact unwind info
"""
MICROSOFT_MAP = """ LiteRtLm

 Timestamp is 6b0e7096 (Tue Dec  1 07:00:38 2026)

  Address         Publics by Value              Rva+Base               Lib:Object

 0001:00000000       litert_lm_engine_create    0000000180001000     host.o
 0001:00000010       litert_lm_dump             0000000180001010 f   libdump.a(dump.o)
 0001:00000020       _ZN4absl8DurationE         0000000180001020 f i host.o
"""


@pytest.mark.parametrize("text", [GNU_MAP, LLD_MAP, APPLE_MAP, MICROSOFT_MAP])
def test_a_link_map_leads_from_symbols_to_objects(tmp_path: Path, text: str) -> None:
    found = LinkMap.read(write(tmp_path, "host.map", text.encode()))
    assert found.sources("litert_lm_engine_create") == ("host.o",)
    assert found.sources("litert_lm_dump") == ("libdump.a(dump.o)",)
    assert found.sources("_ZN4absl8DurationE") == ("host.o",)
    assert found.sources("absent") == ()
    assert found.archives == ("libdump.a",)
    assert {"host.o", "libdump.a(dump.o)"} <= set(found.inputs)


def test_a_file_that_is_no_link_map_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        LinkMap.read(write(tmp_path, "host.map", b"nothing"))
    assert caught.value.mend == "link with -Wl,-Map,FILE or /map"
    with pytest.raises(BuildError, match="cannot read the link map"):
        LinkMap.read(tmp_path / "absent.map")
