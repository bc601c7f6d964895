"""Hooks that stand for rules of other build environments."""

def runtime_visibility(extra = []):
    return ["//litert:litert_internal_users"] + extra

def gpu_accelerator_deps():
    """The accelerators that a build with everything in it holds."""
    return select({
        Label("//litert/build_common:cpu_only"): [],
        "//conditions:default": [str(Label("//litert/runtime/accelerators/gpu:ml_drift_webgpu_accelerator"))],
    })
