"""Variables for Make, and an aspect that walks deps and orders what it finds."""

Found = provider(fields = ["postorder", "preorder", "topological"])

def _variables_impl(ctx):
    return [platform_common.TemplateVariableInfo(ctx.attr.values)]

variables = rule(
    implementation = _variables_impl,
    attrs = {"values": attr.string_dict()},
)

def _walk_impl(target, ctx):
    deps = [dep[Found] for dep in getattr(ctx.rule.attr, "deps", [])]
    own = [str(target.label.name)]
    return [Found(
        postorder = depset(own, order = "postorder", transitive = [dep.postorder for dep in deps]),
        preorder = depset(own, order = "preorder", transitive = [dep.preorder for dep in deps]),
        topological = depset(own, order = "topological", transitive = [dep.topological for dep in deps]),
    )]

walk = aspect(
    implementation = _walk_impl,
    attr_aspects = ["deps"],
)

def _collect_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".txt")
    args = ctx.actions.args()
    for kind in ("postorder", "preorder", "topological"):
        found = depset(order = kind, transitive = [getattr(dep[Found], kind) for dep in ctx.attr.deps])
        args.add_all("--" + kind, found)
        args.add_joined(found, join_with = ":", format_joined = kind + "=%s")
        args.add_all(found, format_each = "<%s>", omit_if_empty = False)
    args.add("--out=%s" % out.path)
    args.add(out, format = "--file=%s")
    ctx.actions.run_shell(
        mnemonic = "Collect",
        command = "echo \"$@\" > {}".format(out.path),
        arguments = [args],
        outputs = [out],
        progress_message = "Collecting %{label}",
    )
    return [DefaultInfo(files = depset([out]))]

collect = rule(
    implementation = _collect_impl,
    attrs = {"deps": attr.label_list(aspects = [walk])},
)
