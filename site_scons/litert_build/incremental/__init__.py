"""Owns incremental builds: what has moved since the last build, which steps that makes stale, and how a step is run and recorded."""
