"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.engine import Engine
from tests.e2e.job_project import Project


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
