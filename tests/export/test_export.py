"""Exports, held to what the other tool's own classes or a second count says of them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import hloscope
from hloscope.cli import VERBS, cli
from hloscope.cli.export import NAMES
from hloscope.errors import HloscopeError
from hloscope.export import FORMATS, export
from hloscope.export.perfetto import Lifetime, packed
from hloscope.hlo import read_text
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source

HLO = "HloModule m\n\nENTRY e {\n  p = f32[2]{0} parameter(0)\n  ROOT n = f32[2]{0} negate(p)\n}\n"

compiled = pytest.mark.compile


@pytest.fixture(scope="session")
def comparison(sides: tuple[Source, Source]) -> Comparison:
    return hloscope.compare(*sides)


@pytest.fixture
def text_side(tmp_path: Path) -> Source:
    path = tmp_path / "module.txt"
    path.write_text(HLO)
    return hloscope.open(path)


def test_the_command_offers_every_format() -> None:
    assert tuple(FORMATS) == NAMES
    assert "export" in VERBS


def test_an_unknown_format_is_refused(text_side: Source) -> None:
    with pytest.raises(HloscopeError, match="unknown format 'svg'"):
        export("svg", text_side)


def test_text_cannot_go_to_xprof(text_side: Source) -> None:
    with pytest.raises(HloscopeError, match="XProf reads HLO protos"):
        export("xprof", text_side)


def test_memory_needs_a_buffer_assignment(text_side: Source) -> None:
    with pytest.raises(HloscopeError, match="no buffer assignment"):
        export("perfetto", text_side)


def test_tables_without_memory_say_so(text_side: Source) -> None:
    files = export("csv", text_side)
    assert sorted(files.contents) == ["communication.csv", "cost.csv"]
    assert files.notes == (f"no memory table: '{text_side.label}' has no buffer assignment",)


def test_hlo_reads_back_as_the_same_module(text_side: Source) -> None:
    (module,) = read_text(export("hlo", text_side).contents[""].decode())
    assert module == text_side.module


def test_dot_has_every_instruction_and_edge(text_side: Source) -> None:
    lines = export("dot", text_side).contents[""].decode().splitlines()
    assert lines[0] == "digraph m {"
    assert [line.split()[0] for line in lines if "[label=" in line] == ["i0_0", "i0_1"]
    assert [line.strip() for line in lines if "->" in line] == ["i0_0 -> i0_1"]


def test_lanes_hold_no_two_buffers_at_once() -> None:
    lives = [Lifetime(0, 4, 8, 1), Lifetime(4, 6, 8, 2), Lifetime(1, 3, 16, 3),
             Lifetime(3, 9, 2, 4), Lifetime(2, 3, 0, 5)]  # fmt: skip
    assert packed(lives) == [
        [Lifetime(1, 3, 16, 3), Lifetime(4, 6, 8, 2)],
        [Lifetime(0, 4, 8, 1)],
        [Lifetime(3, 9, 2, 4)],
    ]


@compiled
def test_perfetto_counter_is_the_sum_of_the_slices(sides: tuple[Source, Source]) -> None:
    events = json.loads(export("perfetto", sides[0]).contents[""])["traceEvents"]
    counter = [e["args"]["bytes"] for e in events if e["ph"] == "C"]
    assert counter == [point.size for point in hloscope.memory(sides[0]).timeline]
    held = [0] * len(counter)
    for slice_ in (e for e in events if e["ph"] == "X"):
        for at in range(slice_["ts"], slice_["ts"] + slice_["dur"]):
            held[at] += slice_["args"]["bytes"]
    lasting = {total - now for total, now in zip(counter, held, strict=True)}
    assert len(lasting) == 1
    assert lasting.pop() >= 0


@compiled
def test_perfetto_has_both_sides(comparison: Comparison) -> None:
    events = json.loads(export("perfetto", comparison).contents[""])["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {1: comparison.lhs.label, 2: comparison.rhs.label}


@compiled
def test_model_explorer_reads_its_graphs(comparison: Comparison) -> None:
    dacite = pytest.importorskip("dacite")
    builder = pytest.importorskip("model_explorer.graph_builder")
    files = export("model-explorer", comparison).contents
    assert sorted(files) == ["lhs.json", "mapping.json", "rhs.json"]
    nodes = []
    for name, side in (("lhs.json", comparison.lhs), ("rhs.json", comparison.rhs)):
        strict = dacite.Config(strict=True)
        collection = dacite.from_dict(builder.GraphCollection, json.loads(files[name]), strict)
        (graph,) = collection.graphs
        ids = {node.id for node in graph.nodes}
        assert len(ids) == len(graph.nodes) == side.module.instruction_count
        assert {e.sourceNodeId for n in graph.nodes for e in n.incomingEdges} <= ids
        assert any(node.namespace for node in graph.nodes)
        nodes.append(ids)
    mapping = json.loads(files["mapping.json"])["mappingEntries"]
    assert len(mapping) == len(comparison.pairing.pairs)
    for side_ids, key in zip(nodes, ("leftNodeIds", "rightNodeIds"), strict=True):
        assert {entry[key][0] for entry in mapping} <= side_ids


@compiled
def test_tables_are_the_frames(comparison: Comparison) -> None:
    files = export("parquet", comparison).contents
    assert sorted(files) == [
        f"{name}.parquet"
        for name in ("changes", "communication", "cost", "inputs", "memory", "outputs", "totals")
    ]
    assert comparison.memory is not None
    read = pd.read_parquet(io.BytesIO(files["memory.parquet"]))
    assert list(read["bytes"]) == list(comparison.memory.frame()["bytes"])
    assert read["bytes"].sum() == comparison.memory.total


@compiled
def test_xla_reads_the_text_again(sides: tuple[Source, Source], tmp_path: Path) -> None:
    path = tmp_path / "module.hlo"
    path.write_bytes(export("hlo", sides[0]).contents[""])
    code = (
        "import sys; from jaxlib import _hlo; from pathlib import Path\n"
        "module = _hlo.hlo_module_from_text(Path(sys.argv[1]).read_text())\n"
        "print(len(module.computations()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == len(sides[0].module.computations)


@compiled
@pytest.mark.parametrize("name", NAMES)
def test_the_command_writes_what_it_says(
    name: str, paths: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    arguments = ["export", str(paths[0]), str(out), "--to", name, "--json"]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    written = json.loads(result.output)["files"]
    found = [out] if out.is_file() else [p for p in out.rglob("*") if p.is_file()]
    assert sorted(written) == sorted(map(str, found))
    assert all(path.stat().st_size for path in found)
    assert out.is_dir() == FORMATS[name].folder


@compiled
def test_a_format_of_one_side_refuses_two(paths: tuple[Path, Path], tmp_path: Path) -> None:
    arguments = ["export", *map(str, paths), str(tmp_path / "out"), "--to", "dot"]
    result = CliRunner().invoke(cli, arguments)
    assert isinstance(result.exception, HloscopeError)
    assert str(result.exception).startswith("format 'dot' takes one side, not two")
    assert not (tmp_path / "out").exists()


@compiled
@pytest.mark.parametrize(("name", "problem"), [("csv", "is a file"), ("hlo", "is a folder")])
def test_what_stands_in_the_way_stays(
    name: str, problem: str, paths: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    if name == "csv":
        out.write_text("mine")
    else:
        out.mkdir()
    result = CliRunner().invoke(cli, ["export", str(paths[0]), str(out), "--to", name])
    assert problem in str(result.exception)
    assert out.read_text() == "mine" if name == "csv" else not list(out.iterdir())
