"""The C++ toolchain of a rule: toolchain= chooses it, so a rule finds nothing to ask."""

CC_TOOLCHAIN_TYPE = Label("@bazel_tools//tools/cpp:toolchain_type")

def use_cc_toolchain(mandatory = False):
    return [CC_TOOLCHAIN_TYPE]

def find_cc_toolchain(ctx, mandatory = True):
    fail("%s asks for the C++ toolchain, which Starlark rules do not get here" % ctx.label)

find_cpp_toolchain = find_cc_toolchain
