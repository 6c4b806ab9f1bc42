"""Fixtures that every test may use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from folders import Folders
from golden import Goldens
from xdist.scheduler import LoadScopeScheduling

# data that lies beside the checkout on some machines; the tests that read it skip where it is not
SHARED = Path(__file__).resolve().parents[2] / "shared"

# what is printed is as wide everywhere as where there is no terminal
os.environ["COLUMNS"] = "80"


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"no folder '{name}' beside the checkout")
    return folder


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real HLO files from public repositories."""
    return _shared("corpus")


@pytest.fixture(scope="session")
def cases() -> Path:
    """Pairs of small programs with a known difference."""
    return _shared("cases")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="rewrite golden files with what came out"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Keeps tests that share compiled programs in one process, where several run them."""
    return Folders(config, log)


@pytest.fixture
def goldens(request: pytest.FixtureRequest) -> Goldens:
    """The golden files beside the test."""
    return Goldens(
        folder=request.path.parent / "goldens", update=request.config.getoption("--update-goldens")
    )
