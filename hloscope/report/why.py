"""Why two sides differ: the first lines of an explanation, and all of it."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.model.changes import Verdict
from hloscope.model.comparison import Comparison
from hloscope.model.finding import (
    Account,
    Confidence,
    Evidence,
    Explanation,
    Finding,
    Metric,
)
from hloscope.model.hlo import StackFrame
from hloscope.model.ledger import DeltaKind
from hloscope.model.units import Measured, Missing
from hloscope.report.commands import can_recompile, command
from hloscope.report.document import Block, Note, Reason, Section, Tone, Why
from hloscope.report.numbers import bytes_text, count_text, seconds_text, signed

# as many as an answer of a few lines can hold; the others are counted
_FIRST = 4
# of a gap: a finding that claims so much of it is the story of it
_MOST = 0.5
# of what is left: then it can be named by it
_NEARLY_ALL = 0.9
_BEHIND = {
    Metric.BYTES: "",
    Metric.MOVED: " moved",
    Metric.SENT: " sent",
    Metric.FLOPS: "",
    Metric.SECONDS: "",
}


def why_section(
    comparison: Comparison, explanation: Explanation, worst: Verdict | None
) -> Section | None:
    """The causes that weigh most, what they leave unexplained, and what to type next.

    Returns:
      `None` where the sides do not differ and nothing is found.
    """
    findings = explanation.findings
    if not findings and not explanation.crashes and worst not in (None, Verdict.DIFFERENT):
        return None
    why = Why(
        reasons=tuple(_reason(finding, explanation) for finding in findings[:_FIRST]),
        hidden=max(len(findings) - _FIRST, 0),
        rest=_rest(comparison, explanation),
        command=_next(comparison, findings),
    )
    return Section(title="why", blocks=(why,))


def findings_section(explanation: Explanation) -> Section | None:
    """Every finding with its evidence, its places and what it does not know."""
    blocks = [block for finding in explanation.findings for block in _finding(finding)]
    blocks += [
        Note(text=f"analyzer '{crash.analyzer}' failed: {crash.message}", tone=Tone.BAD)
        for crash in explanation.crashes
    ]
    return Section(title="findings", blocks=tuple(blocks)) if blocks else None


def amount(finding: Finding) -> str:
    """The first metric in which the finding claims anything, memory before all others."""
    for metric in Metric:
        if finding.claim.known(metric):
            return metric_text(metric, finding.claim.known(metric))
    return ""


def metric_text(metric: Metric, value: float) -> str:
    """A signed figure with its unit and, where bytes are not held but moved, its verb."""
    if metric is Metric.SECONDS:
        return signed(seconds_text(value))
    if metric is Metric.FLOPS:
        return signed(count_text(value, "FLOP"))
    return signed(bytes_text(value)) + _BEHIND[metric]


def _reason(finding: Finding, explanation: Explanation) -> Reason:
    """One finding; what it carries most of stands beside the code where the amount is another."""
    shown = next((metric for metric in Metric if finding.claim.known(metric)), None)
    most = [
        metric_text(metric, finding.claim.known(metric))
        for metric in (Metric.MOVED, Metric.SENT)
        if metric is not shown and _share(finding, metric, explanation) >= _MOST
    ]
    told = f" ({', '.join(most)})" if most else ""
    text = f"{finding.code}{told} {finding.title}"
    return Reason(amount(finding), str(finding.confidence), text)


def _share(finding: Finding, metric: Metric, explanation: Explanation) -> float:
    """What a finding claims of a gap; 0 where there is no gap or nobody knows it."""
    match explanation.accounts.get(metric):
        case Measured(account) if account.gap:
            return finding.claim.known(metric) / account.gap
    return 0


def _rest(comparison: Comparison, explanation: Explanation) -> str:
    parts = []
    account = explanation.accounts.get(Metric.BYTES, Missing("no analyzer was run"))
    if isinstance(account, Measured):
        holes = _unclaimed_holes(comparison, explanation.findings)
        parts.append(_memory_rest(account.value, holes, bool(explanation.findings)))
    elif not explanation.findings:
        parts.append("no known cause was found")
    if explanation.crashes:
        names = ", ".join(sorted(crash.analyzer for crash in explanation.crashes))
        parts.append(f"NOT LOOKED AT, since it failed: {names}")
    return "; ".join(parts)


def _unclaimed_holes(comparison: Comparison, findings: tuple[Finding, ...]) -> int:
    """Bytes of fragmentation that no finding claims."""
    claimed = {position for finding in findings for position in finding.entries}
    entries = comparison.memory.entries if comparison.memory else ()
    return sum(
        entry.size
        for position, entry in enumerate(entries)
        if entry.kind is DeltaKind.FRAGMENTATION and position not in claimed
    )


def _memory_rest(account: Account, holes: int, found: bool) -> str:
    if not found:
        gap = f" of {signed(bytes_text(account.gap))} of memory" if account.gap else ""
        return f"no known cause was found{gap}"
    if not account.gap and not account.unexplained:
        return "device memory at peak is the same"
    if not account.unexplained:
        return f"all of {signed(bytes_text(account.gap))} of memory is explained"
    rest, gap = (signed(bytes_text(size)) for size in (account.unexplained, account.gap))
    if _NEARLY_ALL <= holes / account.unexplained <= 1:
        return f"unexplained (fragmentation): {rest} of {gap}"
    return f"unexplained: {rest} of {gap} of memory"


def _next(comparison: Comparison, findings: tuple[Finding, ...]) -> str:
    """What brings the reader on: a proof, the first finding's page, the first diverging pass."""
    captures = can_recompile(comparison.lhs) and can_recompile(comparison.rhs)
    if not findings:
        if captures:
            return command("bisect-passes", comparison)
        return command("diff", comparison, "--all")
    # what may be behind everything stands first, but where it claims nothing it leads nowhere
    first = next((f for f in findings if amount(f) or not f.first), findings[0])
    probe = next((remedy.probe for remedy in first.remedies if remedy.probe), None)
    if captures and probe and first.confidence is not Confidence.PROVEN:
        return command("prove", comparison, "--probe", probe)
    return f"hloscope explain {first.code}"


def _finding(finding: Finding) -> Iterator[Block]:
    costs = [
        metric_text(metric, finding.claim.known(metric))
        for metric in Metric
        if finding.claim.known(metric)
    ]
    head = ", ".join([str(finding.confidence), *costs])
    yield Note(text=f"{finding.code} {finding.title} ({head})")
    for evidence in finding.evidence:
        yield from _evidence(evidence)
    if finding.path:
        yield Note(text=f"    in {'/'.join(finding.path)}")
    for side, frames in (("lhs", finding.lhs_frames), ("rhs", finding.rhs_frames)):
        if frames:
            yield Note(text=f"    {side} {', '.join(frame_text(frame) for frame in frames)}")
    for shared in finding.shared:
        yield Note(
            text=f"    {signed(bytes_text(shared.bytes))} of it is counted with {shared.code}",
            tone=Tone.QUIET,
        )
    for text in finding.unknown:
        yield Note(text=f"    not known: {text}", tone=Tone.QUIET)
    for remedy in finding.remedies:
        proof = f" (hloscope prove --probe {remedy.probe})" if remedy.probe else ""
        yield Note(text=f"    worth trying: {remedy.text}{proof}")


def frame_text(frame: StackFrame) -> str:
    """`file:line (function)`."""
    return f"{frame.file}:{frame.line}" + (f" ({frame.function})" if frame.function else "")


def _evidence(evidence: Evidence) -> Iterator[Note]:
    yield Note(text=f"    {evidence.text}")
    if evidence.lhs is not None or evidence.rhs is not None:
        yield Note(text=f"      lhs {evidence.lhs or '-'}", tone=Tone.QUIET)
        yield Note(text=f"      rhs {evidence.rhs or '-'}", tone=Tone.QUIET)
