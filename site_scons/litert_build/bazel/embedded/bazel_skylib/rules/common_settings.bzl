"""Build settings: flags and settings of one type, their value in BuildSettingInfo."""

BuildSettingInfo = provider(doc = "The value of a build setting.", fields = ["value"])

def _impl(ctx):
    return BuildSettingInfo(value = ctx.build_setting_value)

def _checked_impl(ctx):
    allowed = ctx.attr.values
    value = ctx.build_setting_value
    if allowed and value not in allowed:
        fail("%s: value %r is not one of %s" % (ctx.label, value, allowed))
    return BuildSettingInfo(value = value)

_VALUES = {"values": attr.string_list(), "make_variable": attr.string()}

string_flag = rule(implementation = _checked_impl, build_setting = config.string(flag = True), attrs = _VALUES)
string_setting = rule(implementation = _checked_impl, build_setting = config.string(), attrs = _VALUES)
bool_flag = rule(implementation = _impl, build_setting = config.bool(flag = True))
bool_setting = rule(implementation = _impl, build_setting = config.bool())
int_flag = rule(implementation = _impl, build_setting = config.int(flag = True))
int_setting = rule(implementation = _impl, build_setting = config.int())
string_list_flag = rule(implementation = _impl, build_setting = config.string_list(flag = True))
string_list_setting = rule(implementation = _impl, build_setting = config.string_list())
