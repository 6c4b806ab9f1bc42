"""How long reading, normalizing, matching and diffing take as modules grow.

Usage: python benchmarks/scale.py [--sizes 25000,100000,400000,1000000] [--layers 4,16,32]

Made modules are copies of a real optimized train step side by side, against the same with one edit
in a thousand instructions; real ones are the reference decoder in Linen against the same in NNX,
unrolled to several depths. Both are compiled here, once, and cached.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tiling import edited, tile
from hloscope import diff, hlo, match, normalize
from hloscope.hlo.schema import hlo_pb2
from hloscope.model.capture import PayloadName
from hloscope.pipeline import OpenOptions, open_source

MADE_FROM = "gpt3-125m:linen?layers=4"
EDIT_EVERY = 1_000  # instructions
UNROLLED = "gpt3-125m:{stack}?layers={layers}&scan=false"
LIMIT_SECONDS, LIMIT_SIZE, LIMIT_GIB = 8.0, 100_000, 1.5
LIMIT_GROWTH = 5.0  # of the time, where the size grows fourfold
HEADER = (
    f"{'module':<28}{'instructions':>13}{'parse':>8}{'read':>8}{'norm.':>8}{'match':>8}{'diff':>8}"
    f"{'total':>8}{'x parse':>9}{'identical':>10}{'left':>7}{'GiB':>6}"
)


def compiled(spec: str, target: str) -> bytes:
    """The optimized HloProto of a reference decoder, from the cache or compiled now."""
    source = open_source(spec, OpenOptions(target=target))
    assert source.capture is not None
    return source.capture.payloads[PayloadName.OPTIMIZED]


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds and result of a call, without cyclic garbage collection, as `hloscope diff` runs."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    result = work(*arguments)
    seconds = time.perf_counter() - start
    gc.enable()
    return seconds, result


def parse(data: bytes) -> None:
    """The bare protobuf parse, the yardstick."""
    hlo_pb2.HloProto.FromString(data)


def measure(name: str, lhs: bytes, rhs: bytes) -> tuple[int, float]:
    """Prints one line of the table; returns instructions of a side and seconds in total."""
    parsed = timed(parse, lhs)[0] + timed(parse, rhs)[0]
    read_left, left = timed(hlo.read_proto, lhs)
    read_right, right = timed(hlo.read_proto, rhs)
    norm_left, one = timed(normalize.normalize, left)
    norm_right, other = timed(normalize.normalize, right)
    matched, pairing = timed(match.match, one, other)
    compared, _ = timed(diff.compare, one, other, pairing)
    same, itself = timed(match.match, one, one)
    same += timed(diff.compare, one, one, itself)[0]
    total = read_left + read_right + norm_left + norm_right + matched + compared
    left_over = len(pairing.lhs_only) + len(pairing.rhs_only)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name:<28}{left.instruction_count:>13,}{parsed:>8.2f}{read_left + read_right:>8.2f}"
        f"{norm_left + norm_right:>8.2f}{matched:>8.2f}{compared:>8.2f}{total:>8.2f}"
        f"{total / parsed:>9.1f}{same:>10.2f}{left_over:>7,}{peak:>6.2f}",
        flush=True,
    )
    for note in pairing.notes:
        print(f"    {note}")
    return left.instruction_count, total


def made(target: str, sizes: list[int]) -> list[tuple[int, float]]:
    """Copies of one train step, side by side, up to each size, against an edited version."""
    step = compiled(MADE_FROM, target)
    single = hlo.read_proto(step).instruction_count
    rows = []
    for size in sizes:
        copies = max(1, round(size / single))
        tiled = tile(step, copies)
        rows.append(measure(f"made, {copies} copies", tiled, edited(tiled, EDIT_EVERY)))
    return rows


def real(target: str, layers: list[int]) -> None:
    """The reference decoder, unrolled."""
    for count in layers:
        specs = [UNROLLED.format(stack=stack, layers=count) for stack in ("linen", "nnx")]
        measure(f"gpt3-125m, {count} layers", *(compiled(spec, target) for spec in specs))


def verdicts(rows: list[tuple[int, float]]) -> None:
    """What the rows say about the limits."""
    for (size, seconds), (larger, longer) in pairwise(rows):
        growth, factor = longer / seconds, larger / size
        allowed = LIMIT_GROWTH * factor / 4
        word = "within" if growth <= allowed else "OVER"
        print(
            f"{factor:.1f} times the size takes {growth:.1f} times as long ({word} {allowed:.1f})"
        )
    for size, seconds in rows:
        if abs(size - LIMIT_SIZE) < LIMIT_SIZE / 5:
            word = "within" if seconds <= LIMIT_SECONDS else "OVER"
            print(
                f"a pair of {size:,} instructions takes {seconds:.1f} s ({word} {LIMIT_SECONDS} s)"
            )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="25000,100000,400000,1000000")
    parser.add_argument("--layers", default="4,16,32,96")
    parser.add_argument("--target", default="tpu:v5p:2x2x2")
    given = parser.parse_args()
    print(HEADER)
    rows = made(given.target, [int(n) for n in given.sizes.split(",") if n])
    real(given.target, [int(n) for n in given.layers.split(",") if n])
    verdicts(rows)


if __name__ == "__main__":
    main()
