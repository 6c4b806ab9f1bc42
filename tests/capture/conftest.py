"""A folder of the user's with a program in it, and a way to run the command line there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import terminal_signals

ROOT = Path(__file__).parents[2]

PROGRAM = """
import os
import subprocess
import sys
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import hloscope


def build(devices, n=256, donate=True, scale=1.5):
    mesh = Mesh(np.array(devices).reshape(2, -1), ("data", "fsdp"))

    def shape(*dims, spec):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=NamedSharding(mesh, spec))

    def step(state, unused, batch):
        print("the program prints")
        warnings.warn("the program warns")
        return {"w": state["w"] + scale * batch.T @ (batch @ state["w"])}, jnp.sum(batch)

    return hloscope.Program(
        function=step,
        args=({"w": shape(n, n, spec=P("fsdp", None))}, jax.ShapeDtypeStruct((3,), jnp.int32)),
        kwargs={"batch": shape(n, n, spec=P("data"))},
        jit_options={"donate_argnums": 0} if donate else {},
    )


def huge(devices):
    mesh = Mesh(np.array(devices), ("x",))
    x = jax.ShapeDtypeStruct((120000, 120000), jnp.float32, sharding=NamedSharding(mesh, P("x")))
    return hloscope.Program(function=lambda x: jnp.sin(x) @ jnp.cos(x) @ jnp.exp(x), args=(x,))


def raising(devices):
    raise ValueError("no such optimizer: 'adamm'")


def untraceable(devices):
    return hloscope.Program(function=lambda x: x + "text", args=(1.0,))


def number(devices):
    return 3


def leaving(devices):
    sys.exit("the factory leaves")


def slow(devices):
    subprocess.Popen(["sleep", "600"])
    open("reached", "w").close()
    time.sleep(600)


def killed(devices):
    os.kill(os.getpid(), 9)


def aborted(devices):
    print("F0000 the last words", file=sys.stderr, flush=True)
    os.abort()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where a user works: `folder` with `mine.py`, an empty `temporary`, a `cache`."""

    folder: Path
    temporary: Path
    environment: Mapping[str, str]

    def start(self, *arguments: str, **changes: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "hloscope", *arguments],
            cwd=self.folder,
            env={**self.environment, **changes},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=terminal_signals.restore,
        )

    def run(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **changes)
        out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def make_desk(folder: Path) -> Desk:
    home = folder / "home" / "zebedee"
    work, temporary = home / "work", folder / "temporary"
    work.mkdir(parents=True)
    temporary.mkdir()
    (work / "mine.py").write_text(PROGRAM)
    environment = {
        **os.environ,
        "HOME": str(home),
        "USER": "zebedee",
        "LOGNAME": "zebedee",
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(ROOT),
        "HLOSCOPE_CACHE_DIR": str(folder / "cache"),
        "COLUMNS": "200",
    }
    return Desk(folder=work, temporary=temporary, environment=environment)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One desk for all tests of a file, whose captures they share."""
    return make_desk(tmp_path_factory.mktemp("desk"))
