"""Random edits, built with the dependency database and by plain SCons: the same bytes, and no step run without a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.differential import run


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_random_edits(tmp_path: Path, seed: int) -> None:
    assert run(tmp_path, seed, 50)["rounds"] > 15
