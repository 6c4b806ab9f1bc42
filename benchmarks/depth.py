"""How much of a full compile a capture at depth hlo costs, side by side.

    python benchmarks/depth.py [--program SPEC] [--target TARGET] [--limit RATIO]

Takes both captures one after the other without the cache, prints their times and the ratio, and
ends with exit code 1 where the ratio is over the limit.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

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
    print("depth   wall clock  " + "  ".join(f"{step:>8}" for step in STEPS) + "  peak memory")
    hlo = measure(arguments.program, arguments.target, Depth.HLO)
    full = measure(arguments.program, arguments.target, Depth.FULL)
    ratio = hlo / full
    print(f"\nratio of wall clock, hlo to full: {ratio:.3f} (at most {arguments.limit:g})")
    return int(ratio > arguments.limit)


def measure(program: str, target: str, depth: Depth) -> float:
    """Takes one capture and prints its line; seconds of wall clock."""
    began = time.monotonic()
    capture = capture_spec(program, target, depth=depth)
    seconds = time.monotonic() - began
    print(f"{depth:<6} {seconds:9.1f} s  {steps(capture)}  {peak(capture)}", flush=True)
    return seconds


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
