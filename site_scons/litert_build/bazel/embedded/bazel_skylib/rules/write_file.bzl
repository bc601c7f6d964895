"""write_file: a file with the given lines."""

def _impl(ctx):
    newline = {"windows": "\r\n"}.get(ctx.attr.newline, "\n")
    ctx.actions.write(
        output = ctx.outputs.out,
        content = newline.join(ctx.attr.content) if ctx.attr.content else "",
        is_executable = ctx.attr.is_executable,
    )
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

_write_file = rule(
    implementation = _impl,
    attrs = {
        "out": attr.output(mandatory = True),
        "content": attr.string_list(),
        "newline": attr.string(default = "auto"),
        "is_executable": attr.bool(),
    },
)

def write_file(name, out, content = [], is_executable = False, newline = "auto", **kwargs):
    _write_file(name = name, out = out, content = content, is_executable = is_executable, newline = newline, **kwargs)
