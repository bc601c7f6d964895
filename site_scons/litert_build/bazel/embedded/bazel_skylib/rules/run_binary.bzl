"""run_binary: one tool of the exec configuration, run with expanded arguments."""

def _impl(ctx):
    args = [ctx.expand_location(arg, [ctx.attr.tool]) for arg in ctx.attr.args]
    ctx.actions.run(
        outputs = ctx.outputs.outs,
        inputs = ctx.files.srcs,
        tools = [ctx.executable.tool],
        executable = ctx.executable.tool,
        arguments = args,
        mnemonic = "RunBinary",
        env = {name: ctx.expand_location(value, [ctx.attr.tool]) for name, value in ctx.attr.env.items()},
    )
    return [DefaultInfo(files = depset(ctx.outputs.outs))]

run_binary = rule(
    implementation = _impl,
    attrs = {
        "tool": attr.label(mandatory = True, executable = True, cfg = "exec", allow_files = True),
        "env": attr.string_dict(),
        "srcs": attr.label_list(allow_files = True),
        "outs": attr.output_list(mandatory = True),
        "args": attr.string_list(),
    },
)
