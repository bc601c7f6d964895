"""A cc_library with sources and flags by architecture, in the manner of micro-kernel collections."""

_STRICT_ARITHMETIC = [
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-math-errno",
]

def microkernels_package_prefix():
    """Where this package lies from the execution root."""
    root = native.repository_name().lstrip("@")
    return ("external/" + root + "/" if root else "") + native.package_name()

def ukernel_cc_library(name, srcs = [], x86_srcs = [], aarch64_srcs = [], x86_copts = [], copts = [], hdrs = [], defines = [], **kwargs):
    """Headers are given again as textual ones: some of them expand differently at each inclusion."""
    native.cc_library(
        name = name,
        srcs = srcs + select({
            "//microkernels/build_config:x86": x86_srcs,
            "//microkernels/build_config:aarch64": aarch64_srcs,
            "//conditions:default": [],
        }),
        hdrs = hdrs,
        copts = _STRICT_ARITHMETIC + [
            "-Iinclude",
            "-I%s/include" % microkernels_package_prefix(),
        ] + copts + select({
            "//microkernels/build_config:x86": x86_copts,
            "//conditions:default": [],
        }),
        defines = defines,
        includes = ["include"],
        textual_hdrs = hdrs,
        linkstatic = True,
        **kwargs
    )
