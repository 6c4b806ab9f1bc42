"""Picks one of several modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from hloscope.errors import HloscopeError

# how much larger than every other a module must be to be the one that is meant
_CLEARLY = 4
_SHOWN = 20  # modules that an error lists


class Candidate(NamedTuple):
    """A module that could be meant.

    Attributes:
      name: what `--module` takes.
      size: how large it is, in whatever unit the others are measured in.
      said: its size for people.
    """

    name: str
    size: int
    said: str


T = TypeVar("T")


def numbered(names: Sequence[str]) -> list[str]:
    """`names`, those that come several times told apart as `name#1`, `name#2`."""
    count = Counter(names)
    seen: Counter[str] = Counter()
    result: list[str] = []
    for name in names:
        seen[name] += 1
        result.append(f"{name}#{seen[name]}" if count[name] > 1 else name)
    return result


def choose(candidates: Sequence[Candidate], wanted: str | None, where: str) -> tuple[int, str]:
    """The position of the module that is meant, and a note where it was picked by size.

    Raises:
      HloscopeError: there is no such module, or several could be meant.
    """
    if wanted is not None:
        return _named(candidates, wanted, where), ""
    if len(candidates) == 1:
        return 0, ""
    order = sorted(range(len(candidates)), key=lambda n: -candidates[n].size)
    first, second = candidates[order[0]], candidates[order[1]]
    if first.size >= _CLEARLY * max(second.size, 1):
        return order[0], f"'{first.name}' is by far the largest of {len(candidates)} modules"
    raise HloscopeError(
        f"it holds {len(candidates)} modules: {_listed(candidates)}",
        where=where,
        remedy="--module NAME",
    )


def _named(candidates: Sequence[Candidate], wanted: str, where: str) -> int:
    exact = [n for n, c in enumerate(candidates) if c.name == wanted]
    loose = [n for n, c in enumerate(candidates) if _base(c.name) == wanted]
    found = exact or loose
    if len(found) == 1:
        return found[0]
    if found:
        named = [candidates[n] for n in found]
        raise HloscopeError(
            f"module '{wanted}' is there {len(found)} times: {_listed(named)}",
            where=where,
            remedy=f"--module {named[0].name}",
        )
    raise HloscopeError(
        f"it holds no module '{wanted}', but {_listed(candidates)}",
        where=where,
        remedy="--module NAME",
    )


def _base(name: str) -> str:
    """`jit_f` of `jit_f#2`, `jit_f(15)` and `module_0003.jit_f`."""
    bare = name.partition("#")[0].partition("(")[0]
    head, dot, tail = bare.partition(".")
    return tail if dot and head.startswith("module_") else bare


def _listed(candidates: Sequence[Candidate]) -> str:
    listed = ", ".join(f"'{c.name}' ({c.said})" for c in candidates[:_SHOWN])
    rest = len(candidates) - _SHOWN
    return f"{listed} and {rest} more" if rest > 0 else listed
