"""build_test: a test that its targets build; tests are declared, not built."""

def build_test(name, targets, **kwargs):
    native.test_suite(name = name, tests = [], tags = kwargs.get("tags", []))
