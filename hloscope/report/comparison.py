"""The document of a comparison: the verdict, what it costs, then the parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hloscope.model.capture import Capture
from hloscope.model.changes import Stage, StageVerdict, Verdict
from hloscope.model.comparison import Comparison
from hloscope.model.units import Bytes, Maybe, Measured, Missing
from hloscope.report.changes import changes_section, graph_section
from hloscope.report.cost_delta import (
    communication_blocks,
    cost_delta_blocks,
    has_collectives,
)
from hloscope.report.document import Block, Document, Note, Section, Tone
from hloscope.report.environment import alarm, environment_section, leaves_section
from hloscope.report.figures_table import (
    cost_table,
    memory_notes,
    memory_table,
)
from hloscope.report.gap import gap_section
from hloscope.report.memory_delta import memory_delta_blocks
from hloscope.report.names import side_names
from hloscope.report.why import findings_section, why_section

_WORDS = {
    Verdict.IDENTICAL: "IDENTICAL",
    Verdict.SAME_GRAPH: "SAME PROGRAM",
    Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT: "SAME PROGRAM, OTHER SCHEDULE OR LAYOUT",
    Verdict.DIFFERENT: "NOT THE SAME PROGRAM",
}


def comparison_document(comparison: Comparison, *, everything: bool = False) -> Document:
    """Everything that a comparison found: the verdict, the gap, why, then the parts.

    Args:
      comparison: what was found.
      everything: whether long lists are given whole.
    """
    explanation = comparison.explanation
    why = why_section(comparison, explanation, _compiled(comparison))
    parts = (
        *_memory(comparison, everything),
        changes_section(comparison, everything=everything),
        *_cost(comparison, everything),
        environment_section(comparison.environment),
        *_leaves(comparison, everything),
        graph_section(comparison, everything=everything),
    )
    findings = findings_section(explanation) if everything else None
    sections = (gap_section(comparison), why, findings, *parts)
    return Document(
        headline=Note(text=_headline(comparison)),
        lead=tuple(_lead(comparison)),
        sections=tuple(section for section in sections if section is not None),
        closing=why,
    )


def _headline(comparison: Comparison) -> str:
    worst = overall(comparison)
    word = "UNDECIDED" if worst is None else _WORDS[worst]
    if worst is Verdict.DIFFERENT and _compiled(comparison) not in (None, Verdict.DIFFERENT):
        word = "SAME PROGRAM, OTHER INPUTS"
    target = f" on {comparison.target.spec}" if comparison.target else ""
    lhs, rhs = side_names((comparison.lhs.label, comparison.rhs.label))
    return f"{word}: {lhs} against {rhs}{target}"


def overall(comparison: Comparison) -> Verdict | None:
    """The least alike of the verdicts that could be given; `None` where there is none."""
    return _worst(comparison.verdicts)


def _compiled(comparison: Comparison) -> Verdict | None:
    """As `overall`, of what the compiler made alone: inputs may have other names."""
    return _worst(v for v in comparison.verdicts if v.stage is not Stage.INPUTS)


def _worst(verdicts: Iterable[StageVerdict]) -> Verdict | None:
    known = [v.verdict.value for v in verdicts if isinstance(v.verdict, Measured)]
    return max(known, key=list(Verdict).index, default=None)


def _lead(comparison: Comparison) -> Iterator[Note]:
    yield Note(text=_stages(comparison.verdicts))
    yield from alarm(comparison.environment)
    for side in (comparison.lhs, comparison.rhs):
        for text in side.notes:
            yield Note(text=f"{side.label}: {text}", tone=Tone.QUIET)


def _stages(verdicts: tuple[StageVerdict, ...]) -> str:
    """Where the sides part first, then the stages by verdict, the least alike first."""
    ranked: dict[str, list[str]] = {str(verdict): [] for verdict in reversed(Verdict)}
    unknown = []
    for stage in verdicts:
        match stage.verdict:
            case Measured(verdict):
                ranked[str(verdict)].append(str(stage.stage))
            case Missing():
                unknown.append(str(stage.stage))
    words = [f"{word}: {', '.join(stages)}" for word, stages in ranked.items() if stages]
    words += [f"unknown: {', '.join(unknown)}"] if unknown else []
    different = ranked[str(Verdict.DIFFERENT)]
    first = f"they part at {different[0]}; " if different else ""
    return first + "; ".join(words)


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
