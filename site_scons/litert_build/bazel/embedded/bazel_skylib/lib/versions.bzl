"""versions: comparison of dotted version numbers."""

def _parse(version):
    numbers = []
    for part in version.split(" ")[0].split("-")[0].split("."):
        numbers.append(int(part) if part.isdigit() else 0)
    return tuple(numbers)

def _is_at_most(threshold, version):
    return _parse(version) <= _parse(threshold)

def _is_at_least(threshold, version):
    return _parse(version) >= _parse(threshold)

def _check(minimum_bazel_version, maximum_bazel_version = None, bazel_version = None):
    pass

versions = struct(
    get = lambda: native.bazel_version,
    parse = _parse,
    check = _check,
    is_at_most = _is_at_most,
    is_at_least = _is_at_least,
)
