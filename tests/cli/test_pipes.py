"""Standard output that takes no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
HLOSCOPE = [sys.executable, "-c", "from hloscope.cli import main; main()"]
VERBS = pytest.mark.parametrize(
    "verb", [["analyzers"], ["targets", "--json"], ["explain", "DON001"]]
)


@VERBS
def test_a_reader_that_went_away_is_neither_success_nor_a_difference(verb: list[str]) -> None:
    with subprocess.Popen(
        [*HLOSCOPE, *verb],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before it has begun to write
        said = process.stderr.read()
    assert (said, process.returncode) == ("", 2)


@VERBS
@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_a_full_disk_is_said(verb: list[str]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run([*HLOSCOPE, *verb], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.stderr == "error: standard output: no space left on device\n"
    assert done.returncode == 2
