"""A user's repository for each test, or for all of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from user_repository import Desk, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One repository for all tests of a file, whose captures they share."""
    return make_desk(tmp_path_factory.mktemp("desk"))
