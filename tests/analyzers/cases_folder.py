"""Where the shared pairs lie, if they are there."""

from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared"
