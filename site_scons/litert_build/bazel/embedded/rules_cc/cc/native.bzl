"""Builtins under names that can be given on."""

NativeCcInfo = CcInfo
native_cc_common = cc_common
