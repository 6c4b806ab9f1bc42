"""The document of a comparison: the verdict, what it costs, then the parts."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.model.capture import Capture, OutOfMemory
from hloscope.model.changes import StageVerdict, Verdict
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source
from hloscope.model.units import Bytes, Maybe, Measured, Missing
from hloscope.report.changes import changes_section, graph_section
from hloscope.report.cost_delta import (
    communication_blocks,
    cost_delta_blocks,
    has_collectives,
    step_line,
)
from hloscope.report.document import Block, Document, Note, Section, Tone
from hloscope.report.environment import alarm, environment_section, leaves_section
from hloscope.report.figures_table import (
    cost_table,
    memory_notes,
    memory_table,
    memory_total,
)
from hloscope.report.memory_delta import memory_delta_blocks
from hloscope.report.numbers import bytes_text, maybe_bytes, signed

_WORDS = {
    Verdict.IDENTICAL: "IDENTICAL",
    Verdict.SAME_GRAPH: "SAME PROGRAM",
    Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT: "SAME PROGRAM, OTHER SCHEDULE OR LAYOUT",
    Verdict.DIFFERENT: "NOT THE SAME PROGRAM",
}


def comparison_document(comparison: Comparison, *, everything: bool = False) -> Document:
    """Everything that a comparison found, the answer first.

    Args:
      comparison: what was found.
      everything: whether long lists are given whole.
    """
    sections = (
        changes_section(comparison, everything=everything),
        environment_section(comparison.environment),
        *_leaves(comparison, everything),
        *_memory(comparison, everything),
        *_cost(comparison, everything),
        graph_section(comparison, everything=everything),
    )
    return Document(
        headline=Note(text=_headline(comparison)),
        lead=tuple(_lead(comparison)),
        sections=sections,
    )


def _headline(comparison: Comparison) -> str:
    worst = overall(comparison)
    word = "UNDECIDED" if worst is None else _WORDS[worst]
    target = f" on {comparison.target.spec}" if comparison.target else ""
    return f"{word}: {comparison.lhs.label} against {comparison.rhs.label}{target}"


def overall(comparison: Comparison) -> Verdict | None:
    """The least alike of the verdicts that could be given; `None` where there is none."""
    known = [v.verdict.value for v in comparison.verdicts if isinstance(v.verdict, Measured)]
    return max(known, key=list(Verdict).index, default=None)


def _lead(comparison: Comparison) -> Iterator[Note]:
    yield Note(text=", ".join(_stage(verdict) for verdict in comparison.verdicts))
    parted = [v.stage for v in comparison.verdicts if v.verdict == Measured(Verdict.DIFFERENT)]
    if parted:
        yield Note(text=f"the two sides part at: {parted[0]}", tone=Tone.BAD)
    yield from alarm(comparison.environment)
    yield from _gap(comparison)
    yield Note(text=step_line(comparison.cost, comparison.communication))
    for side in (comparison.lhs, comparison.rhs):
        if side.capture is not None and side.capture.out_of_memory is not None:
            yield _does_not_fit(side, side.capture.out_of_memory)
        for text in side.notes:
            yield Note(text=f"{side.label}: {text}", tone=Tone.QUIET)


def _stage(verdict: StageVerdict) -> str:
    match verdict.verdict:
        case Measured(value):
            return f"{verdict.stage}: {value}"
        case Missing():
            return f"{verdict.stage}: unknown"


def _gap(comparison: Comparison) -> Iterator[Note]:
    lhs, rhs = comparison.lhs.capture, comparison.rhs.capture
    if lhs is None or rhs is None:
        return
    (left, unknown), (right, also) = memory_total(lhs.memory), memory_total(rhs.memory)
    without = f" (without {', '.join(sorted({*unknown, *also}))})" if unknown or also else ""
    delta = right - left
    tone = Tone.BAD if delta > 0 else Tone.GOOD
    yield Note(
        text=f"device memory {bytes_text(left)} -> {bytes_text(right)}, "
        f"{signed(bytes_text(delta))} ({delta:+,} bytes){without}",
        tone=tone if delta else Tone.PLAIN,
    )


def _does_not_fit(side: Source, refusal: OutOfMemory) -> Note:
    return Note(
        text=f"{side.label} does not fit: needs {maybe_bytes(refusal.needed)}, "
        f"there is {maybe_bytes(refusal.available)}",
        tone=Tone.BAD,
    )


def _leaves(comparison: Comparison, everything: bool) -> Iterator[Section]:
    for title, delta in (("inputs", comparison.inputs), ("outputs", comparison.outputs)):
        if delta is not None and (title == "inputs" or not delta.same):
            yield leaves_section(title, delta, everything=everything)


def _memory(comparison: Comparison, everything: bool) -> Iterator[Section]:
    blocks: list[Block] = []
    lhs, rhs = comparison.lhs.capture, comparison.rhs.capture
    if lhs is not None and rhs is not None:
        blocks.append(memory_table(lhs.memory, rhs.memory, _capacity(comparison, lhs)))
        blocks += memory_notes(lhs.memory, rhs.memory)
    if comparison.memory is not None:
        blocks += memory_delta_blocks(comparison.memory, everything=everything)
    if not blocks:
        blocks.append(Note(text="unknown: a side has no buffer assignment", tone=Tone.QUIET))
    yield Section(title="memory of one device", blocks=tuple(blocks))


def _capacity(comparison: Comparison, capture: Capture) -> Maybe[Bytes]:
    if comparison.target is None:
        return Missing(f"nothing is known of target '{capture.target}'")
    return comparison.target.chip.usable_memory


def _cost(comparison: Comparison, everything: bool) -> Iterator[Section]:
    blocks: list[Block] = []
    lhs, rhs = comparison.lhs.capture, comparison.rhs.capture
    if lhs is not None and rhs is not None and isinstance(lhs.cost.flops, Measured):
        blocks.append(cost_table(lhs.cost, rhs.cost))
    blocks += cost_delta_blocks(comparison.cost, everything=everything)
    yield Section(title="cost of one step on one device", blocks=tuple(blocks))
    if has_collectives(comparison.communication):
        sent = communication_blocks(comparison.communication, everything=everything)
        yield Section(title="communication", blocks=tuple(sent))


def differs(comparison: Comparison, *, strict: bool = False) -> bool:
    """Whether the two sides are not the same program at every stage that could be compared.

    Args:
      comparison: what was found.
      strict: whether other layouts or another schedule make another program.
    """
    worst = overall(comparison)
    if worst is Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT:
        return strict
    return worst in (None, Verdict.DIFFERENT)
