"""How long reading, normalizing, matching and diffing take as modules grow.

Usage: python benchmarks/scale.py [--sizes 25000,100000,400000,1000000] [--layers 4,16,32,96]
                                  [--pair LHS RHS]

Made modules are copies of a real optimized train step side by side, against the same with one edit
in a thousand instructions; real ones are a reference decoder in Linen against the same in NNX,
unrolled to several depths, or any two sides given. What has to be compiled is compiled once and
cached. Each row runs in a process of its own, so that its peak of memory is its own.

Columns are seconds of processor time, which on a machine with nothing else to do is the time that
passes; `wall` is what passed. `identical` is the whole way of a module against an equal file.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from math import log
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tiling import edited, tile
from hloscope import diff, hlo, match, normalize
from hloscope.hlo.schema import hlo_pb2
from hloscope.model.canonical import CanonicalModule
from hloscope.model.hlo import Module
from hloscope.model.source import Source
from hloscope.pipeline import OpenOptions, open_source
from hloscope.pipeline.comparing import parameter_paths

MADE_FROM = "gpt3-125m:linen?layers=4"
EDIT_EVERY = 1_000  # instructions
# narrow, so that compiling a hundred unrolled layers takes minutes rather than hours
UNROLLED = "gpt3-tiny:{stack}?layers={layers}&scan=false"
LIMIT_SECONDS, LIMIT_SIZE, LIMIT_GIB = 8.0, 100_000, 1.5
LIMIT_GROWTH = 5.0  # of the time, where the size grows fourfold
HEADER = (
    f"{'module':<24}{'instructions':>13}{'parse':>7}{'read':>7}{'norm.':>7}{'match':>7}{'diff':>7}"
    f"{'total':>8}{'x parse':>8}{'wall':>8}{'identical':>10}{'left':>7}{'GiB':>6}"
)
Row = tuple[int, float, float]  # instructions, seconds, GiB
Paths = Mapping[int, str] | None  # of the entry parameters, where a capture knows them


def compiled(spec: str, target: str) -> tuple[bytes, Source]:
    """The optimized HLO proto of a side: of a file, or of a program that is compiled or cached."""
    source = open_source(spec, OpenOptions(target=target))
    assert source.proto is not None
    return source.proto, source


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds of processor time and result of a call, without cyclic garbage collection.

    `hloscope diff` runs without it as well.
    """
    gc.collect()
    gc.disable()
    start = time.process_time()
    result = work(*arguments)
    seconds = time.process_time() - start
    gc.enable()
    return seconds, result


def parse(data: bytes) -> None:
    """The bare protobuf parse, the yardstick."""
    hlo_pb2.HloProto.FromString(data)


def canonical(module: Module, paths: Paths) -> CanonicalModule:
    """The module without noise, its parameters named as its capture names them."""
    return normalize.normalize(module, parameter_paths=paths)


def measure(
    name: str, lhs_file: str, rhs_file: str, lhs_paths: Paths = None, rhs_paths: Paths = None
) -> Row:
    """Prints one line of the table."""
    lhs, rhs = Path(lhs_file).read_bytes(), Path(rhs_file).read_bytes()
    parsed = timed(parse, lhs)[0] + timed(parse, rhs)[0]
    begun = time.perf_counter()
    read_left, left = timed(hlo.read_proto, lhs)
    read_right, right = timed(hlo.read_proto, rhs)
    norm_left, one = timed(canonical, left, lhs_paths)
    norm_right, other = timed(canonical, right, rhs_paths)
    matched, pairing = timed(match.match, one, other)
    compared, _ = timed(diff.compare, one, other, pairing)
    wall = time.perf_counter() - begun
    same = read_left + timed(hlo.read_proto, bytes(lhs))[0] + norm_left
    matched_same, itself = timed(match.match, one, one)
    same += matched_same + timed(diff.compare, one, one, itself)[0]
    total = read_left + read_right + norm_left + norm_right + matched + compared
    left_over = len(pairing.lhs_only) + len(pairing.rhs_only)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name:<24}{left.instruction_count:>13,}{parsed:>7.2f}{read_left + read_right:>7.2f}"
        f"{norm_left + norm_right:>7.2f}{matched:>7.2f}{compared:>7.2f}{total:>8.2f}"
        f"{total / parsed:>8.1f}{wall:>8.1f}{same:>10.2f}{left_over:>7,}{peak:>6.2f}",
        flush=True,
    )
    for note in pairing.notes:
        print(f"    {note}")
    return left.instruction_count, total, peak


def make(step: bytes, copies: int, folder: str) -> tuple[str, str]:
    """Writes copies of a step, and the same edited."""
    files = str(Path(folder) / "lhs.pb"), str(Path(folder) / "rhs.pb")
    tiled = tile(step, copies)
    Path(files[0]).write_bytes(tiled)
    Path(files[1]).write_bytes(edited(tiled, EDIT_EVERY))
    return files


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """What a call gives in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def made(target: str, sizes: list[int]) -> list[Row]:
    """Copies of one train step, side by side, up to each size, against an edited version."""
    if not sizes:
        return []
    step, _ = compiled(MADE_FROM, target)
    single = hlo.read_proto(step).instruction_count
    rows = []
    for size in sizes:
        copies = max(1, round(size / single))
        with tempfile.TemporaryDirectory() as folder:
            files = apart(make, step, copies, folder)
            rows.append(apart(measure, f"made, {copies} copies", *files))
    return rows


def real(name: str, specs: tuple[str, str], target: str) -> Row:
    """Two sides that are files or programs."""
    with tempfile.TemporaryDirectory() as folder:
        files = str(Path(folder) / "lhs.pb"), str(Path(folder) / "rhs.pb")
        paths = []
        for file, spec in zip(files, specs, strict=True):
            proto, source = compiled(spec, target)
            Path(file).write_bytes(proto)
            paths.append(parameter_paths(source))
        row: Row = apart(measure, name, *files, *paths)
    return row


def growth(rows: list[Row]) -> None:
    """How time grows with the size: each row against the one that is nearest to a fourth of it."""
    for place, (larger, longer, _) in enumerate(rows[1:], start=1):
        size, seconds, _ = min(rows[:place], key=lambda row: abs(log(4 * row[0] / larger)))
        grown, factor = longer / seconds, larger / size
        allowed = LIMIT_GROWTH ** log(factor, 4)
        word = "within" if grown <= allowed else "OVER"
        print(
            f"{larger:,} instructions, {factor:.1f} times the size, take {grown:.1f} times as long"
            f" ({word} {allowed:.1f})"
        )


def limits(rows: list[Row]) -> None:
    """What rows of about the size that limits are given for say about them."""
    for size, seconds, peak in rows:
        if abs(size - LIMIT_SIZE) < LIMIT_SIZE / 5:
            word = "within" if seconds <= LIMIT_SECONDS else "OVER"
            held = "within" if peak <= LIMIT_GIB else "OVER"
            print(
                f"a pair of {size:,} instructions takes {seconds:.1f} s ({word} {LIMIT_SECONDS} s)"
                f" and {peak:.2f} GiB ({held} {LIMIT_GIB} GiB)"
            )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="25000,100000,400000,1000000")
    parser.add_argument("--layers", default="4,16,32,96")
    parser.add_argument("--target", default="tpu:v5p:2x2x2")
    parser.add_argument("--pair", nargs=2, action="append", default=[], metavar="SIDE")
    given = parser.parse_args()
    print(HEADER)
    rows = made(given.target, [int(n) for n in given.sizes.split(",") if n])
    unrolled: list[Row] = []
    others: list[Row] = []
    for count in (int(n) for n in given.layers.split(",") if n):
        specs = [UNROLLED.format(stack=stack, layers=count) for stack in ("linen", "nnx")]
        unrolled.append(real(f"gpt3-tiny, {count} layers", (specs[0], specs[1]), given.target))
    others += [real(Path(one).stem, (one, other), given.target) for one, other in given.pair]
    growth(rows)
    growth(unrolled)
    limits([*rows, *unrolled, *others])


if __name__ == "__main__":
    main()
