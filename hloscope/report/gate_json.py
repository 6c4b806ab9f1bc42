"""A gate's report as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hloscope.model.gate import GateReport, Judgement
from hloscope.report.gate import headline
from hloscope.report.plain import plain


def gate_json(report: GateReport) -> str:
    """Every judgement with its checks; comparisons are `hloscope diff --json`'s business."""
    found = {
        "exit_code": report.exit_code,
        "programs": [_judgement(judgement) for judgement in report.judgements],
        "notes": list(report.notes),
    }
    return json.dumps(found, indent=1, allow_nan=False) + "\n"


def _judgement(judgement: Judgement) -> dict[str, Any]:
    shown: dict[str, Any] = plain(replace(judgement, comparison=None))
    del shown["comparison"]
    return {"status": judgement.status.value, "headline": headline(judgement), **shown}
