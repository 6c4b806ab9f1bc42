"""How much of a full compile a capture at depth hlo costs, side by side.

    python benchmarks/depth.py [--program SPEC] [--target TARGET] [--limit RATIO]

Takes both captures one after the other without the cache, prints their times and the ratio, and
ends with exit code 1 where the ratio is over the limit. The ratio of processor time beside it says
whether other work on the machine weighed on one of the two.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hloscope.capture import capture_spec
from hloscope.model.capture import Capture, Depth
from hloscope.model.units import Measured

STEPS = ("start", "program", "trace", "lower", "compile", "total")


def main() -> int:
    """Runs the comparison; the exit code."""
    parser = argparse.ArgumentParser(description="Times depth hlo against depth full.")
    parser.add_argument("--program", default="gpt3-6b:nnx?layers=4&scan=false")
    parser.add_argument("--target", default="tpu:v5p:2x2x2")
    parser.add_argument("--limit", type=float, default=0.25)
    arguments = parser.parse_args()
    print(f"{arguments.program} for {arguments.target}\n")
    print(
        "depth   wall clock   processor  "
        + "  ".join(f"{step:>8}" for step in STEPS)
        + "  peak memory"
    )
    hlo = measure(arguments.program, arguments.target, Depth.HLO)
    full = measure(arguments.program, arguments.target, Depth.FULL)
    ratio = hlo.wall / full.wall
    print(f"\nratio of wall clock, hlo to full: {ratio:.3f} (at most {arguments.limit:g})")
    print(f"ratio of processor time: {hlo.processor / full.processor:.3f}")
    return int(ratio > arguments.limit)


class Seconds(NamedTuple):
    """Time that a capture took; `processor` is that of its processes, all threads together."""

    wall: float
    processor: float


def measure(program: str, target: str, depth: Depth) -> Seconds:
    """Takes one capture and prints its line."""
    began, before = time.monotonic(), processor_seconds()
    capture = capture_spec(program, target, depth=depth)
    taken = Seconds(time.monotonic() - began, processor_seconds() - before)
    print(
        f"{depth:<6} {taken.wall:9.1f} s {taken.processor:9.1f} s  {steps(capture)}  "
        f"{peak(capture)}",
        flush=True,
    )
    return taken


def processor_seconds() -> float:
    """Processor time of this process's children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def steps(capture: Capture) -> str:
    """Seconds of each step, as the compiler process measured them."""
    seconds = capture.provenance.seconds
    return "  ".join(f"{seconds[step]:8.2f}" for step in STEPS)


def peak(capture: Capture) -> str:
    """The compiler process's peak resident memory."""
    memory = capture.provenance.peak_memory
    return f"{memory.value / 2**30:8.2f} GiB" if isinstance(memory, Measured) else memory.reason


if __name__ == "__main__":
    sys.exit(main())
