"""LiteRT-LM's Rust targets in their shape: the packages, labels, load() statements and attributes on the way from //c:engine to crates.

    commit = publish(server, cargo_lock, crates="cxx = \"=1.0.149\"")

Written for this project: what the packages are called and what their BUILD files name was read there, the code is a few lines each.
"""

from __future__ import annotations

import hashlib

from tests.loopback import Loopback
from tests.upstream_shape import UPSTREAM

TOKENIZERS = "mlc-ai/tokenizers-cpp"
LITERT = "google-ai-edge/LiteRT"
PUBLIC = 'package(default_visibility = ["//visibility:public"])\n'

WORKSPACE = """workspace(name = "litert_lm")

load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")

http_archive(
    name = "rules_rust",
    patches = ["@//:PATCH.rules_rust"],
    sha256 = "{zeros}",
    url = "https://github.com/bazelbuild/rules_rust/releases/download/0.61.0/rules_rust-0.61.0.tar.gz",
)

load("@rules_rust//rust:repositories.bzl", "rules_rust_dependencies", "rust_register_toolchains")

rules_rust_dependencies()

rust_register_toolchains(
    edition = "2021",
    extra_target_triples = ["aarch64-linux-android"],
)

load("@rules_rust//crate_universe:repositories.bzl", "crate_universe_dependencies")

crate_universe_dependencies()

load("@rules_rust//crate_universe:defs.bzl", "crate", "crates_repository")
load("@rules_rust//rust/platform:triple_mappings.bzl", "SUPPORTED_PLATFORM_TRIPLES")

crates_repository(
    name = "crate_index",
    annotations = {{
        "llguidance": [
            crate.annotation(
                additive_build_file = "@//:BUILD.llguidance",
                gen_build_script = False,
                patches = [
                    "@//:PATCH.llguidance_parser",
                ],
            ),
        ],
    }},
    cargo_lockfile = "//:Cargo.lock",
    lockfile = "//:cargo-bazel-lock.json",
    manifests = [
        "//:Cargo.toml",
    ],
    supported_platform_triples = SUPPORTED_PLATFORM_TRIPLES + [
        "x86_64-linux-android",
    ],
)

load("@crate_index//:defs.bzl", "crate_repositories")

crate_repositories()

http_archive(
    name = "cxxbridge_cmd",
    build_file = "//cxxbridge_cmd:BUILD.cxxbridge_cmd.bazel",
    integrity = "sha256-pf/3kWu94FwtuZRp8J3PryA78lsJbMv052GgR5JBLhA=",
    strip_prefix = "cxxbridge-cmd-1.0.149",
    type = "tar.gz",
    url = "https://static.crates.io/crates/cxxbridge-cmd/cxxbridge-cmd-1.0.149.crate",
)

crates_repository(
    name = "cxxbridge_cmd_deps",
    cargo_lockfile = "//cxxbridge_cmd:Cargo.lock",
    manifests = ["@cxxbridge_cmd//:Cargo.toml"],
)

load("@cxxbridge_cmd_deps//:defs.bzl", cxxbridge_cmd_deps = "crate_repositories")

cxxbridge_cmd_deps()

http_archive(
    name = "litert",
    sha256 = "{litert_sha256}",
    strip_prefix = "LiteRT-{litert}",
    url = "https://github.com/google-ai-edge/LiteRT/archive/{litert}.tar.gz",
)

http_archive(
    name = "tokenizers_cpp",
    build_file = "@//:BUILD.tokenizers_cpp",
    sha256 = "{tokenizers_sha256}",
    strip_prefix = "tokenizers-cpp-{tokenizers}",
    url = "https://github.com/mlc-ai/tokenizers-cpp/archive/{tokenizers}.tar.gz",
)

load("@rules_android_ndk//:rules.bzl", "android_ndk_repository")

android_ndk_repository(name = "androidndk")

android_sdk_repository(name = "androidsdk")

load("//:android_ndk_env.bzl", "check_android_ndk_env")

check_android_ndk_env(name = "android_ndk_env")

load("@android_ndk_env//:current_android_ndk_env.bzl", "ANDROID_NDK_HOME_IS_SET")

register_toolchains("@androidndk//:all" if ANDROID_NDK_HOME_IS_SET else "@android_ndk_env//:all")
"""
NDK_RULE = """
def _impl(ctx):
    ctx.file("BUILD", "")
    ctx.file("current_android_ndk_env.bzl", "ANDROID_NDK_HOME_IS_SET = %s" % bool(ctx.getenv("ANDROID_NDK_HOME")))

check_android_ndk_env = repository_rule(implementation = _impl, environ = ["ANDROID_NDK_HOME"], local = True)
"""
RUST_PACKAGE = """
load("@rules_rust//rust:defs.bzl", "rust_library", "rust_test")
load("//:rust_cxx_bridge.bzl", "rust_cxx_bridge")

package(default_visibility = ["//runtime/components:__subpackages__"])

rust_library(
    name = "{name}",
    srcs = ["{name}.rs"],
    proc_macro_deps = ["@crate_index//:paste"],
    deps = ["@crate_index//:cxx", "@crate_index//:serde_json"],
)

rust_cxx_bridge(
    name = "{name}_cpp",
    src = "{name}.rs",
    deps = [":{name}"],
)
"""
ALLOCATOR = """
load("@rules_rust//rust:defs.bzl", "rust_library")
package(default_visibility = ["//visibility:public"])
rust_library(name = "global_allocator", srcs = ["global_allocator.rs"])
cc_library(name = "alloc_defs", srcs = ["alloc_defs.cc"], alwayslink = True)
"""
# Without a/ and b/: annotations apply their patches with -p0.
CRATE_PATCH = """--- src/version.rs
+++ src/version.rs
@@ -1 +1 @@
-pub const VERSION: i32 = 1;
+pub const VERSION: i32 = 20000;
"""
WINDOWS = """ + select({
        "@platforms//os:windows": ["%s:alloc_defs", "%s:global_allocator"],
        "//conditions:default": [],
    })"""
TEMPLATE = """
#[cxx::bridge(namespace = "litert::lm")]
mod ffi {
    struct ApplyResult { content: String, is_ok: bool }
    extern "Rust" {
        type MinijinjaTemplate;
        fn new_minijinja_template(source: String) -> Box<MinijinjaTemplate>;
        fn apply(self: &MinijinjaTemplate, name: &str) -> ApplyResult;
    }
}

pub struct MinijinjaTemplate { source: String }

fn new_minijinja_template(source: String) -> Box<MinijinjaTemplate> { Box::new(MinijinjaTemplate { source }) }

impl MinijinjaTemplate {
    fn apply(&self, name: &str) -> ffi::ApplyResult {
        ffi::ApplyResult { content: self.source.replace("{{ name }}", name), is_ok: self.source.contains("name") }
    }
}
"""
PARSERS = """
use json_parser;

#[cxx::bridge(namespace = "litert::lm")]
mod ffi {
    extern "Rust" { fn count_calls(text: &str) -> Result<Vec<u32>>; }
}

fn count_calls(text: &str) -> Result<Vec<u32>, String> { json_parser::lengths(text) }
"""
ENGINE = """
#include <string>
#include "include/tokenizers_c.h"
#include "llguidance.h"
#include "runtime/components/rust/minijinja_template.rs.h"
#include "runtime/components/tool_use/rust/parsers.rs.h"

extern "C" __attribute__((visibility("default"))) int litert_lm_engine_create(const char* name) {
  auto tmpl = litert::lm::new_minijinja_template("Hello {{ name }}");
  litert::lm::ApplyResult applied = tmpl->apply(name);
  int sum = applied.is_ok ? static_cast<int>(std::string(applied.content).size()) : -1;
  for (auto length : litert::lm::count_calls("one,three")) sum += static_cast<int>(length);
  try {
    litert::lm::count_calls("");
  } catch (const std::exception& error) {
    sum += std::string(error.what()) == "nothing to count" ? 1000 : 0;
  }
  return sum + llg_version() + tokenizers_vocabulary();
}
"""


def library(name: str, *deps: str, more: str = "") -> str:
    listed = ", ".join(f'"{dep}"' for dep in deps)
    return f'cc_library(name = "{name}", srcs = ["{name}.cc"], deps = [{listed}]{more}, alwayslink = True)\n'


def main_files(cargo_lock: str, crates: str) -> dict[str, str]:
    """Return LiteRT-LM's files but for WORKSPACE; `crates` are the dependencies in Cargo.toml."""
    rust = "runtime/components/rust"
    tools = "runtime/components/tool_use"
    constraints = "runtime/components/constrained_decoding"
    return {
        "BUILD": 'exports_files(["BUILD.tokenizers_cpp", "BUILD.llguidance", "PATCH.llguidance_parser"])\n',
        "BUILD.tokenizers_cpp": 'load("@rules_rust//rust:defs.bzl", "rust_static_library")\nfail("this one is not read")\n',
        "BUILD.llguidance": "fail()\n",
        "PATCH.llguidance_parser": CRATE_PATCH,
        "PATCH.rules_rust": "",
        "android_ndk_env.bzl": NDK_RULE,
        "rust_cxx_bridge.bzl": 'def rust_cxx_bridge(name, src, deps = []):\n    fail("cxxbridge is no tool here")\n',
        "Cargo.toml": f"""[package]
name = "litert_lm_deps"
version = "0.1.0"
edition = "2021"

[dependencies]
{crates}
json_parser = {{ path = "cmake/rust/json_parser" }}
""",
        "Cargo.lock": cargo_lock,
        "src/lib.rs": 'compile_error!("upstream\'s own umbrella");\n',
        "cmake/rust/json_parser/Cargo.toml": '[package]\nname = "json_parser"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\n'
        f'path = "../../../{tools}/rust/json_parser.rs"\n',
        "c/BUILD": PUBLIC
        + library(
            "engine",
            "//runtime/components:prompt_template",
            f"//{tools}:parser_common",
            f"//{constraints}:llg",
            "//support/tokenizer:huggingface_tokenizer",
        ),
        "c/engine.cc": ENGINE,
        "runtime/components/BUILD": PUBLIC + library("prompt_template", f"//{rust}:minijinja_template_cpp"),
        "runtime/components/prompt_template.cc": "",
        f"{rust}/BUILD": RUST_PACKAGE.format(name="minijinja_template"),
        f"{rust}/minijinja_template.rs": TEMPLATE,
        f"{tools}/BUILD": PUBLIC + library("parser_common", f"//{tools}/rust:parsers_cpp"),
        f"{tools}/parser_common.cc": "",
        f"{tools}/rust/BUILD": RUST_PACKAGE.format(name="parsers"),
        f"{tools}/rust/parsers.rs": PARSERS,
        f"{tools}/rust/json_parser.rs": """
pub fn lengths(text: &str) -> Result<Vec<u32>, String> {
    if text.is_empty() { return Err("nothing to count".to_string()); }
    Ok(text.split(',').map(|word| word.len() as u32).collect())
}
""",
        f"{constraints}/BUILD": PUBLIC
        + 'cc_library(name = "llg", srcs = ["llg.cc"], deps = ["@crate_index__llguidance-1.3.0//:llguidance_cc"]'
        + WINDOWS % ("//rust", "//rust")
        + ")\n",
        f"{constraints}/llg.cc": "",
        "support/tokenizer/BUILD": PUBLIC
        + 'cc_library(name = "huggingface_tokenizer", deps = ["@tokenizers_cpp//:huggingface_tokenizer"]'
        + WINDOWS % ("@litert//support/util", "//support/util")
        + ")\n",
        "support/util/BUILD": ALLOCATOR,
        "support/util/alloc_defs.cc": "#error upstream's allocator\n",
        "rust/BUILD": ALLOCATOR,
        "rust/alloc_defs.cc": "#error upstream's allocator\n",
        "rust/global_allocator.rs": "",
        "support/util/global_allocator.rs": "",
    }


def publish(server: Loopback, cargo_lock: str, crates: str = "", tag: str = "v0.14.0") -> str:
    """Publish LiteRT-LM, LiteRT and tokenizers-cpp, the first with `tag`, and return its commit."""
    load = ALLOCATOR.replace("@rules_rust//rust", "//third_party/bazel_rules/rules_rust/rust")
    names = {"zeros": "0" * 64}
    for key, repository, files in (
        ("litert", LITERT, {"support/util/BUILD": load, "support/util/alloc_defs.cc": "#error upstream's allocator\n", "WORKSPACE": ""}),
        (
            "tokenizers",
            TOKENIZERS,
            {
                "include/tokenizers_c.h": 'extern "C" int tokenizers_vocabulary();\n',
                "rust/src/lib.rs": '#[no_mangle]\nextern "C" fn tokenizers_vocabulary() -> i32 { 300000 }\n',
                "CMakeLists.txt": "",
            },
        ),
    ):
        names[key] = server.repository(repository, files)
        names[f"{key}_sha256"] = hashlib.sha256(server.archive(repository, names[key])).hexdigest()
    main = {
        **main_files(cargo_lock, crates),
        "WORKSPACE": WORKSPACE.format(**names),
        "schema/capabilities/BUILD": PUBLIC + library("capabilities"),
    }
    return server.repository(UPSTREAM, {**main, "schema/capabilities/capabilities.cc": ""}, tag=tag)
