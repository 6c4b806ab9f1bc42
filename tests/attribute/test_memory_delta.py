"""Law 3 for memory: entries and the unattributed rest add up to the difference, to the byte."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloscope import hlo
from hloscope.attribute import (
    MemoryBy,
    group_memory,
    group_memory_delta,
    memory_delta,
    memory_ledger,
)
from hloscope.match import match
from hloscope.model.canonical import Ref
from hloscope.model.capture import MemoryFigures
from hloscope.model.hlo import Shape
from hloscope.model.ledger import (
    Category,
    DeltaKind,
    Held,
    Instant,
    LedgerDelta,
    LedgerEntry,
    MemoryLedger,
    Part,
    Value,
)
from hloscope.model.pairing import Pair, Pairing, Rule
from hloscope.model.units import Bytes, Missing
from hloscope.normalize import normalize

HERE = Path(__file__).parent
NUMBERS = st.integers(0, 23)  # of the random programs


def ledger_of(path: Path, **options: str) -> MemoryLedger:
    data = path.read_bytes()
    buffers = hlo.read_buffers(data)
    assert buffers is not None
    return memory_ledger(hlo.read_proto(data), buffers, **options)  # type: ignore[arg-type]


def delta_of(lhs: Path, rhs: Path) -> LedgerDelta:
    sides = [normalize(hlo.read_proto(path.read_bytes())) for path in (lhs, rhs)]
    return memory_delta(ledger_of(lhs), ledger_of(rhs), match(*sides))


def check_sums(delta: LedgerDelta) -> None:
    assert sum(entry.size for entry in delta.entries) == delta.total
    assert delta.total == delta.rhs.total - delta.lhs.total
    assert delta.unattributed == 0
    for entry in delta.entries:
        if entry.kind is DeltaKind.RESIZED:
            assert sum(size for _, size in entry.parts) == entry.size, entry
    for by in MemoryBy:
        assert sum(group.size for group in group_memory_delta(delta, by)) == delta.total
        assert sum(group.size for group in group_memory(delta.rhs, by)) == delta.rhs.total


def mirrored(delta: LedgerDelta) -> Counter[int]:
    return Counter(-entry.size for entry in delta.entries)


@pytest.mark.compile
@settings(deadline=None, derandomize=True, max_examples=60)
@given(pair=st.tuples(NUMBERS, NUMBERS))
def test_random_pairs_add_up(random_programs: list[Path], pair: tuple[int, int]) -> None:
    lhs, rhs = (random_programs[number] for number in pair)
    delta = delta_of(lhs, rhs)
    check_sums(delta)
    assert mirrored(delta_of(rhs, lhs)) == Counter(entry.size for entry in delta.entries)


@pytest.mark.compile
def test_a_program_differs_in_nothing_from_itself(random_programs: list[Path]) -> None:
    for path in random_programs:
        delta = delta_of(path, path)
        assert (delta.entries, delta.unchanged) == ((), len(delta.lhs.entries))


@pytest.mark.compile
def test_any_instant_adds_up(random_programs: list[Path]) -> None:
    """At every heap event's instruction the entries cover the allocations, and none overlap."""
    for path in random_programs:
        peak = ledger_of(path)
        for point in peak.timeline[:: max(1, len(peak.timeline) // 5)]:
            ledger = ledger_of(path, at=point.instruction)
            assert ledger.total == peak.total
            assert ledger.of(Category.UNATTRIBUTED) == 0
            assert ledger.of(Category.FRAGMENTATION) >= peak.of(Category.FRAGMENTATION)


@pytest.mark.parametrize("name", ["gpt3-52k", "gpt3-6b-L4", "gpt3-dropout", "llama2-L4"])
def test_corpus_pairs_add_up(corpus: Path, name: str) -> None:
    check_sums(delta_of(*_pair(corpus, name)))


def test_the_gap_of_gpt3_52k_is_thirty_rng_leaves(corpus: Path) -> None:
    delta = delta_of(*_pair(corpus, "gpt3-52k"))
    assert (delta.total, delta.by_kind()) == (15_360, {DeltaKind.ARGUMENT_ADDED: 15_360})
    leaves = [entry.rhs.state for entry in delta.entries if entry.rhs is not None]
    assert [entry.size for entry in delta.entries] == [512] * 30
    assert Counter(leaf[-1] for leaf in leaves) == {"key": 15, "count": 15}
    assert all("rngs" in leaf for leaf in leaves)
    assert len(set(leaves)) == 30


def _pair(corpus: Path, name: str) -> list[Path]:
    folders = [corpus / "maxtext_aot" / f"{name}.{stack}" for stack in ("linen", "nnx")]
    return [next(folder.glob("*after_optimizations.hlo.pb")) for folder in folders]


@pytest.fixture(scope="session")
def case(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LedgerDelta]:
    """Compiles both sides of a shared case and compares their memory."""
    pytest.importorskip("libtpu")

    def compare(number: str) -> LedgerDelta:
        (path,) = cases.glob(f"{number}_*.py")
        folder = tmp_path_factory.mktemp(f"case{number}")
        for side in "ab":
            subprocess.run(
                [sys.executable, str(HERE / "case_side.py"), str(path), side, str(folder)],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
            )  # fmt: skip
        return delta_of(folder / "a.pb", folder / "b.pb")

    return compare


MIB = 1 << 20
# what the cases' EXPECT texts describe: kind, shape, MiB and part of the largest entries
EXPECTED = {
    "01": [(DeltaKind.DONATION_LOST, "f32[4096,4096]", 64)] * 3,
    "03": [
        (DeltaKind.OUTPUT_ADDED, "f32[16,1024,4096]", 256),
        (DeltaKind.OUTPUT_ADDED, "f32[16,4096,1024]", 256),
    ],
    "07": [(DeltaKind.ONLY_RHS, "bf16[12,2048,4096]", 192)] * 5,
    "16": [(DeltaKind.RESIZED, "f32[524288,8]", 240)] * 2,
    "24": [
        (DeltaKind.ONLY_RHS, "bf16[16,1024,4096]", 128),
        (DeltaKind.ONLY_RHS, "bf16[16,4096,1024]", 128),
    ],
    "13": [(DeltaKind.ONLY_RHS, "f32[1048576]", 4)],
    "25": [(DeltaKind.RESIZED, "f32[4096,32768]", 384)],
}


@pytest.mark.compile
@pytest.mark.tpu
@pytest.mark.parametrize("number", sorted(EXPECTED))
def test_cases_lead_with_what_they_are_about(
    number: str, case: Callable[[str], LedgerDelta]
) -> None:
    delta = case(number)
    check_sums(delta)
    expected = EXPECTED[number]
    found = [
        (entry.kind, entry.shown.shape_text.split("{")[0], entry.size // MIB)
        for entry in delta.entries[: len(expected)]
    ]
    assert sorted(found) == sorted(expected)


@pytest.mark.compile
@pytest.mark.tpu
def test_padding_is_told_from_shape(case: Callable[[str], LedgerDelta]) -> None:
    """Case 16: the same elements, sixteen times the bytes."""
    assert {e.parts for e in case("16").entries} == {((Part.LAYOUT, 240 * MIB),)}


ELEMENT, PARAMETER = Value(Ref(0, 0), (1,)), Value(Ref(0, 1), ())
BOTH_PAIRED = Pairing(
    pairs=tuple(Pair(v.ref, v.ref, Rule.BOUNDARY, 1.0) for v in (ELEMENT, PARAMETER)), groups=(),
    lhs_only=(), rhs_only=(), ambiguous=(), partners=(0, 1), rhs_partners=(0, 1),
)  # fmt: skip


def buffer(category: Category, dims: tuple[int, ...], *members: Value) -> LedgerEntry:
    size = Bytes(4 * prod(dims))
    return LedgerEntry(
        category=category, name="buffer", size=size, unpadded=size, value=members[0],
        members=members, shape=Shape("f32", dims), opcode="while" if members[0].part else "",
        parameter=0 if PARAMETER in members else None, outputs=(0,) if ELEMENT in members else (),
    )  # fmt: skip


def side(*entries: LedgerEntry, elsewhere: tuple[int, ...] | None = None) -> MemoryLedger:
    """A ledger of some entries; a loop's element of the extents `elsewhere` lies in VMEM."""
    nothing = Missing("no figure")
    values = {
        value: Held(0, entry.size, entry.category, entry.shape or Shape("f32"))
        for entry in entries
        for value in entry.members
    }
    if elsewhere is not None:
        values[ELEMENT] = Held(1, 4, Category.TEMPORARY, Shape("f32", elsewhere))
    return MemoryLedger(
        space=0, instant=Instant("", ""), at_peak=True, entries=entries, values=values,
        timeline=(),
        figures=MemoryFigures(
            argument=nothing, output=nothing, alias=nothing, temp=nothing, code=nothing, source=""
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("dims", "kind"), [((8, 4), DeltaKind.LIFETIME), ((4,), DeltaKind.ONLY_RHS)]
)
def test_a_loop_carries_other_values_at_the_same_position(
    dims: tuple[int, ...], kind: DeltaKind
) -> None:
    rhs = side(buffer(Category.TEMPORARY, (8, 4), ELEMENT))
    delta = memory_delta(side(elsewhere=dims), rhs, BOTH_PAIRED)
    assert [(e.kind, e.size) for e in delta.entries] == [(kind, 128)]


@pytest.mark.parametrize(
    ("dims", "kind"), [((8, 4), DeltaKind.DONATION_LOST), ((64,), DeltaKind.OUTPUT_ADDED)]
)
def test_donation_is_lost_where_the_argument_could_hold_the_output(
    dims: tuple[int, ...], kind: DeltaKind
) -> None:
    lhs = side(buffer(Category.ALIASED, dims, PARAMETER, ELEMENT))
    rhs = side(buffer(Category.ARGUMENT, dims, PARAMETER), buffer(Category.OUTPUT, (8, 4), ELEMENT))
    delta = memory_delta(lhs, rhs, BOTH_PAIRED)
    assert [(e.kind, e.size) for e in delta.entries] == [(kind, 128)]


@pytest.mark.compile
def test_a_point_of_the_timeline_names_its_allocation(random_programs: list[Path]) -> None:
    ledger = ledger_of(random_programs[0])
    sizes = {entry.allocation for entry in ledger.entries if entry.category is Category.TEMPORARY}
    assert sizes <= {point.allocation for point in ledger.timeline}
