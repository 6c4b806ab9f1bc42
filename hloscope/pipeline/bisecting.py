"""Which commit made a program worse?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hloscope.capture import history
from hloscope.capture.revisions import Revision, find_revision, split_revision
from hloscope.errors import HloscopeError
from hloscope.model.bisection import Bisection, Standing, Tried
from hloscope.model.units import Measured, Missing
from hloscope.pipeline.comparing import compare
from hloscope.pipeline.metrics import Figure, check_metric, measure
from hloscope.pipeline.opening import OpenOptions, is_file, open_source

_OVER = re.compile(r"(?P<number>\d+(\.\d+)?) ?(?P<unit>%|[KMGT]iB|B|[kMGT])?$")
_UNITS = {
    **{f"{letter}iB": 1024 ** (n + 1) for n, letter in enumerate("KMGT")},
    **{letter: 1000 ** (n + 1) for n, letter in enumerate("kMGT")},
}
_SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectOptions:
    """How a search goes.

    Attributes:
      metric: a key of `METRICS`.
      over: by how much a bad value exceeds the good one's: `1%`, `10MiB`, `1000`.
      first_parent: whether the history is followed along first parents alone.
      tell: told of every commit looked at, and how many may be left.
    """

    metric: str = "peak_bytes"
    over: str = "1%"
    first_parent: bool = False
    tell: Callable[[Tried, int], object] = lambda _tried, _left: None


def bisect(
    program: str, good: str, bad: str, options: BisectOptions, opening: OpenOptions
) -> Bisection:
    """Finds the first commit whose program is over the threshold.

    Args:
      program: a spec without a revision.
      good: a revision that is not over, an ancestor of `bad`.
      bad: a revision that is.
      options: what is looked at.
      opening: how programs are captured.

    Raises:
      HloscopeError: there are no such revisions, one of the two cannot be captured, `bad` is not
        over, or the metric or the threshold does not exist.
    """
    _check(program, options)
    revisions = [find_revision(name, where=f"--{end} {name}") for end, name in
                 (("good", good), ("bad", bad))]  # fmt: skip
    history.require_ancestor(*revisions)
    search = _Search(program, revisions[0], options, opening)
    search.check_ends(*revisions)
    return search.run(*revisions)


def _check(program: str, options: BisectOptions) -> None:
    check_metric(options.metric)
    parse_over(options.over, 0)
    if is_file(program):
        raise HloscopeError(f"'{program}' is a file, not a program")
    if split_revision(program)[1] is not None:
        raise HloscopeError(
            f"'{program}' names a revision, and bisect looks at many",
            remedy=f"'{split_revision(program)[0]}'",
        )


def parse_over(text: str, base: float) -> float:
    """How much more than `base` a text stands for.

    Raises:
      HloscopeError: it is neither a share nor an amount.
    """
    found = _OVER.match(text)
    if found is None:
        raise HloscopeError(
            f"'{text}' is no threshold", where="--over", remedy="1%, 10MiB or a plain number"
        )
    number, unit = Fraction(found["number"]), found["unit"] or ""
    return float(number * Fraction(base) / 100 if unit == "%" else number * _UNITS.get(unit, 1))


class _Search:
    """The state of a search."""

    def __init__(
        self, program: str, good: Revision, options: BisectOptions, opening: OpenOptions
    ) -> None:
        self._program = program
        self._root: Path = good.repository.root
        self._options = options
        self._opening = opening
        self._threshold = 0.0
        self._tried: dict[str, Tried] = {}

    def check_ends(self, good: Revision, bad: Revision) -> None:
        """Captures the ends, which have to be what the user says they are."""
        values = []
        for end in (good, bad):
            value = self._value(end.commit)
            if isinstance(value, Missing):
                raise HloscopeError(
                    f"{self._options.metric} of '{end.name}' is unknown: {value.reason}"
                )
            values.append(value.value)
        base, found = values
        self._threshold = base + parse_over(self._options.over, base)
        if found <= self._threshold:
            raise HloscopeError(
                f"'{bad.name}' is not over: {self._options.metric} {base:,} -> {found:,}, "
                f"and over {self._options.over} is more than {self._threshold:,.0f}",
                where=f"--bad {bad.name}",
                remedy="a smaller --over, or another --metric",
            )
        self._keep(good.commit, Standing.GOOD, Measured(base))
        self._keep(bad.commit, Standing.BAD, Measured(found))

    def run(self, good: Revision, bad: Revision) -> Bisection:
        """Halves what is between the two until nothing is left to look at."""
        first, goods = bad.commit, [good.commit]
        while True:
            left = self._left(first, goods)
            unknown = [commit for commit in left if commit not in self._tried]
            if not unknown:
                break
            commit = unknown[0]
            match self._judge(commit).standing:
                case Standing.GOOD:
                    goods.append(commit)
                case Standing.BAD:
                    first = commit
            self._options.tell(self._tried[commit], len(unknown) - 1)
        return self._result(first, goods, left)

    def _left(self, bad: str, goods: list[str]) -> tuple[str, ...]:
        first_parent = self._options.first_parent
        return history.candidates(self._root, bad, goods, first_parent=first_parent)

    def _judge(self, commit: str) -> Tried:
        try:
            value = self._value(commit)
        except HloscopeError as error:
            if self._opening.cancelled.is_set():
                raise
            value = Missing(error.problem.partition("\n")[0])
        match value:
            case Missing():
                return self._keep(commit, Standing.SKIPPED, value)
            case Measured(number):
                standing = Standing.BAD if number > self._threshold else Standing.GOOD
                return self._keep(commit, standing, value)

    def _value(self, commit: str) -> Figure:
        source = open_source(self._at(commit), self._opening)
        return measure(source, (self._options.metric,))[self._options.metric]

    def _at(self, commit: str) -> str:
        return f"{self._program}@{commit[:_SHOWN_DIGITS]}"

    def _keep(self, commit: str, standing: Standing, value: Figure) -> Tried:
        said = history.subject(self._root, commit)
        tried = Tried(commit=commit, subject=said, standing=standing, value=value)
        self._tried[commit] = tried
        return tried

    def _result(self, first: str, goods: list[str], left: tuple[str, ...]) -> Bisection:
        skipped = [c for c in left if self._tried[c].standing is Standing.SKIPPED]
        last = history.nearest(self._root, first, goods)
        sides = [open_source(self._at(commit), self._opening) for commit in (last, first)]
        return Bisection(
            program=self._program,
            target=self._opening.target or "",
            metric=self._options.metric,
            over=self._options.over,
            threshold=self._threshold,
            tried=tuple(self._tried.values()),
            first_bad=self._tried[first],
            last_good=self._tried[last],
            suspects=(*sorted(skipped), first),
            comparison=compare(*sides),
        )
