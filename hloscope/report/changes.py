"""What differs between two graphs, the most bytes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hloscope.model.changes import Change, HeaderChange, ModuleDiff, Place, Region, ScheduleChange
from hloscope.model.comparison import Comparison
from hloscope.model.cost import DeltaEntry
from hloscope.model.units import Measured
from hloscope.report.document import Block, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, short, signed, without_layout

# what fits a first screen
FIRST = 10
_NEIGHBOURS = 3


def changes_section(comparison: Comparison, *, everything: bool = False) -> Section:
    """The regions that differ, those that move most bytes first."""
    changes = comparison.changes
    if not changes.regions:
        note = Note(text="nothing but what is said below", tone=Tone.GOOD)
        return Section(title="what differs in the graph", blocks=(note,))
    regions = changes.regions if everything else changes.regions[:FIRST]
    blocks: list[Block] = [_regions(comparison, regions)]
    if len(changes.regions) > len(regions):
        rest = len(changes.regions) - len(regions)
        blocks.append(Note(text=f"... and {rest} more places (--all)", tone=Tone.QUIET))
    if everything:
        blocks += [block for region in regions for block in _detail(region)]
    return Section(title="what differs in the graph", blocks=tuple(blocks))


def graph_section(comparison: Comparison, *, everything: bool = False) -> Section:
    """Fingerprints, how much pairs up, module attributes, schedule, opcodes."""
    changes = comparison.changes
    blocks: list[Block] = [*_fingerprints(comparison), _pairing(changes)]
    blocks += _opcodes(comparison)
    blocks += _header(changes.header, everything=everything)
    blocks += _schedule(changes.schedule, everything=everything)
    blocks += [Note(text=f"note: {text}", tone=Tone.QUIET) for text in changes.notes]
    return Section(title="the graph as a whole", blocks=tuple(blocks))


def _opcodes(comparison: Comparison) -> Iterator[Block]:
    lhs, rhs = comparison.lhs_summary.opcodes, comparison.rhs_summary.opcodes
    rows = tuple(_opcode_rows(lhs, rhs))
    if rows:
        yield Table(
            columns=("opcode", ">lhs", ">rhs", ">delta"), rows=rows, tones=(Tone.PLAIN,) * len(rows)
        )
    else:
        yield Note(text="the same number of every opcode", tone=Tone.GOOD)


def _opcode_rows(
    lhs: Mapping[str, int], rhs: Mapping[str, int]
) -> Iterator[tuple[str, str, str, str]]:
    total = ("all", sum(lhs.values()), sum(rhs.values()))
    counts = [(name, lhs.get(name, 0), rhs.get(name, 0)) for name in {*lhs, *rhs}]
    differing = sorted((c for c in counts if c[1] != c[2]), key=lambda c: (-abs(c[2] - c[1]), c[0]))
    if differing:
        for name, left, right in [*differing, total]:
            yield name, f"{left:,}", f"{right:,}", signed(f"{right - left:,}")


def _fingerprints(comparison: Comparison) -> Iterator[Note]:
    lhs, rhs = comparison.lhs_summary, comparison.rhs_summary
    if lhs.full_fingerprint == rhs.full_fingerprint:
        yield Note(text=f"fingerprint {lhs.full_fingerprint} on both sides", tone=Tone.GOOD)
    elif lhs.graph_fingerprint == rhs.graph_fingerprint:
        yield Note(
            text=f"graph fingerprint {lhs.graph_fingerprint} on both sides; "
            "layouts or schedule differ"
        )
    else:
        yield Note(text=f"fingerprints {lhs.graph_fingerprint} and {rhs.graph_fingerprint}")


def _pairing(changes: ModuleDiff) -> Note:
    return Note(
        text=f"{changes.paired:,} instructions pair up; {changes.lhs_only:,} of "
        f"{changes.lhs_instructions:,} are on lhs alone, {changes.rhs_only:,} of "
        f"{changes.rhs_instructions:,} on rhs alone"
    )


def _regions(comparison: Comparison, regions: tuple[Region, ...]) -> Table:
    costs = Costs(comparison)
    rows = tuple(_row(costs, number, region) for number, region in enumerate(regions, 1))
    return Table(
        columns=(">#", ">bytes moved", "what, where"),
        rows=rows,
        tones=(Tone.PLAIN,) * len(rows),
    )


def _row(costs: Costs, number: int, region: Region) -> tuple[str, str, str]:
    head = _main(costs, region)
    more = len(region.heads) + len(region.followers) - 1
    rest = f" (and {more} with it)" if more else ""
    at_least = ">=" if region.uncounted_loops else ""
    moved = signed(bytes_text(region.rhs_bytes - region.lhs_bytes))
    where = change_where(head, costs.module_path(head))
    what = f"{_times(region)}{change_text(head)}{rest}"
    return str(number), at_least + moved, f"{what}\n{where}" if where else what


def _times(region: Region) -> str:
    return f"in {region.count} places: " if region.count > 1 else ""


def _main(costs: Costs, region: Region) -> Change:
    """The head that adds or saves most bytes a step; of equals the last along data flow."""
    return max(reversed(region.heads), key=lambda change: costs.bytes_of(change))


class Costs:
    """What the cost ledgers say of the instructions of a change."""

    def __init__(self, comparison: Comparison) -> None:
        self._entries = {
            (side, entry.ref): delta
            for delta in comparison.cost.entries
            for side, entry in (("lhs", delta.lhs), ("rhs", delta.rhs))
            if entry is not None
        }

    def bytes_of(self, change: Change) -> int:
        """Bytes a step, without sign; 0 where unknown or equal."""
        delta = self._delta(change)
        return abs(delta.bytes.value) if delta and isinstance(delta.bytes, Measured) else 0

    def module_path(self, change: Change) -> str:
        """The module path; empty where nothing names one or the cost does not differ."""
        delta = self._delta(change)
        return (delta.entry.module_path or "") if delta else ""

    def _delta(self, change: Change) -> DeltaEntry | None:
        side = "rhs" if change.rhs else "lhs"
        return self._entries.get((side, _place(change).ref))


def change_text(change: Change) -> str:
    """What was added, removed, or differs, on one line."""
    place = _place(change)
    if change.lhs is None or change.rhs is None:
        done = "added" if change.lhs is None else "removed"
        return f"{done} {place.opcode} {short(without_layout(place.shape))} {place.name}"
    fields = "; ".join(
        f"{f.name} {short(f.lhs or 'none')} -> {short(f.rhs or 'none')}" for f in change.fields
    )
    return f"{place.opcode} {place.name}: {fields}"


def _place(change: Change) -> Place:
    place = change.rhs or change.lhs
    assert place is not None  # noqa: S101 - a change is somewhere
    return place


def change_where(change: Change, path: str = "") -> str:
    """The module path (or `path`), or the state that is read, and the source line."""
    place = _place(change)
    path = path or "/".join(place.path) or ", ".join(place.state_paths[:_NEIGHBOURS])
    source = f"{place.frame.file}:{place.frame.line}" if place.frame else ""
    return " ".join(part for part in (path, source) if part)


def _header(changes: tuple[HeaderChange, ...], *, everything: bool) -> Iterator[Block]:
    shown = changes if everything else changes[:FIRST]
    if shown:
        yield Table(
            columns=("module attribute", "lhs", "rhs"),
            rows=tuple((f"{c.change_class}: {c.name}", c.lhs or "-", c.rhs or "-") for c in shown),
            tones=(Tone.PLAIN,) * len(shown),
        )
    if len(changes) > len(shown):
        yield Note(text=f"... and {len(changes) - len(shown)} more (--all)", tone=Tone.QUIET)


def _schedule(changes: tuple[ScheduleChange, ...], *, everything: bool) -> Iterator[Note]:
    shown = changes if everything else changes[:3]
    for change in shown:
        yield Note(
            text=f"schedule: {change.moved:,} instructions of '{change.rhs}' run in another order"
        )
    if len(changes) > len(shown):
        yield Note(
            text=f"schedule: ... and {len(changes) - len(shown)} more computations (--all)",
            tone=Tone.QUIET,
        )


def _detail(region: Region) -> Iterator[Block]:
    for change in (*region.heads, *region.followers):
        yield Note(text=f"{change.role}: {', '.join(change.classes)}")
        for side, place in (("lhs", change.lhs), ("rhs", change.rhs)):
            if place is not None:
                yield Note(text=f"  {side} {place.text}")
                yield Note(
                    text=f"      in {place.computation}; reads {', '.join(place.operands) or '-'}; "
                    f"read by {', '.join(place.users) or '-'}",
                    tone=Tone.QUIET,
                )
