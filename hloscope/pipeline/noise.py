"""What varies when one program is compiled again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from hloscope.model.changes import ModuleDiff
from hloscope.model.gate import NOISY, Baseline, Figure, Noise, Spread
from hloscope.model.source import Source
from hloscope.model.units import Measured
from hloscope.pipeline.comparing import compare
from hloscope.pipeline.gating import remember
from hloscope.pipeline.opening import OpenOptions, open_source


def measure_noise(program: str, options: OpenOptions, runs: int, jobs: int = 1) -> Noise:
    """Compiles a program several times, each in a fresh process and without the cache.

    Args:
      program: a spec.
      options: how it is captured; the cache is not used.
      runs: how often, at least twice.
      jobs: compiles at once.

    Raises:
      HloscopeError: a compile fails.
    """
    alone = replace(options, cache=False)
    with ThreadPoolExecutor(jobs) as pool:
        try:
            sources = list(pool.map(lambda _: open_source(program, alone), range(runs)))
        except BaseException:  # Ctrl-C reaches this thread alone
            options.cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    return noise_of(sources)


def noise_of(sources: Sequence[Source]) -> Noise:
    """What differs among captures of one program."""
    remembered = [remember(source) for source in sources]
    graphs = {r.full_fingerprint: s for r, s in zip(remembered, sources, strict=True)}
    first = graphs.pop(remembered[0].full_fingerprint)
    parts = {p for other in graphs.values() for p in _parts(compare(first, other).changes)}
    return Noise(
        runs=len(sources),
        figures=_spreads(remembered),
        graphs=1 + len(graphs),
        parts=tuple(sorted(parts)),
    )


def _spreads(remembered: Sequence[Baseline]) -> Mapping[str, Spread]:
    names = sorted({name for baseline in remembered for name in baseline.figures})
    values = {name: [_value(b.figures.get(name)) for b in remembered] for name in names}
    return {
        name: Spread(least=min(found), most=max(found))
        for name, found in values.items()
        if name != NOISY and min(found) != max(found)
    }


def _value(figure: Figure | None) -> float:
    """A figure that one run does not have counts as 0: that it is absent is what varies."""
    return figure.value.value if figure and isinstance(figure.value, Measured) else 0


def _parts(changes: ModuleDiff) -> set[str]:
    """Computations and module paths that differ."""
    found = {schedule.lhs for schedule in changes.schedule}
    for region in changes.regions:
        for change in region.heads:
            place = change.rhs or change.lhs
            if place is not None:
                found.add("/".join(place.path) or place.computation)
    return found | {header.name for header in changes.header}
