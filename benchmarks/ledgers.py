"""How long the ledgers of a large pair take once its modules are paired.

Usage: python benchmarks/ledgers.py [--layers 32] [--target tpu:v5p:2x2x2]

The pair is the reference decoder gpt3-6b, its layers unrolled, in Linen and in NNX. Both are
compiled here, once, and cached. Times are of the processor, which other processes on the machine
change little, and beside them stands the bare protobuf parse of both sides as a yardstick.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hloscope import attribute, match
from hloscope.hlo.schema import hlo_pb2
from hloscope.model.capture import PayloadName
from hloscope.model.source import Source
from hloscope.normalize import NormalizeOptions
from hloscope.pipeline import OpenOptions, canonical_of, open_source
from hloscope.pipeline.comparing import common_target

SPEC = "gpt3-6b:{stack}?layers={layers}&scan=false"
LIMIT_SECONDS = 5.0

T = TypeVar("T")


class Stages:
    """Times stage after stage, and prints each."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def run(self, name: str, work: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """The result of a stage."""
        start = time.process_time()
        result = work(*arguments, **options)
        self.seconds[name] = time.process_time() - start
        print(f"  {name:<44}{self.seconds[name]:>8.2f} s", flush=True)
        return result


def parse(source: Source) -> None:
    """The bare protobuf parse of the optimized module, the yardstick."""
    assert source.capture is not None
    hlo_pb2.HloProto.FromString(source.capture.payloads[PayloadName.OPTIMIZED])


def side(stages: Stages, name: str, source: Source) -> tuple[Any, Any]:
    """The ledgers of one side."""
    target = common_target(source, source)
    chip = target.chip if target is not None else None
    paths = stages.run(f"{name}: module paths", attribute.source_paths, source)
    memory = stages.run(f"{name}: memory", attribute.source_memory, source, paths=paths)
    account = stages.run(
        f"{name}: cost and communication", attribute.account_source, source, chip=chip, paths=paths
    )
    return memory, account


def main() -> None:
    """Prints the stages and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--target", default="tpu:v5p:2x2x2")
    given = parser.parse_args()
    specs = [SPEC.format(stack=stack, layers=given.layers) for stack in ("linen", "nnx")]
    lhs, rhs = (open_source(spec, OpenOptions(target=given.target)) for spec in specs)
    counts = f"{lhs.module.instruction_count:,} and {rhs.module.instruction_count:,} instructions"
    print(f"{specs[0]} against nnx, {given.target}: {counts}")
    pairing = match.match(*(canonical_of(s, NormalizeOptions()) for s in (lhs, rhs)))
    gc.collect()
    gc.disable()  # as `hloscope diff` runs
    stages = Stages()
    left, right = side(stages, "lhs", lhs), side(stages, "rhs", rhs)
    memory = stages.run("delta of memory", attribute.memory_delta, left[0], right[0], pairing)
    cost = stages.run("delta of cost", attribute.cost_delta, left[1].cost, right[1].cost, pairing)
    sent = stages.run(
        "delta of communication", attribute.communication_delta,
        left[1].communication, right[1].communication, pairing,
    )  # fmt: skip
    total = sum(stages.seconds.values())
    yardstick = Stages()
    for name, source in (("lhs", lhs), ("rhs", rhs)):
        yardstick.run(f"yardstick: bare parse, {name}", parse, source)
    parsed = sum(yardstick.seconds.values())
    print(f"{len(memory.entries)} + {len(cost.entries)} + {len(sent.changes)} entries differ")
    word = "within" if total <= LIMIT_SECONDS else "OVER"
    print(f"{total:.2f} s, {total / parsed:.1f} times the parse ({word} {LIMIT_SECONDS} s)")


if __name__ == "__main__":
    main()
