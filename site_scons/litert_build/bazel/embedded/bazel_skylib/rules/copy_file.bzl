"""copy_file: a file under another name."""

def _impl(ctx):
    ctx.actions.symlink(output = ctx.outputs.out, target_file = ctx.file.src, is_executable = ctx.attr.is_executable)
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

_copy_file = rule(
    implementation = _impl,
    attrs = {
        "src": attr.label(mandatory = True, allow_single_file = True),
        "out": attr.output(mandatory = True),
        "is_executable": attr.bool(),
        "allow_symlink": attr.bool(),
    },
)

def copy_file(name, src, out, is_executable = False, allow_symlink = False, **kwargs):
    _copy_file(name = name, src = src, out = out, is_executable = is_executable, allow_symlink = allow_symlink, **kwargs)
