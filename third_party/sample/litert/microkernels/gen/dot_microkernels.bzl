"""Which sources hold which variant of the dot product, one list an architecture."""

VARIANTS = [
    struct(
        name = "scalar",
        aarch64_srcs = [],
        deps = [],
        srcs = ["src/dot_s8_scalar.c"],
        x86_copts = [],
        x86_srcs = [],
    ),
    struct(
        name = "vector",
        aarch64_srcs = ["src/dot_s8_neon.c"],
        deps = [":dot_s8_scalar"],
        srcs = [],
        x86_copts = ["-msse2"],
        x86_srcs = ["src/dot_s8_sse2.c"],
    ),
    struct(
        name = "wide",
        aarch64_srcs = [],
        deps = [],
        srcs = [],
        x86_copts = ["-mavx2"],
        x86_srcs = ["src/dot_s8_avx2.c"],
    ),
]
