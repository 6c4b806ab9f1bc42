"""Runs analyzers on a comparison."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from hloscope.explain.claims import settle
from hloscope.explain.ranking import ranked
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Crash, Explanation, Finding
from hloscope.plugin import Analyzer


def explain(
    comparison: Comparison, analyzers: Mapping[str, Analyzer], crashes: Iterable[Crash] = ()
) -> Explanation:
    """Why two sides differ.

    Args:
      comparison: the two sides.
      analyzers: by name; one that raises is in `crashes`, and the rest go on.
      crashes: of analyzers that could not be loaded.
    """
    found: list[Finding] = []
    crashed = list(crashes)
    for name, analyzer in sorted(analyzers.items()):
        try:
            findings = [*analyzer.analyze(comparison)]
            for finding in findings:
                _check(finding, analyzer, comparison)
        except Exception as error:
            crashed.append(Crash(name, _message(error)))
        else:
            found += findings
    settled, accounts = settle(comparison, found)
    return Explanation(
        findings=ranked(comparison, settled),
        crashes=tuple(sorted(crashed)),
        analyzers=tuple(sorted(analyzers)),
        accounts=accounts,
    )


def _check(finding: Finding, analyzer: Analyzer, comparison: Comparison) -> None:
    """A finding that breaks the contract is its analyzer's mistake."""
    if finding.code not in analyzer.codes:
        raise ValueError(f"code '{finding.code}' is not among the analyzer's codes")
    lengths = (
        ("entries", finding.entries, len(comparison.memory.entries) if comparison.memory else 0),
        ("cost_entries", finding.cost_entries, len(comparison.cost.entries)),
        (
            "communication_entries",
            finding.communication_entries,
            len(comparison.communication.changes),
        ),
    )
    for name, positions, length in lengths:
        for position in positions:
            if not 0 <= position < length:
                raise ValueError(
                    f"{finding.code} claims {name} {position}, and there are {length} of them"
                )


def _message(error: Exception) -> str:
    """What went wrong and where, without folders, which differ between machines."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
