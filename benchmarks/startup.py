"""Prints what `hloscope --help` costs on top of a bare interpreter, side by side in one run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 15
LIMIT_SECONDS = 0.15


def _seconds(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    """Runs both in turn, so that a busy machine slows both, and compares the medians."""
    bare, verbs = [], []
    for _ in range(ROUNDS):
        bare.append(_seconds("-c", "pass"))
        verbs.append(_seconds("-m", "hloscope", "--help"))
    extra = statistics.median(verbs) - statistics.median(bare)
    print(f"python -c pass     {statistics.median(bare) * 1e3:7.1f} ms")
    print(f"hloscope --help    {statistics.median(verbs) * 1e3:7.1f} ms")
    print(f"extra              {extra * 1e3:7.1f} ms (limit {LIMIT_SECONDS * 1e3:.0f} ms)")
    return extra > LIMIT_SECONDS


if __name__ == "__main__":
    sys.exit(main())
