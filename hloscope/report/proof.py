"""What came back when remedies were tried, as a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hloscope.model.finding import Confidence, Metric
from hloscope.model.proof import PROBES, Closed, ProbeResult, Proof
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.report.document import Block, Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, count_text, maybe_bytes, signed
from hloscope.report.plain import plain

FORMAT = 1
_SHOWN = 6
_WORDS = {
    Metric.BYTES: "device memory",
    Metric.MOVED: "bytes moved",
    Metric.SENT: "bytes sent",
    Metric.FLOPS: "FLOPs",
    Metric.SECONDS: "seconds",
}
_SHORT = {**_WORDS, Metric.MOVED: "moved", Metric.SENT: "sent"}
_HELP = {probe.name: probe for probe in PROBES}


def proof_document(proof: Proof, *, everything: bool = False) -> Document:
    """What each probe brought back of the gap, then where, then what it edited."""
    sections = [
        Section(title="what came back", blocks=tuple(_shares(proof))),
        *(_detail(proof, result, everything) for result in _results(proof) if result.done),
        *_skipped(proof),
    ]
    return Document(
        headline=Note(text=_headline(proof)), lead=tuple(_lead(proof)), sections=tuple(sections)
    )


def proof_json(proof: Proof) -> dict[str, Any]:
    """The same as plain data."""
    shares = {
        "+".join(result.probes): {
            str(metric): plain(closed.share) for metric, closed in result.metrics.items()
        }
        for result in _results(proof)
    }
    return {"format": FORMAT, **plain(proof), "shares": shares}


def _results(proof: Proof) -> list[ProbeResult]:
    return [*proof.alone, *([proof.together] if proof.together else [])]


def _name(result: ProbeResult) -> str:
    return result.probes[0] if len(result.probes) == 1 else "all together"


def _headline(proof: Proof) -> str:
    pair = f"{proof.rhs} with remedies, against {proof.lhs} on {proof.target}"
    ran = [result for result in _results(proof) if result.ran]
    if not ran:
        return f"NOTHING TRIED: {pair}"
    best = max(ran, key=_share)
    if _share(best) <= 0:
        return f"NOTHING CAME BACK: {pair}"
    metric = next(metric for metric in best.metrics if _positive(best.metrics[metric]) is not None)
    share = _positive(best.metrics[metric])
    return f"{share:.0%} OF THE GAP IN {_WORDS[metric].upper()} CAME BACK: {pair}"


def _share(result: ProbeResult) -> float:
    """The first metric that has a gap decides."""
    shares = [_positive(closed) for closed in result.metrics.values()]
    return next((share for share in shares if share is not None), 0.0)


def _positive(closed: Closed) -> float | None:
    match closed.share:
        case Measured(value):
            return value
        case Missing():
            return None


def _lead(proof: Proof) -> Iterator[Note]:
    lhs, rhs = (maybe_bytes(f.in_use) for f in (proof.lhs_figures, proof.rhs_figures))
    yield Note(text=f"device memory {lhs} -> {rhs}")
    if proof.toolchain:
        yield Note(
            text="both sides were compiled anew, by another toolchain than their captures': "
            + ", ".join(proof.toolchain),
            tone=Tone.BAD,
        )
    for finding in proof.findings:
        if finding.confidence is Confidence.PROVEN:
            yield Note(text=f"PROVEN {finding.code}: {finding.title}", tone=Tone.GOOD)
    for text in proof.notes:
        yield Note(text=f"note: {text}", tone=Tone.QUIET)


def _shares(proof: Proof) -> Iterator[Block]:
    results = _results(proof)
    shown = [result for result in results if result.done or result.failure]
    metrics = [metric for metric in Metric if _moves(metric, results)]
    rows = [_row(result, metrics) for result in shown]
    tones = [_tone(result) for result in shown]
    if proof.overlap:
        cells = (_signed(metric, proof.overlap.get(metric)) for metric in metrics)
        rows.append((*cells, "closed by more than one"))
        tones.append(Tone.QUIET)
    if rows:
        yield Table(
            columns=(*(f">{_SHORT[metric]}" for metric in metrics), "probe"),
            rows=tuple(rows),
            tones=tuple(tones),
        )
    gaps = next((result.metrics for result in shown if result.metrics), {})
    text = ", ".join(f"{_WORDS[m]} {_signed(m, gaps[m].gap)}" for m in Metric if m in gaps)
    if text:
        yield Note(text=f"the gap: {text}", tone=Tone.QUIET)
    idle = [_name(result) for result in results if result not in shown]
    if idle:
        yield Note(text=f"nothing to edit: {', '.join(idle)}", tone=Tone.QUIET)


def _moves(metric: Metric, results: list[ProbeResult]) -> bool:
    """Whether there is a gap or a probe changed something."""
    return any(
        figure != Measured(0)
        for result in results
        if metric in result.metrics
        for figure in result.metrics[metric]
    )


def _tone(result: ProbeResult) -> Tone:
    if result.failure:
        return Tone.BAD
    return Tone.GOOD if _share(result) > 0 else Tone.PLAIN


def _row(result: ProbeResult, metrics: list[Metric]) -> tuple[str, ...]:
    cells = (_cell(metric, result.metrics.get(metric)) for metric in metrics)
    return (*cells, f"{_name(result)}: {_outcome(result)}")


def _outcome(result: ProbeResult) -> str:
    if result.failure:
        return result.failure
    kept = all(_HELP[name].keeps_meaning for name in result.probes)
    edits = f"{len(result.done)} edit{'' if len(result.done) == 1 else 's'}"
    return edits if kept else f"{edits}, other results"


def _cell(metric: Metric, closed: Closed | None) -> str:
    """What came back, in bytes where it is memory; a share alone of anything else."""
    if closed is None:
        return ""
    amount = _signed(metric, closed.closed)
    match closed.share:
        case Measured(share):
            return f"{amount} ({share:.0%})" if metric is Metric.BYTES else f"{share:.0%}"
        case Missing():
            return amount


def _signed(metric: Metric, figure: Maybe[float] | None) -> str:
    match figure:
        case Measured(value):
            text = count_text if metric is Metric.FLOPS else bytes_text
            return signed(text(int(value)))
        case Missing():
            return "unknown"
    return ""


def _detail(proof: Proof, result: ProbeResult, everything: bool) -> Section:
    blocks: list[Block] = []
    if len(result.probes) == 1:
        probe = _HELP[result.probes[0]]
        kept = "keeps the program's meaning" if probe.keeps_meaning else "changes the program"
        blocks.append(Note(text=f"{probe.does}; {kept}: {probe.why}", tone=Tone.QUIET))
        blocks += _list(result.done, everything)
    if result.figures is not None:
        blocks.append(_parts(proof, result))
        blocks += _entries(proof, result, everything)
    return Section(title=_name(result), blocks=tuple(blocks))


def _parts(proof: Proof, result: ProbeResult) -> Table:
    assert result.figures is not None  # noqa: S101 - the caller looked
    sides = (proof.lhs_figures, proof.rhs_figures, result.figures)
    rows = tuple(
        (name, *(_exact(getattr(side, field)) for side in sides))
        for name, field in (
            ("arguments", "argument"), ("outputs", "output"), ("aliased", "alias"),
            ("temporaries", "temp"), ("total", "in_use"),
        )
    )  # fmt: skip
    return Table(
        columns=("bytes per device", ">lhs", ">rhs", ">rhs with the probe"),
        rows=rows,
        tones=(Tone.PLAIN,) * len(rows),
    )


def _exact(figure: Maybe[int]) -> str:
    return f"{figure.value:,}" if isinstance(figure, Measured) else "unknown"


def _entries(proof: Proof, result: ProbeResult, everything: bool) -> Iterator[Block]:
    ranked = sorted(result.entries, key=lambda share: (-abs(share.closed), share.entry))
    shown = ranked if everything else ranked[:_SHOWN]
    if shown:
        yield Table(
            columns=(">came back", ">of", "ledger entry"),
            rows=tuple(
                (
                    signed(bytes_text(share.closed)),
                    signed(bytes_text(share.gap)),
                    proof.entry_names[share.entry],
                )
                for share in shown
            ),
            tones=(Tone.PLAIN,) * len(shown),
        )
    rest = sum(share.closed for share in ranked[len(shown) :])
    if len(ranked) > len(shown):
        yield Note(
            text=f"... and {len(ranked) - len(shown)} more, {signed(bytes_text(rest))} (--all)",
            tone=Tone.QUIET,
        )
    if result.elsewhere:
        yield Note(
            text=f"in buffers that are no part of the gap: {signed(bytes_text(result.elsewhere))}",
            tone=Tone.QUIET,
        )


def _list(lines: tuple[str, ...], everything: bool) -> Iterator[Note]:
    shown = lines if everything else lines[:_SHOWN]
    for line in shown:
        yield Note(text=f"~ {line}")
    if len(lines) > len(shown):
        yield Note(text=f"... and {len(lines) - len(shown)} more (--all)", tone=Tone.QUIET)


def _skipped(proof: Proof) -> Iterator[Section]:
    lines = [f"- {result.probes[0]}: {line}" for result in proof.alone for line in result.skipped]
    if lines:
        blocks: list[Block] = [Note(text=line, tone=Tone.QUIET) for line in lines[:_SHOWN]]
        if len(lines) > _SHOWN:
            blocks.append(Note(text=f"... and {len(lines) - _SHOWN} more", tone=Tone.QUIET))
        yield Section(title="not edited", blocks=tuple(blocks))
