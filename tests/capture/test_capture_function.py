"""Captures of functions from Python, as from a notebook: everything is in `__main__`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.capture.conftest import Desk


@pytest.mark.compile
def test_functions_of_a_notebook_are_captured(desk: Desk) -> None:
    source = Path(__file__).with_name("scripts") / "notebook.py"
    (desk.folder / "notebook.py").write_text(source.read_text())
    environment = {**desk.environment, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "notebook.py"],
        cwd=desk.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(desk.temporary.iterdir()) == []
