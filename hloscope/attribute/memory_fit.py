"""What must go for a program to fit."""

from __future__ import annotations

from hloscope.model.ledger import MemoryLedger, Shortfall
from hloscope.model.units import Bytes, Maybe, Measured, Missing


def shortfall(ledger: MemoryLedger, available: Maybe[Bytes]) -> Shortfall | None:
    """The entries to look at first, `None` where the program fits or nobody knows.

    Args:
      ledger: device memory at its peak.
      available: bytes that the device has.
    """
    match available:
        case Missing():
            return None
        case Measured(capacity):
            over = ledger.total - capacity
    if over <= 0:
        return None
    found, covered = [], 0
    for entry in ledger.entries:
        if covered >= over:
            break
        if entry.value is not None:
            found.append(entry)
            covered += entry.size
    return Shortfall(
        needed=ledger.total, available=available, over=Bytes(over), candidates=tuple(found)
    )
