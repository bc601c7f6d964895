"""collections: order-keeping list functions."""

def _uniq(iterable):
    return {element: None for element in iterable}.keys()

def _after_each(separator, iterable):
    return [item for element in iterable for item in (element, separator)]

def _before_each(separator, iterable):
    return [item for element in iterable for item in (separator, element)]

collections = struct(after_each = _after_each, before_each = _before_each, uniq = _uniq)
