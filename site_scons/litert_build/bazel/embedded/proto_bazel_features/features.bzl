"""What protobuf asks of the Bazel it runs under, answered for Bazel 7."""

bazel_features = struct(
    cc = struct(protobuf_on_allowlist = False),
    globals = struct(
        PackageSpecificationInfo = PackageSpecificationInfo,
        ProtoInfo = ProtoInfo,
        cc_proto_aspect = cc_proto_aspect,
    ),
    proto = struct(starlark_proto_info = True),
    rules = struct(
        analysis_tests_can_transition_on_experimental_incompatible_flags = False,
        has_proto_fragment = True,
    ),
)
