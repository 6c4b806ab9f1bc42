"""Finds the analyzers that are installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from hloscope.model.finding import Crash
from hloscope.plugin import Analyzer

GROUP = "hloscope.analyzers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The analyzers of this environment.

    Attributes:
      analyzers: entry point name to analyzer, sorted by name.
      owners: entry point name to the package that it comes from.
      crashes: entry points that gave no analyzer.
    """

    analyzers: dict[str, Analyzer]
    owners: dict[str, str]
    crashes: tuple[Crash, ...]


def installed() -> Installed:
    """Loads every analyzer; one that cannot be loaded is a crash, and the rest go on."""
    analyzers: dict[str, Analyzer] = {}
    owners: dict[str, str] = {}
    crashes: list[Crash] = []
    codes: dict[str, str] = {}
    # hloscope's own before all others', so that nobody else's takes their names or codes
    points = sorted(
        set(entry_points(group=GROUP)), key=lambda p: (_owner(p) != "hloscope", p.name, p.value)
    )
    for point in points:
        try:
            analyzer = _load(point)
            _refuse_taken(point, analyzer, owners, codes)
        except Exception as error:
            crashes.append(Crash(point.name, _message(error)))
            continue
        analyzers[point.name] = analyzer
        owners[point.name] = _owner(point)
        codes.update(dict.fromkeys(analyzer.codes, point.name))
    return Installed(analyzers=dict(sorted(analyzers.items())), owners=owners, crashes=(*crashes,))


def _load(point: EntryPoint) -> Analyzer:
    made = point.load()()
    if not isinstance(made, Analyzer):
        raise TypeError(f"'{point.value}' is no hloscope.plugin.Analyzer")
    if not made.codes:
        raise ValueError(f"'{point.value}' has no codes")
    return made


def _refuse_taken(
    point: EntryPoint, analyzer: Analyzer, owners: dict[str, str], codes: dict[str, str]
) -> None:
    if point.name in owners:
        raise ValueError(
            f"name '{point.name}' of '{_owner(point)}' is taken by '{owners[point.name]}'"
        )
    for code in sorted(analyzer.codes):
        if code in codes:
            raise ValueError(f"code '{code}' is taken by analyzer '{codes[code]}'")


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "unknown package"


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
