"""Memory totals against XLA's memory_analysis, its live-range report and XProf's memory viewer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from hloscope import hlo
from hloscope.attribute import memory_ledger
from hloscope.attribute.cost_shapes import array_bytes
from hloscope.attribute.memory_ledger import ON_TOP
from hloscope.attribute.memory_values import Values
from hloscope.model.ledger import Category, MemoryLedger
from hloscope.model.units import Measured

HERE = Path(__file__).parent
MIB = 1 << 20
TARGETS = [
    pytest.param("cpu:1", marks=pytest.mark.compile),
    pytest.param("tpu:v5e:2x2", marks=[pytest.mark.compile, pytest.mark.tpu]),
    pytest.param("gpu:h100:1", marks=[pytest.mark.compile, pytest.mark.gpu]),
]


@dataclass(frozen=True)
class Compiled:
    path: Path
    analysis: dict[str, int]
    libtpu: str | None

    def ledger(self) -> MemoryLedger:
        data = self.path.read_bytes()
        module, buffers = hlo.read_proto(data), hlo.read_buffers(data)
        assert buffers is not None
        figures = hlo.memory_figures(buffers, module, self.libtpu)
        return memory_ledger(module, buffers, figures=figures)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Compiled]]:
    """Compiles the programs of memory_programs.py for a target, once."""
    done: dict[str, list[Compiled]] = {}

    def compile_all(target: str) -> list[Compiled]:
        if target not in done:
            folder = tmp_path_factory.mktemp("memory")
            libtpu = _require(target)
            subprocess.run(
                [sys.executable, str(HERE / "memory_programs.py"), target, str(folder)],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900,
            )  # fmt: skip
            done[target] = [
                Compiled(path, json.loads(path.with_suffix(".json").read_text()), libtpu)
                for path in sorted(folder.glob("*.pb"))
            ]
        return done[target]

    return compile_all


def _require(target: str) -> str | None:
    if target.startswith("tpu"):
        pytest.importorskip("libtpu")
        return metadata.version("libtpu")
    if target.startswith("gpu"):
        pytest.importorskip("jax_cuda12_plugin", exc_type=ImportError)
    return None


@pytest.mark.parametrize("target", TARGETS)
def test_figures_equal_memory_analysis(
    target: str, compiled: Callable[[str], list[Compiled]]
) -> None:
    """Argument, output, alias and temp of every program, to the byte."""
    found, expected = {}, {}
    for program in compiled(target):
        figures = program.ledger().figures
        found[program.path.stem] = {
            name: value.value if isinstance(value := getattr(figures, name), Measured) else None
            for name in program.analysis
        }
        expected[program.path.stem] = program.analysis
    assert found == expected
    assert len(found) >= 17


@pytest.mark.parametrize("target", TARGETS)
def test_ledgers_add_up_to_memory_analysis(
    target: str, compiled: Callable[[str], list[Compiled]]
) -> None:
    for program in compiled(target):
        ledger = program.ledger()
        of = program.analysis
        inside = of["argument"] + of["output"] - of["alias"] + of["temp"]
        assert ledger.total == inside + ledger.of(Category.CONSTANT), program.path.stem
        assert ledger.of(Category.UNATTRIBUTED) == 0, program.path.stem


@pytest.mark.parametrize("target", TARGETS)
def test_peak_equals_xprof(target: str, compiled: Callable[[str], list[Compiled]]) -> None:
    programs = compiled(target)
    viewed = xprof([program.path for program in programs])
    for program, seen in zip(programs, viewed, strict=True):
        assert _of_xprof(seen) == _like_xprof(program.ledger()), program.path.stem


def test_corpus_peak_equals_xprof(corpus: Path) -> None:
    paths = sorted(corpus.glob("maxtext_aot/*/*after_optimizations.hlo.pb"))
    paths += sorted(corpus.glob("xprof/*loss*.pb"))
    for path, seen in zip(paths, xprof(paths), strict=True):
        assert _of_xprof(seen) == _like_xprof(Compiled(path, {}, None).ledger()), path


def xprof(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """XProf's memory viewer on HloProtos, in a child: it logs a lot, and could take us down."""
    pytest.importorskip("xprof")
    child = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "xprof_viewer.py"), "0"],
        input="\n".join(map(str, paths)), capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return [json.loads(line) for line in child.stdout.splitlines()]


def _of_xprof(seen: dict[str, Any]) -> dict[str, int]:
    return {name: round(size * MIB) for name, size in seen.items() if name != "heapSizes"} | {
        "most of heapSizes": round(max(seen["heapSizes"] or [0]) * MIB)
    }


def _like_xprof(ledger: MemoryLedger) -> dict[str, int]:
    """XProf's figures by its own rules, which docs/memory.md compares with ours."""
    lasting = ledger.of(Category.ARGUMENT, Category.ALIASED, Category.OUTPUT, Category.CONSTANT)
    most = max((point.size for point in ledger.timeline), default=0)
    on_top = sum(e.size for e in ledger.entries if e.name == ON_TOP)
    return {
        "peakHeapMib": most or lasting,
        "entryComputationParametersMib": ledger.of(Category.ARGUMENT, Category.ALIASED),
        "maybeLiveOutMib": ledger.of(Category.OUTPUT, Category.ALIASED),
        "totalBufferAllocationMib": ledger.total - on_top,
        "most of heapSizes": most,
    }


def test_live_range_reports_agree_on_every_buffer(corpus: Path) -> None:
    """XLA's live-range peak counts elements without padding, in all memory spaces at once."""
    compared = 0
    for report in sorted(corpus.glob("maxtext_aot/*/*live-range.txt")):
        (proto,) = report.parent.glob("*after_optimizations.hlo.pb")
        data = proto.read_bytes()
        buffers = hlo.read_buffers(data)
        assert buffers is not None
        sizes = _unpadded(Values(hlo.read_proto(data), buffers))
        listed = list(_peak(report.read_text()))
        for name, size, _ in listed:
            assert sizes.get(name, size) == size, (report, name)
            compared += name in sizes
        assert listed[-1][2] == sum(size for _, size, _ in listed)
    assert compared > 900


def _peak(text: str) -> Iterator[tuple[str, int, int]]:
    start = re.search(r"Live ranges at \d+ \(peak\):\n", text)
    assert start is not None
    line = re.compile(r"    (\S+): (\d+) bytes \(cumulative: (\d+) bytes\)\n")
    position = start.end()
    while found := line.match(text, position):
        yield found[1], int(found[2]), int(found[3])
        position = found.end()


def _unpadded(values: Values) -> dict[str, int]:
    """Bytes of each array value, named as the report names it."""
    sizes = {}
    for value in values.by_buffer.values():
        shape = values.shape(value)
        if shape.dtype != "tuple":
            index = ",".join(map(str, value.part))
            sizes[f"{values.instruction(value.ref).name}{{{index}}}"] = array_bytes(
                shape, padded=False
            )
    return sizes
