"""Repositories in the shape of upstream's, on a loopback GitHub: a staged WORKSPACE, macros of fetched repositories, patches, links.

    commit = publish(server, tag="v0.19.1")      # google-ai-edge/LiteRT-LM and what its WORKSPACE names

The C code is a few lines a repository; what counts is how they are declared.
"""

from __future__ import annotations

import hashlib

from tests.loopback import Loopback

UPSTREAM = "google-ai-edge/LiteRT-LM"

REPO_BZL = '''
def mirror_urls(url):
    """The address and its mirror."""
    if not url.startswith("https://"):
        fail("not an address: " + url)
    return ["https://storage.example.invalid/mirror/" + url[8:], url]

def _links(ctx):
    links = {ctx.path(inner): ctx.path(Label(label)) for label, inner in ctx.attr.link_files.items()}
    if ctx.attr.build_file:
        links[ctx.path("BUILD.bazel")] = ctx.path(Label(ctx.attr.build_file))
    return links

def _use_system(ctx):
    return ctx.attr.name in [name.strip() for name in ctx.os.environ.get("SYSTEM_LIBS", "").split(",")]

def _archive_impl(ctx):
    links = _links(ctx)
    if _use_system(ctx):
        ctx.execute(["true"])
    else:
        ctx.download_and_extract(
            url = ctx.attr.urls,
            sha256 = ctx.attr.sha256,
            type = ctx.attr.type,
            stripPrefix = ctx.attr.strip_prefix,
        )
        for patch in ctx.attr.patch_file:
            if patch:
                ctx.patch(ctx.path(Label(patch)), strip = 1)
    for inner, source in links.items():
        ctx.delete(inner)
        ctx.symlink(source, inner)

_archive = repository_rule(
    implementation = _archive_impl,
    attrs = {
        "sha256": attr.string(mandatory = True),
        "urls": attr.string_list(mandatory = True),
        "strip_prefix": attr.string(),
        "type": attr.string(),
        "patch_file": attr.string_list(),
        "build_file": attr.string(),
        "system_build_file": attr.string(),
        "link_files": attr.string_dict(),
    },
    environ = ["SYSTEM_LIBS"],
)

def archive(name, sha256, urls, **kwargs):
    """The macro that dependencies are declared with."""
    if len(urls) < 2:
        fail("no mirror")
    if native.existing_rule(name):
        print("skipped " + name)
        return
    _archive(name = name, sha256 = sha256, urls = urls, **kwargs)

def _configure_impl(ctx):
    found = ctx.which("python3")
    ctx.file("BUILD", "# " + str(found))

python_configure = repository_rule(implementation = _configure_impl, attrs = {})
'''

WORKSPACE2 = """
load("//third_party:repo.bzl", "archive", "mirror_urls", "python_configure")

def _repositories():
    archive(
        name = "flatbuffers",
        sha256 = "{flatbuffers_sha256}",
        strip_prefix = "flatbuffers-{flatbuffers}",
        urls = mirror_urls("https://github.com/google/flatbuffers/archive/{flatbuffers}.tar.gz"),
        build_file = "//third_party/flatbuffers:flatbuffers.BUILD",
        link_files = {{"//third_party/flatbuffers:build_defs.bzl": "build_defs.bzl"}},
        patch_file = ["//third_party/flatbuffers:flatbuffers.patch"],
    )
    archive(
        name = "re2",
        sha256 = "{re2_sha256}",
        strip_prefix = "re2-{re2}",
        urls = mirror_urls("https://github.com/google/re2/archive/{re2}.tar.gz"),
        repo_mapping = {{"@abseil-cpp": "@com_google_absl"}},
    )
    archive(
        name = "com_google_absl",
        sha256 = "{re2_sha256}",
        urls = mirror_urls("https://github.com/never/used.tar.gz"),
    )
    archive(
        name = "unneeded",
        sha256 = "0" * 64 if False else "{re2_sha256}",
        urls = mirror_urls("https://github.com/never/fetched.tar.gz"),
    )
    python_configure(name = "local_config_python")

def workspace2():
    _repositories()
    native.bind(name = "re2_alias", actual = "@re2//:re2")
    native.register_toolchains("@local_config_python//:toolchain")
"""

WORKSPACE = '''workspace(name = "litert_lm")

load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive", "http_file")
load("@bazel_tools//tools/build_defs/repo:git.bzl", "git_repository")
load("@bazel_tools//tools/build_defs/repo:utils.bzl", "maybe")

LITERT_REF = "{litert}"

LITERT_SHA256 = "{litert_sha256}"

http_archive(
    name = "com_google_absl",
    patch_args = ["-p1"],
    patch_cmds = ["sed -i.bak 's/@googletest/@com_google_googletest/' absl/base/BUILD.bazel && rm absl/base/BUILD.bazel.bak"],
    patches = ["//:PATCH.absl"],
    sha256 = "{absl_sha256}",
    strip_prefix = "abseil-cpp-{absl}",
    urls = ["https://github.com/abseil/abseil-cpp/archive/{absl}.tar.gz"],
)

http_archive(
    name = "org_tensorflow",
    sha256 = "{tensorflow_sha256}",
    strip_prefix = "tensorflow-{tensorflow}",
    url = "https://github.com/tensorflow/tensorflow/archive/{tensorflow}.tar.gz",
)

load("@org_tensorflow//tensorflow:workspace2.bzl", "workspace2")

workspace2()

http_archive(
    name = "litert",
    patch_cmds = ["sed -i.bak 's|\\"@//third_party/|\\"@litert//third_party/|' third_party/*/BUILD && rm third_party/*/BUILD.bak"],
    sha256 = LITERT_SHA256,
    strip_prefix = "LiteRT-" + LITERT_REF,
    urls = ["https://github.com/google-ai-edge/LiteRT/archive/%s.tar.gz" % LITERT_REF],
)

load("@litert//litert:litert_workspace.bzl", "litert_workspace")

litert_workspace()

maybe(
    http_archive,
    name = "litert",
    urls = ["https://github.com/never/used.tar.gz"],
)

git_repository(
    name = "stb",
    build_file_content = """cc_library(name = "stb", hdrs = ["stb.h"], visibility = ["//visibility:public"])""",
    commit = "{stb}",
    remote = "https://github.com/nothings/stb.git",
)

http_archive(
    name = "rules_rust",
    sha256 = "{re2_sha256}",
    urls = ["https://github.com/never/rules_rust.tar.gz"],
)

load("@rules_rust//rust:repositories.bzl", "rules_rust_dependencies")

rules_rust_dependencies(versions = ["1.80"])

load("@rules_rust//crate_universe:defs.bzl", "crate", "crates_repository")

crates_repository(
    name = "crate_index",
    packages = {{"serde": crate.spec(version = "1")}},
)
'''

ENGINE = """
#include "c/engine.h"

#include <stdexcept>
#include <string>

int litert_lm_engine_create() {
  try {
    throw std::runtime_error(std::string(40, 'x'));
  } catch (const std::exception& error) {
    return error.what()[39] == 'x';
  }
}
"""

ENGINE_BUILD = """
cc_library(
    name = "engine",
    srcs = ["engine.cc"],
    hdrs = ["engine.h"],
    visibility = ["//visibility:public"],
    deps = [
        "@com_google_absl//absl/base",
        "@flatbuffers",
        "@litert//litert/c:litert",
        "@re2",
        "@stb",
    ],
    alwayslink = True,
)
"""


def library(name: str, *deps: str) -> str:
    """Return a BUILD file with one library of one source."""
    listed = ", ".join(f'"{dep}"' for dep in deps)
    return f'cc_library(name = "{name}", srcs = ["{name}.cc"], visibility = ["//visibility:public"], deps = [{listed}])\n'


def one_line_patch(file: str, old: str, new: str) -> str:
    """Return a patch of a file that has one line."""
    return f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def publish(server: Loopback, tag: str = "v0.19.1") -> str:
    """Publish all repositories, LiteRT-LM with `tag`, and return its commit."""
    names: dict[str, str] = {}

    def put(key: str, name: str, files: dict[str, str]) -> None:
        names[key] = server.repository(name, files)
        names[f"{key}_sha256"] = hashlib.sha256(server.archive(name, names[key])).hexdigest()

    absl = {
        "absl/base/BUILD.bazel": '# uses @googletest\ncc_library(name = "base", srcs = ["base.cc"], visibility = ["//visibility:public"])\n'
    }
    put("absl", "abseil/abseil-cpp", {**absl, "absl/base/base.cc": "int absl_base() { return 0; }\n"})
    put("flatbuffers", "google/flatbuffers", {"flatbuffers.cc": "int flat() { return 1; }\n", "BUILD": "broken(\n"})
    put("re2", "google/re2", {"BUILD": library("re2", "@abseil-cpp//absl/base"), "re2.cc": "int re2() { return 0; }\n"})
    names["stb"] = server.repository("nothings/stb", {"stb.h": "int stb();\n"})
    third = "third_party/flatbuffers"
    patch = one_line_patch("flatbuffers.cc", "int flat() { return 1; }", "int flat() { return 2; }")
    tensorflow = {
        "tensorflow/BUILD": "",
        "tensorflow/workspace2.bzl": WORKSPACE2.format(**names),
        "third_party/BUILD": "",
        "third_party/repo.bzl": REPO_BZL,
        f"{third}/BUILD": "",
        f"{third}/flatbuffers.BUILD": 'load("//:build_defs.bzl", "NAME")\n' + library("flatbuffers").replace('"flatbuffers", s', "NAME, s"),
        f"{third}/build_defs.bzl": 'NAME = "flatbuffers"\n',
        f"{third}/flatbuffers.patch": patch,
    }
    put("tensorflow", "tensorflow/tensorflow", tensorflow)
    litert = {
        "litert/BUILD": "",
        "litert/litert_workspace.bzl": 'load("@org_tensorflow//third_party:repo.bzl", "archive")\n\ndef litert_workspace():\n    pass\n',
        "litert/c/BUILD": library("litert", "@litert//third_party/odml:odml"),
        "litert/c/litert.cc": "int litert() { return 0; }\n",
        "third_party/odml/BUILD": library("odml", "@//third_party/odml:more") + library("more"),
        "third_party/odml/odml.cc": "int odml() { return 0; }\n",
        "third_party/odml/more.cc": "int more() { return 0; }\n",
    }
    put("litert", "google-ai-edge/LiteRT", litert)
    main = {
        "WORKSPACE": WORKSPACE.format(**names),
        "BUILD": "",
        "PATCH.absl": one_line_patch("absl/base/base.cc", "int absl_base() { return 0; }", "int absl_base() { return 7; }"),
        "c/BUILD": ENGINE_BUILD,
        "c/engine.cc": ENGINE,
        "c/engine.h": 'extern "C" __attribute__((visibility("default"))) int litert_lm_engine_create();\n',
    }
    return server.repository(UPSTREAM, main, tag=tag)
