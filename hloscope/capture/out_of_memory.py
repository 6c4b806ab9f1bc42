"""Reading the compiler's refusal of a program that does not fit."""

from __future__ import annotations

import re

from hloscope.model.capture import OutOfMemory
from hloscope.model.units import Bytes, Maybe, Measured, Missing

# libtpu before and after error codes came in:
# `... required for HLO temporaries (35.30G) exceeds available HBM (15.75G)` and
# `Ran out of memory in memory space hbm. Used 35.30G of 15.75G hbm. ...`
_WORDINGS = (
    re.compile(
        r"required[^()]*\((?P<needed>[\d.]+\w?)\) exceeds available[^()]*\((?P<there>[\d.]+\w?)\)"
    ),
    re.compile(r"[Uu]sed (?P<needed>[\d.]+\w?) of (?P<there>[\d.]+\w?)\b"),
)
_UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_REPORT_TOTAL = re.compile(r"\(color=0\)\nTotal bytes: (\d+)")
# the message has two decimals, so the report's exact figure is at most half of the last away
_ROUNDING = 0.005
_LONGEST = 2000


def out_of_memory(message: str, memory_report: str) -> OutOfMemory:
    """What the compiler says it needs and has.

    Args:
      message: the text of its error, in either wording; sizes with binary units and two decimals.
      memory_report: XLA's memory usage report, `""` for none; its total is the same figure to the
        byte and replaces the rounded one.
    """
    found = next(filter(None, (wording.search(message) for wording in _WORDINGS)), None)
    said = message.strip()[:_LONGEST]
    if found is None:
        reason = "the compiler's message does not say"
        return OutOfMemory(needed=Missing(reason), available=Missing(reason), message=said)
    needed = _exact(found["needed"], memory_report) or _size(found["needed"])
    return OutOfMemory(needed=needed, available=_size(found["there"]), message=said)


def _size(text: str) -> Maybe[Bytes]:
    unit = text[-1] if text[-1].isalpha() else ""
    if unit not in _UNITS:
        return Missing(f"the compiler's message says '{text}'")
    number = text.removesuffix(unit)
    return Measured(Bytes(round(float(number) * _UNITS[unit])))


def _exact(text: str, memory_report: str) -> Measured[Bytes] | None:
    total = _REPORT_TOTAL.search(memory_report)
    unit = _UNITS.get(text[-1])
    if total is None or unit is None:
        return None
    size = int(total[1])
    return Measured(Bytes(size)) if abs(size / unit - float(text[:-1])) <= _ROUNDING else None
