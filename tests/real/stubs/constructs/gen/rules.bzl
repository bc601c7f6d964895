"""A rule of ours: one action a source, arguments from a depset, then one over all of them."""

Rows = provider(fields = ["files"])

def _tabulate_impl(ctx):
    made = []
    for number, source in enumerate(ctx.files.srcs):
        row = ctx.actions.declare_file("{}/{}_{}.row".format(ctx.label.name, number, source.basename))
        args = ctx.actions.args()
        args.add("--flag", ctx.attr.flag)
        args.add(source)
        args.add("-o", row)
        args.add_all(depset(ctx.files.srcs, order = "preorder"), before_each = "-i", uniquify = True)
        args.add_joined("--all", [file.basename for file in ctx.files.srcs], join_with = ",")
        ctx.actions.run(
            mnemonic = "Row",
            executable = ctx.executable.tool,
            arguments = [args, "last one"],
            inputs = ctx.files.srcs,
            outputs = [row],
        )
        made.append(row)
    out = ctx.actions.declare_file(ctx.label.name + ".cc")
    ctx.actions.run_shell(
        mnemonic = "Table",
        command = "cat \"$@\" > " + out.path,
        arguments = [row.path for row in made],
        inputs = made,
        outputs = [out],
    )
    return [DefaultInfo(files = depset([out])), Rows(files = depset(made))]

tabulate = rule(
    implementation = _tabulate_impl,
    attrs = {
        "flag": attr.string(default = "flat"),
        "srcs": attr.label_list(allow_files = True),
        "tool": attr.label(cfg = "exec", executable = True, mandatory = True),
    },
)
