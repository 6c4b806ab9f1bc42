"""Figures of one side by name, for whatever compares numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hloscope import attribute
from hloscope.errors import HloscopeError
from hloscope.model.capture import MemoryFigures
from hloscope.model.cost import Quantity, Total
from hloscope.model.source import Source
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.pipeline.comparing import account_of, common_target

Figure = Maybe[int | float]

_NO_CAPTURE = Missing("the side is no capture")


def _memory(part: str) -> Callable[[Source, attribute.Account], Figure]:
    def read(source: Source, _: attribute.Account) -> Figure:
        if source.capture is None:
            return _NO_CAPTURE
        value: Figure = getattr(source.capture.memory, part)
        return value

    return read


def _peak(source: Source, _: attribute.Account) -> Figure:
    """Argument + output - alias + temp, and code where it is known."""
    if source.capture is None:
        return _NO_CAPTURE
    figures: MemoryFigures = source.capture.memory
    total = 0
    for part, sign in (("argument", 1), ("output", 1), ("alias", -1), ("temp", 1)):
        match getattr(figures, part):
            case Measured(value):
                total += sign * value
            case Missing() as missing:
                return missing
    return Measured(total + (figures.code.value if isinstance(figures.code, Measured) else 0))


def _of(total: Total) -> Figure:
    if total.unknown and not total.known:
        return Missing("; ".join(f"{count}x {reason}" for reason, count in total.unknown))
    return Measured(total.known)


def _moved(_: Source, account: attribute.Account) -> Figure:
    totals = account.cost.totals
    read, written = (_of(totals[q]) for q in (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN))
    match read, written:
        case Measured(one), Measured(other):
            return Measured(one + other)
    return read if isinstance(read, Missing) else written


METRICS: Mapping[str, Callable[[Source, attribute.Account], Figure]] = {
    "peak_bytes": _peak,
    "argument_bytes": _memory("argument"),
    "output_bytes": _memory("output"),
    "alias_bytes": _memory("alias"),
    "temp_bytes": _memory("temp"),
    "flops": lambda _, account: _of(account.cost.totals[Quantity.FLOPS]),
    "moved_bytes": _moved,
    "sent_bytes": lambda _, account: _of(account.communication.wire_bytes),
}
"""Metric to how it is read off a side; bytes of one device, FLOPs and traffic of one step."""


def measure(source: Source, names: tuple[str, ...] = tuple(METRICS)) -> dict[str, Figure]:
    """The metrics of one side.

    Raises:
      HloscopeError: there is no metric of that name.
    """
    for name in names:
        check_metric(name)
    account = account_of(source, common_target(source, source))
    return {name: METRICS[name](source, account) for name in names}


def check_metric(name: str) -> None:
    """Refuses a metric that does not exist.

    Raises:
      HloscopeError: it does not.
    """
    if name not in METRICS:
        raise HloscopeError(
            f"no metric '{name}'", where="--metric", remedy=f"one of {', '.join(METRICS)}"
        )
