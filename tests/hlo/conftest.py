"""What jaxlib makes of HLO, asked in a child process."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from hloscope.model.hlo import Module

FOLDER = Path(__file__).parent
Item = tuple[str, str, str | bytes]

# what only a module's configuration knows, so that its proto cannot say it
_CONFIGURATION = {
    "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters",
    "alias_passthrough_params",
    "num_partitions",
    "replica_count",
}


class Answer(NamedTuple):
    """`status` is `read`, `refused` or `died`."""

    status: str
    text: str
    proto: bytes


def _ask(items: Sequence[Item]) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    rest = list(items)
    while rest:
        child = subprocess.run(
            [sys.executable, str(FOLDER / "jaxlib_reader.py")],
            input=pickle.dumps(rest),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
            check=False,
            timeout=300,
        )
        done = 0
        output = io.BytesIO(child.stdout)
        while True:
            try:
                key, answer = pickle.load(output)  # noqa: S301 - our own child wrote it
            except (EOFError, pickle.UnpicklingError):
                break
            answers[key] = Answer(*answer)
            done += 1
        if done < len(rest):
            answers[rest[done][0]] = Answer("died", "", b"")
            done += 1
        rest = rest[done:]
    return answers


@pytest.fixture(scope="session")
def ask_jaxlib() -> Callable[[Sequence[Item]], dict[str, Answer]]:
    """Has jaxlib read and print modules given as (key, `text` or `proto`, data)."""
    pytest.importorskip("jaxlib._hlo")
    return _ask


@pytest.fixture(scope="session")
def plain() -> Callable[[Module], Module]:
    """A module without ids, notes and what only its configuration knows."""
    return _plain


def _plain(module: Module) -> Module:
    return replace(
        module,
        computations=tuple(
            c._replace(instructions=tuple(i._replace(id=0) for i in c.instructions))
            for c in module.computations
        ),
        header=tuple(item for item in module.header if item[0] not in _CONFIGURATION),
        notes=(),
    )
