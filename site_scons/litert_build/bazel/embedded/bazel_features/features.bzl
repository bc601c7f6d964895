"""What .bzl files ask of the Bazel they run under, answered for Bazel 7 without modules."""

load("@proto_bazel_features//:features.bzl", _proto_bazel_features = "bazel_features")

bazel_features = struct(
    cc = struct(
        find_cpp_toolchain_has_mandatory_param = True,
        grep_includes_is_optional = True,
        objc_linking_info_migrated = True,
        protobuf_on_allowlist = False,
        swift_fragment_removed = False,
        undefined_dynamic_lookup = False,
    ),
    external_deps = struct(is_bzlmod_enabled = False),
    globals = _proto_bazel_features.globals,
    proto = _proto_bazel_features.proto,
    rules = struct(
        analysis_tests_can_transition_on_experimental_incompatible_flags = False,
        expand_template_has_computed_substitutions = True,
        has_proto_fragment = True,
    ),
)
