"""No remote execution: no platform asks for one."""

def gpu_test_tags():
    return []
