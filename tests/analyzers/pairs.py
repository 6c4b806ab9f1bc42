"""Pairs of programs, and findings as golden text."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from hloscope.explain import explain
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Finding, Metric
from hloscope.model.units import Measured, Missing
from hloscope.plugin import Analyzer


class Pair(NamedTuple):
    """Two programs (`module:factory?option=value`, modules of programs/) and a target.

    Attributes:
      claims: whether figures and what follows from them are the same with every compiler.
    """

    name: str
    lhs: str
    rhs: str
    target: str = "cpu:8"
    claims: bool = True


def marked(*pairs: Pair) -> list[object]:
    """Pairs as parameters of a test, marked by what they need."""
    return [pytest.param(pair, id=pair.name, marks=_marks(pair)) for pair in pairs]


def _marks(pair: Pair) -> list[pytest.MarkDecorator]:
    libtpu = [pytest.mark.tpu] if pair.target.startswith("tpu") else []
    return [pytest.mark.compile, *libtpu]


def findings(comparison: Comparison, *analyzers: Analyzer) -> tuple[Finding, ...]:
    """What some analyzers find; a crash fails the test."""
    explanation = explain(comparison, {type(a).__name__: a for a in analyzers})
    assert explanation.crashes == ()
    return explanation.findings


def text(found: tuple[Finding, ...], *, claims: bool = True) -> str:
    """Findings as golden text: everything that they say, without line numbers."""
    return "\n".join(line for finding in found for line in _lines(finding, claims))


def _lines(finding: Finding, claims: bool = True) -> list[str]:
    head = f"{finding.code} {finding.confidence} {finding.specificity.name.lower()}"
    if not claims:
        return [f"{head}: {finding.title}", ""]
    lines = [f"{head} {finding.direction}: {finding.title}"]
    for metric in Metric:
        figure = finding.claim.of(metric)
        if metric is not Metric.SECONDS and figure != Measured(0):
            value = figure.reason if isinstance(figure, Missing) else f"{figure.value:+,}"
            lines.append(f"  {metric}: {value}")
    if finding.path:
        lines.append(f"  path: {'/'.join(finding.path)}")
    lines += [f"  - {e.text}: {e.lhs} -> {e.rhs}" for e in finding.evidence]
    lines += [f"  ? {text}" for text in finding.unknown]
    lines += [f"  > {remedy.text} [{remedy.probe}]" for remedy in finding.remedies]
    return [*lines, ""]
