"""Linen against NNX, for every reference decoder, scanned and unrolled, in every step.

Usage: python benchmarks/decoders.py [--results decoders.jsonl] [--only gemma3] [--targets cpu:8]

Each cell compiles both stacks at a published width and few layers, and holds what the NNX program
takes more at peak, the verdict, and the finding that explains most. What is measured already is
read from the results file, so that a run that was stopped goes on; `--again` forgets it. A cell
that fails has its reason. Prints a Markdown table of all that the results file has.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hloscope
from hloscope.errors import HloscopeError
from hloscope.model.comparison import Comparison
from hloscope.model.units import Measured, Missing

# one turn of each pattern of layers, and what is left over, where there is a pattern
LAYERS = {
    "gpt3-6b": 2,
    "llama2-7b": 2,
    "llama3.1-8b": 2,
    "deepseek-v3": 5,
    "gemma3-4b": 7,
    "llama4-scout": 4,
}
SCANS = ("true", "false")
STEPS = ("train", "prefill", "decode")
TARGETS = ("tpu:v5e:2x2", "cpu:8")
# all heads of these split over four and eight devices, and the width over fsdp
OPTIONS = "seq=1024"

Cell = dict[str, Any]
Key = tuple[str, str, str, str]


def measure(key: Key) -> Cell:
    """Compares the two stacks in one cell."""
    model, scan, step, target = key
    query = f"layers={LAYERS[model]}&scan={scan}&step={step}&{OPTIONS}"
    start = time.perf_counter()
    try:
        comparison = hloscope.compare(
            f"{model}:linen?{query}", f"{model}:nnx?{query}", target=target, timeout=1200.0
        )
        found = _found(comparison)
    except HloscopeError as error:
        found = {"failed": error.problem.splitlines()[0]}
    return {"key": key, "query": query, "seconds": round(time.perf_counter() - start, 1), **found}


def _found(comparison: Comparison) -> Cell:
    memory = comparison.memory
    explanation = comparison.explanation
    top = explanation.findings[0] if explanation.findings else None
    claimed = top.claim.bytes.value if top and isinstance(top.claim.bytes, Measured) else None
    return {
        "linen": memory.lhs.total if memory else None,
        "nnx": memory.rhs.total if memory else None,
        "verdict": _verdict(comparison),
        "finding": f"{top.code} {top.title}" if top else "none: nothing differs that costs",
        "claimed": claimed,
        "crashes": [f"{crash.analyzer}: {crash.message}" for crash in explanation.crashes],
    }


def _verdict(comparison: Comparison) -> str:
    """What the last stage that both sides have comes to."""
    match comparison.verdicts[-1].verdict:
        case Measured(verdict):
            return str(verdict)
        case Missing(reason):
            return f"unknown: {reason}"


def read(results: Path) -> dict[Key, Cell]:
    """The cells that are measured already."""
    if not results.exists():
        return {}
    cells = [json.loads(line) for line in results.read_text().splitlines()]
    return {tuple(cell["key"]): cell for cell in cells}


def table(cells: dict[Key, Cell]) -> str:
    """All cells as Markdown."""
    lines = [
        "| model | layers | scan | step | target | Linen MiB | NNX MiB | gap | verdict | finding |",
        "| --- | --: | --- | --- | --- | --: | --: | --: | --- | --- |",
    ]
    for model, step, scan, target in product(LAYERS, STEPS, SCANS, TARGETS):
        if (cell := cells.get((model, scan, step, target))) is not None:
            row = (model, str(LAYERS[model]), scan, step, target, *_cell(cell))
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _cell(cell: Cell) -> tuple[str, ...]:
    if "failed" in cell:
        return ("-", "-", "-", "failed", cell["failed"].replace("|", "\\|"))
    verdict = cell["verdict"]
    finding = cell["finding"].replace("|", "\\|")
    if cell["linen"] is None:
        return ("unknown", "unknown", "unknown", verdict, finding)
    gap = cell["nnx"] - cell["linen"]
    claim = "" if cell["claimed"] is None else f" ({cell['claimed']:+,} B)"
    mebibytes = (f"{cell[stack] / 2**20:,.1f}" for stack in ("linen", "nnx"))
    return (*mebibytes, f"{gap:+,} B", verdict, finding + claim)


def main() -> None:
    """Fills the cells that are missing, then prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("decoders.jsonl"))
    parser.add_argument("--only", default="", help="models whose name starts so")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--again", action="store_true", help="measure anew what is there")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    cells = {} if asked.again else read(asked.results)
    models = [model for model in LAYERS if model.startswith(asked.only)]
    wanted = product(models, SCANS, STEPS, asked.targets.split(","))
    for key in () if asked.table else wanted:
        if key in cells:
            continue
        cells[key] = measure(key)
        print(*key, cells[key]["seconds"], "s", file=sys.stderr)
        with asked.results.open("a") as results:
            results.write(json.dumps(cells[key]) + "\n")
    print(table(cells))


if __name__ == "__main__":
    main()
