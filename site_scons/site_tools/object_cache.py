"""SCons tool: CacheDir with a key in two steps. SCons asks and offers; the dependency database and the shared cache answer.

env = Environment(tools=["object_cache"])
env.UseObjectCache(session, Path("/var/cache/objects"), limit=5_000_000_000)

SCons' own key of an object lacks the headers, which come from depfiles: after a header edit it would restore stale objects.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litert_build.incremental.cache import ObjectCache
from litert_build.incremental.session import Session
from SCons.CacheDir import CacheDir


class TwoStepCache(CacheDir):
    """The CacheDir of an environment whose nodes are steps of a session."""

    session: Session
    key_of: Any

    def retrieve(self, node: Any) -> bool:
        """Return whether the node's object was restored. Called from the threads that run steps."""
        return self.session.restore(self.key_of(node))

    def push(self, node: Any) -> None:
        """Offer a node that was just built."""
        self.session.keep(self.key_of(node))

    def push_if_forced(self, node: Any) -> None:
        """Objects of earlier builds are not pushed: what they read is only known of those that ran."""


def generate(env: Any) -> None:
    env.AddMethod(use_object_cache, "UseObjectCache")


def exists(env: Any) -> bool:
    return True


def use_object_cache(env: Any, session: Session, folder: Path, limit: int) -> None:
    """Let the steps of `session` take objects from, and leave them in, the shared cache in `folder`."""
    session.cache = ObjectCache(folder, session.database, limit)
    TwoStepCache.session = session
    TwoStepCache.key_of = staticmethod(lambda node: env["STEP_OF"]([node]).key)
    env.CacheDir(str(folder), TwoStepCache)
