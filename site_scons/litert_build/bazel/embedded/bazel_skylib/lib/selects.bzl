"""selects: one branch for several conditions, and settings made of other settings."""

def _expand(branches):
    expanded = {}
    for conditions, value in branches.items():
        for condition in conditions if type(conditions) == "tuple" else (conditions,):
            if condition in expanded:
                fail("condition %s stands in two branches" % condition)
            expanded[condition] = value
    return expanded

def _with_or_dict(input_dict):
    return _expand(input_dict)

def _with_or(input_dict, no_match_error = ""):
    return select(_expand(input_dict), no_match_error = no_match_error)

def _never(name):
    native.config_setting(
        name = name,
        define_values = {"litert_lm_native_never": name},
        visibility = ["//visibility:private"],
    )

def _config_setting_group(name, match_any = [], match_all = [], visibility = None, **kwargs):
    if not match_any and not match_all:
        fail("config_setting_group %s needs match_any or match_all" % name)
    if match_any and match_all:
        fail("config_setting_group %s takes either match_any or match_all" % name)
    members = match_any or match_all
    if len(members) == 1:
        native.alias(name = name, actual = members[0], visibility = visibility)
        return
    never = name + "_never"
    _never(never)

    # Each member links to the next: any stops at the first that holds, all at the first that does not.
    for index in range(len(members) - 1, -1, -1):
        own = name if index == 0 else "%s_%d" % (name, index)
        last = index == len(members) - 1
        rest = members[index] if last else ":%s_%d" % (name, index + 1)
        if match_any:
            branches = {members[index]: members[index], "//conditions:default": never if last else rest}
        else:
            branches = {members[index]: rest, "//conditions:default": never}
        native.alias(
            name = own,
            actual = select(branches),
            visibility = visibility if index == 0 else ["//visibility:private"],
        )

selects = struct(
    with_or = _with_or,
    with_or_dict = _with_or_dict,
    config_setting_group = _config_setting_group,
)
