"""What both sides share is worked out once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hloscope.hlo import read_proto, read_text
from hloscope.hlo.schema import hlo_pb2
from hloscope.model.source import Source, SourceKind
from hloscope.model.target import Target
from hloscope.normalize import NormalizeOptions
from hloscope.pipeline import open_pair
from hloscope.pipeline.comparing import Ledgers, canonical_pair, compare, ledgers_of

TEXT = """
HloModule small

ENTRY %main {
  %p = f32[8] parameter(0)
  ROOT %s = f32[8] sine(%p)
}
"""


def _proto() -> bytes:
    proto = hlo_pb2.HloModuleProto(name="small", id=1, entry_computation_id=1)
    computation = proto.computations.add(name="main", id=1, root_id=1)
    computation.instructions.add(name="p", opcode="parameter", id=1)
    return bytes(proto.SerializeToString())


def _source(label: str) -> Source:
    (module,) = read_text(TEXT)
    return Source(label=label, kind=SourceKind.TEXT, module=module)


def test_the_same_bytes_are_read_once() -> None:
    module = read_proto(_proto())
    assert read_proto(_proto()) is module


def test_equal_modules_are_normalized_once() -> None:
    left, right = canonical_pair(_source("a"), _source("b"), NormalizeOptions())
    assert left is right


def test_modules_of_other_names_are_normalized_each() -> None:
    other = _source("b")
    renamed = replace(other, module=replace(other.module, name="renamed"))
    left, right = canonical_pair(_source("a"), renamed, NormalizeOptions())
    assert left is not right
    assert left.fingerprint == right.fingerprint


def test_equal_sides_are_identical() -> None:
    comparison = compare(_source("a"), _source("b"))
    assert comparison.changes.verdict == "identical"
    assert comparison.lhs.label == "a"
    assert comparison.rhs.label == "b"


def test_equal_files_are_read_once(tmp_path: Path) -> None:
    files = [tmp_path / "a.hlo", tmp_path / "b.hlo", tmp_path / "c.hlo"]
    for file, text in zip(files, (TEXT, TEXT, TEXT.replace("sine", "cosine")), strict=True):
        file.write_text(text)
    left, right = open_pair(str(files[0]), str(files[1]))
    assert right.module is left.module
    assert (left.label, right.label) == (str(files[0]), str(files[1]))
    left, right = open_pair(str(files[0]), str(files[2]))
    assert right.module != left.module


def test_ledgers_of_equal_sides_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(source: Source, target: Target | None) -> Ledgers:
        asked.append(source.label)
        return ledgers_of(source, target)

    monkeypatch.setattr("hloscope.pipeline.comparing.ledgers_of", counted)
    apart = compare(_source("a"), replace(_source("b"), notes=("cut off",)))
    assert asked == ["a", "b"]
    together = compare(_source("a"), _source("b"))
    assert asked == ["a", "b", "a"]
    assert together.cost == apart.cost
    assert together.communication == apart.communication
    assert (together.cost.lhs.label, together.cost.rhs.label) == ("a", "b")
