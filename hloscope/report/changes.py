"""What differs between two graphs, the most bytes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hloscope.model.changes import Change, HeaderChange, ModuleDiff, Place, Region, ScheduleChange
from hloscope.model.comparison import Comparison
from hloscope.report.document import Block, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, signed

# what fits a first screen
FIRST = 10
_NEIGHBOURS = 3


def graph_section(comparison: Comparison, *, everything: bool = False) -> Section:
    """Fingerprints, how much pairs up, and the regions that differ."""
    changes = comparison.changes
    blocks: list[Block] = [*_fingerprints(comparison), _pairing(changes)]
    regions = changes.regions if everything else changes.regions[:FIRST]
    if regions:
        blocks.append(_regions(regions))
    if len(changes.regions) > len(regions):
        rest = len(changes.regions) - len(regions)
        blocks.append(Note(text=f"... and {rest} more places (--all)", tone=Tone.QUIET))
    blocks += _header(changes.header, everything=everything)
    blocks += _schedule(changes.schedule, everything=everything)
    blocks += [Note(text=f"note: {text}", tone=Tone.QUIET) for text in changes.notes]
    if everything:
        blocks += [block for region in regions for block in _detail(region)]
    return Section(title="what differs in the graph", blocks=tuple(blocks))


def opcodes_section(comparison: Comparison) -> Section:
    """Instructions by opcode, those whose number differs."""
    lhs, rhs = comparison.lhs_summary.opcodes, comparison.rhs_summary.opcodes
    rows = tuple(_opcode_rows(lhs, rhs))
    if not rows:
        note = Note(text="the same number of every opcode", tone=Tone.GOOD)
        return Section(title="instructions by opcode", blocks=(note,))
    table = Table(
        columns=("opcode", ">lhs", ">rhs", ">delta"), rows=rows, tones=(Tone.PLAIN,) * len(rows)
    )
    return Section(title="instructions by opcode", blocks=(table,))


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


def _regions(regions: tuple[Region, ...]) -> Table:
    rows = tuple(_row(number, region) for number, region in enumerate(regions, 1))
    return Table(
        columns=(">#", ">times", ">bytes moved", "what", "where"),
        rows=rows,
        tones=(Tone.PLAIN,) * len(rows),
    )


def _row(number: int, region: Region) -> tuple[str, str, str, str, str]:
    head = region.heads[0]
    more = len(region.heads) + len(region.followers) - 1
    kinds = ", ".join(region.classes)
    rest = f" (+{more} with it)" if more else ""
    at_least = ">=" if region.uncounted_loops else ""
    moved = signed(bytes_text(region.rhs_bytes - region.lhs_bytes))
    return (
        str(number),
        f"{region.count}x" if region.count > 1 else "",
        at_least + moved,
        f"{kinds}: {_what(head)}{rest}",
        _where(head),
    )


def _what(change: Change) -> str:
    place = _place(change)
    if change.lhs is None or change.rhs is None:
        sign = "+" if change.lhs is None else "-"
        return f"{sign} {place.opcode} {place.shape} {place.name}"
    fields = "; ".join(f"{f.name} {f.lhs or 'none'} -> {f.rhs or 'none'}" for f in change.fields)
    return f"{place.name}: {fields}"


def _place(change: Change) -> Place:
    place = change.rhs or change.lhs
    assert place is not None  # noqa: S101 - a change is somewhere
    return place


def _where(change: Change) -> str:
    place = _place(change)
    path = "/".join(place.path) or ", ".join(place.state_paths[:_NEIGHBOURS])
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
