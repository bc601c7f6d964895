"""dicts: sums of dicts."""

def _add(*dictionaries, **kwargs):
    result = {}
    for dictionary in dictionaries:
        result.update(dictionary)
    result.update(kwargs)
    return result

def _omit(dictionary, keys):
    return {key: dictionary[key] for key in dictionary if key not in keys}

def _pick(dictionary, keys, strict = True):
    return {key: dictionary[key] for key in keys if strict or key in dictionary}

dicts = struct(add = _add, omit = _omit, pick = _pick)
