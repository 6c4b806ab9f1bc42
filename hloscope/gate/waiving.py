"""Waivers: checks that may fail for a while."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from hloscope.model.gate import Check, Gated, GateReport, Judgement, Status, Waiver


def waive(
    judgements: Sequence[Judgement], waivers: Sequence[Waiver], today: datetime.date
) -> GateReport:
    """Lets waived checks pass, and says which waivers have expired or waive nothing.

    Checks that could not be decided are never waived: a waiver is about a known regression.
    """
    valid = [waiver for waiver in waivers if waiver.expires >= today]
    used: set[Waiver] = set()
    waived = tuple(_judgement(judgement, valid, used) for judgement in judgements)
    return GateReport(judgements=waived, notes=tuple(_notes(waivers, valid, used)))


def _judgement(judgement: Judgement, valid: Sequence[Waiver], used: set[Waiver]) -> Judgement:
    checks = []
    for check in judgement.checks:
        found = next((w for w in valid if _is_about(w, judgement.gated, check)), None)
        if found is None or check.status is not Status.REGRESSED:
            checks.append(check)
            continue
        used.add(found)
        reason = f"{check.reason}; waived until {found.expires}: {found.reason}"
        checks.append(replace(check, status=Status.WAIVED, reason=reason))
    return replace(judgement, checks=tuple(checks))


def _is_about(waiver: Waiver, gated: Gated, check: Check) -> bool:
    names = (check.name,) if check.finding is None else (check.finding.code,)
    return fnmatchcase(gated.name, waiver.program) and any(
        fnmatchcase(name, waiver.check) for name in names
    )


def _notes(waivers: Sequence[Waiver], valid: Sequence[Waiver], used: set[Waiver]) -> list[str]:
    notes = []
    for waiver in waivers:
        what = f"the waiver of '{waiver.check}' for '{waiver.program}'"
        if waiver not in valid:
            notes.append(f"{what} expired on {waiver.expires}: {waiver.reason}")
        elif waiver not in used:
            notes.append(f"{what} waives nothing: remove it")
    return notes
