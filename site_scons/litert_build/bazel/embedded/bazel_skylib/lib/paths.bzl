"""paths: POSIX path functions."""

def _is_absolute(path):
    return path.startswith("/") or (len(path) > 2 and path[1] == ":")

def _basename(p):
    return p.rpartition("/")[-1]

def _dirname(p):
    prefix, sep, _ = p.rpartition("/")
    if not prefix:
        return sep
    return prefix.rstrip("/") or "/"

def _join(path, *others):
    result = path
    for other in others:
        if _is_absolute(other):
            result = other
        elif not result or result.endswith("/"):
            result += other
        else:
            result += "/" + other
    return result

def _normalize(path):
    if not path:
        return "."
    initial = "/" if path.startswith("/") else ""
    kept = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part != ".." or not initial:
            kept.append(part)
    return (initial + "/".join(kept)) or "."

def _relativize(path, start):
    segments = _normalize(path).split("/")
    starts = _normalize(start).split("/")
    if starts == ["."]:
        starts = []
    if segments[:len(starts)] != starts:
        fail("path %s is not beneath %s" % (path, start))
    return "/".join(segments[len(starts):])

def _split_extension(p):
    base = _basename(p)
    stem, dot, extension = base.rpartition(".")
    if not dot or not stem:
        return (p, "")
    return (p[:-(len(extension) + 1)], "." + extension)

def _replace_extension(p, new_extension):
    return _split_extension(p)[0] + new_extension

def _starts_with(path_a, path_b):
    if not path_b:
        return True
    a = _normalize(path_a)
    b = _normalize(path_b)
    return a == b or a.startswith(b + "/")

paths = struct(
    basename = _basename,
    dirname = _dirname,
    is_absolute = _is_absolute,
    is_normalized = lambda str, look_for_same_level_references = True: _normalize(str) == str,
    join = _join,
    normalize = _normalize,
    relativize = _relativize,
    replace_extension = _replace_extension,
    split_extension = _split_extension,
    starts_with = _starts_with,
)
