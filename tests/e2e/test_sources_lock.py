"""From a tag to a lock to sealed trees, against a loopback GitHub in upstream's shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.actions import Compile
from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.sources.generate import Generated, Wanted, closure_of, generate_lock, lock_diff
from litert_build.sources.lock import Lock
from litert_build.sources.lock_text import lock_text
from litert_build.sources.network import Network
from litert_build.sources.trees import materialize

from tests.loopback import Fault, Loopback
from tests.upstream_shape import UPSTREAM, publish


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    (tmp_path / "github").mkdir()
    with Loopback(tmp_path / "github") as server:
        yield server


def network(server: Loopback) -> Network:
    return Network(github=server.base, attempts=2, delay=0.01, timeout=10, token="")


def generate(server: Loopback, tmp_path: Path, wanted: Wanted | None = None) -> Generated:
    wanted = wanted or Wanted("v0.19.1", policy="")
    return generate_lock(
        wanted,
        tmp_path / "refs" / f"{wanted.ref}.json",
        store=tmp_path / "store",
        closure=closure_of(["linux-x64"]),
        network=network(server),
    )


def test_a_tag_becomes_a_lock_that_builds_offline(server: Loopback, tmp_path: Path) -> None:
    commit = publish(server)
    made = generate(server, tmp_path)
    lock = made.lock
    assert lock.commit == commit
    assert list(lock.repositories) == ["litert_lm", "com_google_absl", "flatbuffers", "org_tensorflow", "litert", "re2", "stb"]
