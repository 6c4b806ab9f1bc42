"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

# data that lies beside the checkout on some machines; the tests that read it skip where it is not
SHARED = Path(__file__).resolve().parents[2] / "shared"


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
