"""Builtins under names that can be given on."""

NativeProtoInfo = ProtoInfo
