"""Owns the C and C++ side of a bundle: headers, pkg-config and CMake files that find the host beside them.

members = sdk_members(rows, headers={"c/engine.h": Path("...")}, version="0.18.0")

An SDK archive is unpacked over a runtime archive: everything lies in the same `<platform>/<arch>` folder, which is then a prefix:
    PKG_CONFIG_PATH=<folder>/lib/pkgconfig pkg-config --cflags --libs litert-lm
    cmake -DCMAKE_PREFIX_PATH=<folder>          find_package(LiteRtLm CONFIG REQUIRED), LiteRtLm::LiteRtLm
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from litert_build.bundles.archive import Content
from litert_build.bundles.layout import Layout
from litert_build.errors import BuildError

INCLUDE = "include/litert_lm"

_PKG_CONFIG = """\
prefix=${{pcfiledir}}/../..
includedir=${{prefix}}/{include}
libdir=${{prefix}}

Name: litert-lm
Description: LiteRT-LM as one library with a C API
URL: https://github.com/leehack/litert-lm-native
Version: {version}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -l{stem}{rpath}
"""

_CMAKE = """\
# Defines LiteRtLm::LiteRtLm, the host library that lies beside this folder.
get_filename_component(_litert_lm_prefix "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
if(NOT EXISTS "${{_litert_lm_prefix}}/{host}")
  set(LiteRtLm_FOUND FALSE)
  set(LiteRtLm_NOT_FOUND_MESSAGE "{host} is not in ${{_litert_lm_prefix}}: unpack the runtime archive over the SDK")
  return()
endif()
if(NOT TARGET LiteRtLm::LiteRtLm)
  add_library(LiteRtLm::LiteRtLm SHARED IMPORTED)
  set_target_properties(LiteRtLm::LiteRtLm PROPERTIES
    IMPORTED_LOCATION "${{_litert_lm_prefix}}/{host}"
{properties}    INTERFACE_INCLUDE_DIRECTORIES "${{_litert_lm_prefix}}/{include}")
endif()
unset(_litert_lm_prefix)
"""

_CMAKE_VERSION = """\
set(PACKAGE_VERSION "{version}")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif(PACKAGE_FIND_VERSION VERSION_LESS PACKAGE_VERSION
       AND "${{PACKAGE_FIND_VERSION_MAJOR}}.${{PACKAGE_FIND_VERSION_MINOR}}" STREQUAL "{major}.{minor}")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
else()
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
endif()
"""


def collect_headers(roots: Sequence[tuple[str, Path]]) -> dict[str, Content]:
    """Return the C headers directly in folders: (folder under the include path, folder on disk) pairs.

    A header that is C++ alone, or that includes one which is not installed, is internal and left out. Raises BuildError for a folder
    without a header that remains, and for two headers of one name.
    """
    found: dict[str, Path] = {}
    for inner, folder in roots:
        for path in sorted(folder.glob("*.h")):
            name = f"{inner}/{path.name}".lstrip("/")
            if name in found:
                raise BuildError(f"two headers are installed as {name}", where=str(path), notes=[str(found[name])])
            found[name] = path
    texts = {name: path.read_text(encoding="utf-8") for name, path in found.items()}
    public = {name for name, text in texts.items() if 'extern "C"' in text or not _CXX_INCLUDE.search(text)}
    while internal := {name for name in public if not _quoted(name, texts[name]) <= public}:
        public -= internal
    for inner, folder in roots:
        if not any(found[name].parent == folder for name in public):
            raise BuildError(f"holds no C header for {inner or 'the SDK'}", where=str(folder), mend="name the folder of the C API")
    return {name: found[name] for name in sorted(public)}


def host_headers(main: Path, bridge: Path | None) -> dict[str, Content]:
    """Return the headers of a host: upstream's C API as `c/...`, and those of the bridge's folders by their names."""
    folders = sorted({path.parent for path in bridge.glob("*/*.h")}) if bridge else []
    return collect_headers([("c", main / "c"), *(("", folder) for folder in folders)])


_CXX_INCLUDE = re.compile(r"^\s*#\s*include\s*<\w+>", re.MULTILINE)
_QUOTED_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def _quoted(name: str, text: str) -> set[str]:
    """The quoted includes of a header: as written, or as a name beside it where they have no folder."""
    folder = name.rpartition("/")[0]
    return {inner if "/" in inner or not folder else f"{folder}/{inner}" for inner in _QUOTED_INCLUDE.findall(text)}


def sdk_members(rows: Layout, headers: Mapping[str, Content], version: str, import_library: Path | None = None) -> dict[str, Content]:
    """Return the members of an SDK archive: path -> file or content. `version` is X.Y.Z; `import_library` a .lib for the host DLL.

    Raises BuildError for a platform whose hosts are frameworks: there the XCFramework carries the headers.
    """
    if rows.host.endswith(".framework"):
        raise BuildError(f"no SDK archive for {rows.platform}-{rows.arch}", mend="use the XCFramework, which carries the headers")
    files: dict[str, Content] = {f"{INCLUDE}/{name}": content for name, content in headers.items()}
    stem = Path(rows.host).stem
    stem = stem if rows.platform == "windows" else stem.removeprefix("lib")
    rpath = " -Wl,-rpath,${libdir}" if rows.platform in ("linux", "macos") else ""
    files["lib/pkgconfig/litert-lm.pc"] = _PKG_CONFIG.format(include=INCLUDE, version=version, stem=stem, rpath=rpath).encode()
    properties = ""
    if import_library:
        files[f"lib/{stem}.lib"] = import_library
        properties = f'    IMPORTED_IMPLIB "${{_litert_lm_prefix}}/lib/{stem}.lib"\n'
    if rows.platform in ("linux", "android"):
        properties += f'    IMPORTED_SONAME "{rows.host}"\n'
    major, minor, _ = version.split(".")
    files["lib/cmake/LiteRtLm/LiteRtLmConfig.cmake"] = _CMAKE.format(host=rows.host, include=INCLUDE, properties=properties).encode()
    files["lib/cmake/LiteRtLm/LiteRtLmConfigVersion.cmake"] = _CMAKE_VERSION.format(version=version, major=major, minor=minor).encode()
    return {f"{rows.folder}/{name}": content for name, content in files.items()}
