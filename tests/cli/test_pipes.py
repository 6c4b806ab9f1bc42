"""A reader that goes away (`hloscope ... | head`)."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("verb", [["analyzers"], ["targets", "--json"], ["explain", "DON001"]])
def test_is_neither_success_nor_a_difference(verb: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "from hloscope.cli import main; main()", *verb],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before it has begun to write
        said = process.stderr.read()
    assert (said, process.returncode) == ("", 2)
