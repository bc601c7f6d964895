"""Fixtures of the end-to-end tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.engine import Engine
from tests.e2e.job_project import Project


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared cache of one run of the tests, over all workers: the sample's units are compiled once by each compiler."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "objects"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
