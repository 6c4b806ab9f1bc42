"""Every notebook runs from a fresh kernel; `--update-goldens` keeps what came out."""

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

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
for cell in notebook.cells:
    cell.metadata.clear()  # when it ran
    if cell.cell_type == "code":
        cell.execution_count = None
        # what libraries log of the machine that it ran on
        cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = None
nbformat.write(notebook, sys.argv[2])
"""


@pytest.mark.compile
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(notebook: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    environment = {
        **os.environ,
        "HLOSCOPE_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
        # the kernel named python3 is whichever `python` comes first
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    executed = tmp_path / "executed"
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(notebook), str(executed)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    if request.config.getoption("--update-goldens"):
        notebook.write_bytes(executed.read_bytes())
