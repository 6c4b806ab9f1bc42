"""Where two compiles part, as a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hloscope.explain.passes_align import step_name
from hloscope.model.comparison import Comparison
from hloscope.model.passes import FirstOperation, GapChange, PassBisection, PassMetric
from hloscope.report.changes import changes_section, graph_section
from hloscope.report.comparison_json import comparison_json
from hloscope.report.document import Block, Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, count_text, maybe_bytes, signed
from hloscope.report.plain import plain

_INPUT = -1
FORMAT = 1

_WORDS = {
    PassMetric.PEAK: "the estimated peak",
    PassMetric.FLOPS: "FLOPs",
    PassMetric.BYTES: "bytes moved",
}


def passes_document(
    found: PassBisection, change: Comparison | None, *, everything: bool = False
) -> Document:
    """Where the graphs part, where the metric does, and what differs there."""
    sections = [*_inputs(found), *_metric(found), *_change(found, change, everything)]
    notes = (Note(text=f"note: {text}", tone=Tone.QUIET) for text in found.notes)
    return Document(
        headline=Note(text=_headline(found)),
        lead=(*_lead(found), *notes),
        sections=tuple(sections),
    )


def passes_json(found: PassBisection, change: Comparison | None) -> dict[str, Any]:
    """The same as plain data; `change` is as `hloscope diff --json` gives it."""
    listed = plain(found)
    for number, step in enumerate(listed["steps"]):
        step["name"] = step_name(found.steps, number)
    compared = None if change is None else comparison_json(change)
    return {"format": FORMAT, **listed, "change": compared}


def _headline(found: PassBisection) -> str:
    pair = f"{found.lhs} against {found.rhs}"
    if found.graph is None:
        return f"THE SAME AFTER EVERY PASS: {pair}"
    if found.graph == _INPUT:
        return f"THE COMPILERS' INPUTS DIFFER ALREADY: {pair}"
    return f"PART AT PASS {found.graph + 1} OF {len(found.steps)}: {pair}"


def _lead(found: PassBisection) -> Iterator[Note]:
    yield Note(
        text=f"{found.lhs_count} and {found.rhs_count} modules dumped, {len(found.steps)} moments "
        f"lined up, {found.modules[0]} modules read",
        tone=Tone.QUIET,
    )
    if found.graph is not None and found.graph != _INPUT:
        yield Note(
            text=f"the graphs first differ after {step_name(found.steps, found.graph)}",
            tone=Tone.BAD,
        )
    if found.rejoined is not None:
        yield Note(
            text=f"the graphs are the same again from {step_name(found.steps, found.rejoined)} on",
            tone=Tone.GOOD,
        )
    elif found.graph is not None and found.same_at_end:
        yield Note(text="the optimized modules are the same again", tone=Tone.GOOD)
    yield from _parting(found)


def _parting(found: PassBisection) -> Iterator[Note]:
    if found.metric is PassMetric.GRAPH:
        return
    words = _WORDS[found.metric]
    if found.parts is None:
        yield Note(text=f"{words}: the same on both sides throughout", tone=Tone.GOOD)
        return
    gap = _text(found, found.parts.after)
    if found.parts.step == _INPUT:
        yield Note(text=f"{words}: {gap} at the input already", tone=Tone.BAD)
    else:
        where = step_name(found.steps, found.parts.step)
        yield Note(text=f"{words}: first apart, by {gap}, after {where}", tone=Tone.BAD)
    if found.changes:
        most = found.changes[0]
        yield Note(
            text=f"{words}: most is won or lost, {_text(found, most.size)}, "
            f"in {step_name(found.steps, most.step)}"
        )


def _text(found: PassBisection, value: float) -> str:
    if found.metric is PassMetric.FLOPS:
        return signed(count_text(int(value)))
    return signed(bytes_text(int(value)))


def _inputs(found: PassBisection) -> Iterator[Section]:
    part = found.inputs
    if part is None:
        return
    blocks: list[Block] = [
        _operation("lhs", part.lhs),
        _operation("rhs", part.rhs),
    ]
    if part.lhs is None and part.rhs is None:
        blocks = []
    if part.note:
        blocks.append(Note(text=part.note, tone=Tone.QUIET))
    yield Section(title=f"first difference in the {part.kind}", blocks=tuple(blocks))


def _operation(side: str, operation: FirstOperation | None) -> Note:
    if operation is None:
        return Note(text=f"{side}  nothing there")
    source = f"  {operation.source}" if operation.source else ""
    return Note(text=f"{side}  {operation.text}{source}")


def _metric(found: PassBisection) -> Iterator[Section]:
    if found.metric is PassMetric.GRAPH:
        return
    changes = [_gap(found, change) for change in found.changes]
    end = len(found.steps) - 1
    rows = [_figures(found, _INPUT, "the input"), *changes]
    if end in found.figures:
        rows.append(_figures(found, end, "the last pass"))
    blocks: list[Block] = [
        Table(
            columns=(">pass", ">lhs", ">rhs", ">gap", ">changed by", "what ran"),
            rows=tuple(rows),
            tones=(Tone.PLAIN,) * len(rows),
        )
    ]
    if found.totals is not None:
        left, right = (maybe_bytes(total) for total in found.totals)
        blocks.append(Note(text=f"as assigned in the end: {left} and {right}"))
    yield Section(title=f"{_WORDS[found.metric]} through the passes", blocks=tuple(blocks))


def _gap(found: PassBisection, change: GapChange) -> tuple[str, ...]:
    name = step_name(found.steps, change.step)
    number, lhs, rhs, gap, _, _ = _figures(found, change.step, name)
    return number, lhs, rhs, gap, _text(found, change.size), name


def _figures(found: PassBisection, step: int, name: str) -> tuple[str, ...]:
    lhs, rhs = found.figures[step]
    sides = (_text(found, value).removeprefix("+") for value in (lhs, rhs))
    return (str(step + 1), *sides, _text(found, rhs - lhs), "", name)


def _change(found: PassBisection, change: Comparison | None, everything: bool) -> Iterator[Section]:
    if change is None or found.shown is None:
        return
    blocks = changes_section(change, everything=everything).blocks
    if not change.changes.regions:  # donation, layouts or the schedule
        blocks = graph_section(change, everything=everything).blocks
    where = (
        "the inputs"
        if found.shown == _INPUT
        else f"the modules after pass {found.shown + 1}, {step_name(found.steps, found.shown)}"
    )
    yield Section(title=f"lhs against rhs: {where}", blocks=blocks)
