"""A gate's report as SARIF 2.1.0: what failed, at source lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from hloscope import __version__
from hloscope.model.finding import Finding
from hloscope.model.gate import Check, GateReport, Judgement, Status
from hloscope.model.hlo import StackFrame
from hloscope.report.gate import said_in_full

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Status.REGRESSED: "error", Status.UNDECIDED: "error", Status.IMPROVED: "note",
           Status.WAIVED: "note"}  # fmt: skip


def sarif(report: GateReport, policy_file: str) -> str:
    """The report as SARIF.

    Args:
      report: what was found.
      policy_file: where results without a source line are placed.
    """
    results = [
        result for judgement in report.judgements for result in _results(judgement, policy_file)
    ]
    rules = sorted({result["ruleId"] for result in results})
    driver = {"name": "hloscope", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def place_of(judgement: Judgement, check: Check) -> StackFrame | None:
    """The source line that a failure is about: its finding's, or the cause's; `None` for none."""
    finding = check.finding or _cause(judgement)
    if finding is None:
        return None
    frames = (*finding.rhs_frames, *finding.lhs_frames)
    # a line of an installed package is none of the repository's
    return next((f for f in frames if f.line and not PurePosixPath(f.file).is_absolute()), None)


def _cause(judgement: Judgement) -> Finding | None:
    if judgement.comparison is None or not judgement.cause:
        return None
    findings = judgement.comparison.explanation.findings
    return next((f for f in findings if judgement.cause.endswith(f"({f.code})")), None)


def _results(judgement: Judgement, policy_file: str) -> Iterator[dict[str, Any]]:
    for check in judgement.checks:
        if check.status not in _LEVELS:
            continue
        frame = place_of(judgement, check)
        regressed = check.status is Status.REGRESSED and judgement.cause
        cause = f" ({judgement.cause})" if regressed and check.finding is None else ""
        text = f"{judgement.gated.label}{cause}: {said_in_full(check)}"
        yield {
            "ruleId": check.finding.code if check.finding is not None else check.name,
            "level": _LEVELS[check.status],
            "message": {"text": text},
            "locations": [_location(frame, policy_file)],
        }


def _location(frame: StackFrame | None, policy_file: str) -> dict[str, Any]:
    file, line = (frame.file, frame.line) if frame is not None else (policy_file, 1)
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": file, "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line},
        }
    }
