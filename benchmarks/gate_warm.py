"""What a gate over six reference decoders on cpu:8 costs: cold, how much of it compiles, and warm.

    python -m benchmarks.gate_warm

Processor seconds are those of the gate and of all that it started; they do not depend on what else
the machine does, as wall-clock seconds do. The table ends with the share of the cold run that
compiler processes spent, and with the warm run's share of the cold one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PROGRAMS = (
    "gpt3-tiny:linen",
    "gpt3-tiny:nnx",
    "llama2-tiny:nnx",
    "llama3.1-tiny:linen",
    "deepseek-tiny:nnx",
    "gemma3-tiny:nnx?step=decode",
)
TARGET = "cpu:8"
WARM_RUNS = 3
# the gate as a user starts it; then what it and its children have used
_GATE = """
import atexit, json, resource, sys
def used():
    sides = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    found = [u.ru_utime + u.ru_stime for u in map(resource.getrusage, sides)]
    print(json.dumps(found), file=sys.stderr)
atexit.register(used)
from hloscope.cli import main
sys.exit(main())
"""


class Cost(NamedTuple):
    """Seconds of one run: of the gate's own process, of those that it started, and by the clock."""

    own: float
    compilers: float
    wall: float

    @property
    def processor(self) -> float:
        """All processor seconds."""
        return self.own + self.compilers


def gate(project: Path, *arguments: str) -> Cost:
    """One run, which has to pass."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _GATE, "gate", *arguments],
        cwd=project,
        env={**os.environ, "HLOSCOPE_CACHE_DIR": str(project / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    own, compilers = json.loads(done.stderr.splitlines()[-1])
    return Cost(own, compilers, time.monotonic() - begun)


def configure(project: Path) -> None:
    """A gate over `PROGRAMS`."""
    tables = [f'[programs.p{n}]\nprogram = "{spec}"\n' for n, spec in enumerate(PROGRAMS)]
    (project / "hloscope.toml").write_text(f'target = "{TARGET}"\n' + "".join(tables))


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        configure(project)
        gate(project, "--update")
        cold = gate(project, "--no-cache")
        warm = min((gate(project) for _ in range(WARM_RUNS)), key=lambda cost: cost.processor)
    print(f"{len(PROGRAMS)} programs on {TARGET}, seconds")
    print(f"{'':8}{'processor':>12}{'of it, compilers':>20}{'by the clock':>16}")
    for name, cost in (("cold", cold), ("warm", warm)):
        print(f"{name:8}{cost.processor:12.1f}{cost.compilers:20.1f}{cost.wall:16.1f}")
    print(
        f"cold, {cold.compilers / cold.processor:.0%} is spent in compiler processes; warm costs "
        f"{warm.processor / cold.processor:.0%} of cold"
    )


if __name__ == "__main__":
    main()
