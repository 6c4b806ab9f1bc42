"""Every notebook runs from a fresh kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient

NotebookClient(nbformat.read(sys.argv[1], 4), timeout=600, kernel_name="python3").execute()
"""


@pytest.mark.compile
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(notebook: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HLOSCOPE_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
        # the kernel named python3 is whichever `python` comes first
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(notebook)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
