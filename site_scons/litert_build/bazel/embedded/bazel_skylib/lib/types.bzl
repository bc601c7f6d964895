"""types: questions about a value's type."""

types = struct(
    is_list = lambda v: type(v) == "list",
    is_string = lambda v: type(v) == "string",
    is_bool = lambda v: type(v) == "bool",
    is_none = lambda v: v == None,
    is_int = lambda v: type(v) == "int",
    is_tuple = lambda v: type(v) == "tuple",
    is_dict = lambda v: type(v) == "dict",
    is_function = lambda v: type(v) in ("function", "builtin_function_or_method"),
    is_depset = lambda v: type(v) == "depset",
)
