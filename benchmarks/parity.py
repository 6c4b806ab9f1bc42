"""Parity of Linen and NNX for every reference decoder and step, at tiny size, on the CPU.

Usage: python benchmarks/parity.py [--only gemma3] [--dtype float32,bfloat16]

Prints one line for each pair: the verdict, and the largest error of outputs and of gradients in
units in the last place. Exit code 1 where a pair has no parity.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hloscope import decoders
from hloscope.errors import HloscopeError
from hloscope.model.parity import Parity, ParityVerdict, Part
from hloscope.model.units import Measured
from hloscope.parity import compare_values

TINY = tuple(name for name in decoders.NAMES if name.endswith("-tiny"))
STEPS = (
    "step=forward",
    "step=forward&scan=false",
    "step=prefill",
    "step=decode",
    "step=decode&scan=false",
    "step=train",
    "step=train&scan=false",
    "step=train&accumulate=2",
    "step=train&lora=4",
    "step=train&loss=dpo",
    "step=train&lora=4&loss=dpo&accumulate=2",
    "step=forward&attention=plain",
    "step=train&remat=none",
    "step=train&remat=minimal",
)
OF_EXPERTS = ("step=forward&moe=dropless", "step=train&moe=dropless", "step=decode&moe=dropless")
GOOD = (ParityVerdict.EQUAL, ParityVerdict.WITHIN)


def pairs(only: str, dtypes: list[str]) -> Iterator[tuple[str, str]]:
    """A model and a query, for every combination."""
    for dtype in dtypes:
        for name in TINY:
            steps = STEPS + (OF_EXPERTS if decoders.describe(name)[0].size.experts else ())
            for step in steps if name.startswith(only) else ():
                yield name, f"{step}&dtype={dtype}&seq=32"


def worst(parity: Parity, part: Part) -> str:
    """The largest error of a part, in ulps."""
    if not isinstance(parity.values, Measured):
        return "-"
    errors = [pair.ulps for pair in parity.values.value if pair.part is part]
    return f"{max(errors):.3g}" if errors else "-"


def main() -> None:
    """Looks at every pair."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--dtype", default="float32")
    asked = parser.parse_args()
    failed = 0
    print(f"{'program':<72}{'verdict':<28}{'output':>9}{'gradient':>9}{'s':>6}")
    for name, query in pairs(asked.only, asked.dtype.split(",")):
        start = time.perf_counter()
        try:
            parity = compare_values(f"{name}:linen?{query}", f"{name}:nnx?{query}")
            verdict = str(parity.verdict)
            errors = (worst(parity, Part.OUTPUT), worst(parity, Part.GRADIENT))
            failed += parity.verdict not in GOOD
        except HloscopeError as error:
            verdict, errors = error.problem.splitlines()[0], ("-", "-")
            failed += 1
        seconds = time.perf_counter() - start
        print(
            f"{f'{name}?{query}':<72}{verdict:<28}{errors[0]:>9}{errors[1]:>9}{seconds:>6.0f}",
            flush=True,
        )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
