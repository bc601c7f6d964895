"""The model of the build: plain Python that never imports SCons (tests/unit/test_layers.py holds that)."""
