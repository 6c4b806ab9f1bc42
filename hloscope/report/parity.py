"""Whether two programs compute the same, as a document."""

from __future__ import annotations

from typing import Any

from hloscope.model.capture import Leaf
from hloscope.model.parity import LeafPair, Parity, ParityVerdict, Part, ValuePair
from hloscope.model.units import Measured, Missing
from hloscope.report.document import Block, Document, Note, Section, Table, Tone
from hloscope.report.numbers import count_text
from hloscope.report.plain import plain

FORMAT = 1
_SHOWN = 8
_TONES = {
    ParityVerdict.EQUAL: Tone.GOOD,
    ParityVerdict.WITHIN: Tone.GOOD,
    ParityVerdict.SAME_TREES: Tone.PLAIN,
    ParityVerdict.DIFFERENT: Tone.BAD,
    ParityVerdict.TREES_DIFFER: Tone.BAD,
}


def parity_document(parity: Parity, *, everything: bool = False) -> Document:
    """The verdict, the trees side by side, then the errors of every part."""
    sections = [
        _tree("what goes in", parity.inputs, everything),
        _tree("what comes out", parity.outputs, everything),
        *_values(parity, everything),
    ]
    return Document(
        headline=Note(text=str(parity.verdict), tone=_TONES[parity.verdict]),
        lead=tuple(_lead(parity)),
        sections=tuple(section for section in sections if section is not None),
    )


def parity_json(parity: Parity) -> dict[str, Any]:
    """The same as plain data."""
    return {"format": FORMAT, "verdict": str(parity.verdict), **plain(parity)}


def _lead(parity: Parity) -> list[Note]:
    lines = [Note(text=f"{parity.lhs} against {parity.rhs}", tone=Tone.QUIET)]
    match parity.values:
        case Measured(values):
            worst = max((pair.ulps for pair in values), default=0.0)
            lines.append(
                Note(
                    text=f"largest error {_ulps(worst)} ulps of {parity.unit}, at most "
                    f"{_ulps(parity.tolerance)} allowed; inputs by seed {parity.seed}, integers "
                    f"below {parity.bound}"
                )
            )
        case Missing(reason):
            lines.append(Note(text=f"no values: {reason}", tone=Tone.QUIET))
    return lines


def _tree(title: str, pairs: tuple[LeafPair, ...], everything: bool) -> Section | None:
    if not pairs:
        return None
    same = [pair for pair in pairs if pair.is_mapped and not pair.differences]
    random = [pair for pair in pairs if pair.random and not pair.is_mapped]
    unchanged = [pair for pair in pairs if pair.unchanged]
    odd = [pair for pair in pairs if pair not in (*same, *random, *unchanged)]
    counted = f"{count_text(len(same))} leaves of {count_text(len(pairs))} are the same"
    if random:
        counted += f"; {count_text(len(random))} are random state that one side alone keeps"
    if unchanged:
        counted += f"; {count_text(len(unchanged))} one side alone gives back as they came in"
    blocks: list[Block] = [Note(text=counted)]
    shown = list(pairs) if everything else odd[:_SHOWN]
    if shown:
        blocks.append(_leaves(shown))
    if (hidden := len(odd) - len(shown)) and not everything:
        blocks.append(Note(text=f"{hidden} more that differ: --all", tone=Tone.QUIET))
    return Section(title=title, blocks=tuple(blocks))


def _leaves(pairs: list[LeafPair]) -> Table:
    rows = []
    for pair in pairs:
        lhs, rhs = _leaf(pair.lhs), _leaf(pair.rhs)
        if not (pair.differences or pair.lhs is None or pair.rhs is None):
            rhs = "the same"
        rows.append((".".join(pair.path), lhs, rhs))
    tones = tuple(Tone.PLAIN if pair.is_mapped or pair.random else Tone.BAD for pair in pairs)
    return Table(columns=("leaf", "lhs", "rhs"), rows=tuple(rows), tones=tones)


def _leaf(leaf: Leaf | None) -> str:
    if leaf is None:
        return "-"
    shape = f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"
    spec = (leaf.sharding or "").removeprefix("PartitionSpec")
    return f"{shape} {spec}".rstrip()


def _values(parity: Parity, everything: bool) -> list[Section]:
    if not isinstance(parity.values, Measured):
        return []
    sections = []
    for part in Part:
        pairs = [pair for pair in parity.values.value if pair.part is part]
        if pairs:
            sections.append(
                Section(title=f"{part}s", blocks=tuple(_errors(pairs, parity, everything)))
            )
    return sections


def _errors(pairs: list[ValuePair], parity: Parity, everything: bool) -> list[Block]:
    unequal = [pair for pair in pairs if pair.unequal]
    equal = len(pairs) - len(unequal)
    blocks: list[Block] = [
        Note(text=f"{count_text(equal)} of {count_text(len(pairs))} are equal, bit for bit")
    ]
    shown = pairs if everything else unequal[:_SHOWN]
    if shown:
        blocks.append(
            Table(
                columns=("leaf", ">unequal", ">of", ">largest value", ">error", ">ulps"),
                rows=tuple(_error(pair) for pair in shown),
                tones=tuple(
                    Tone.BAD if pair.ulps > parity.tolerance else Tone.PLAIN for pair in shown
                ),
            )
        )
    if not everything and len(unequal) > len(shown):
        hidden = len(unequal) - len(shown)
        blocks.append(Note(text=f"{hidden} more that differ: --all", tone=Tone.QUIET))
    return blocks


def _error(pair: ValuePair) -> tuple[str, ...]:
    numbers = (count_text(pair.unequal), count_text(pair.elements))
    return (
        ".".join(pair.path),
        *numbers,
        f"{pair.scale:.4g}",
        f"{pair.error:.3g}",
        _ulps(pair.ulps),
    )


def _ulps(number: float) -> str:
    return f"{number:.3g}"
