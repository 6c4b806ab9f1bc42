"""Marks what differs between two lines of HLO text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

Span = tuple[int, int]
_TOKEN = re.compile(r"%?[\w.-]+|\s+|.", re.DOTALL)
# the matcher takes the square of this many steps; a longer line is marked from end to end
_MOST_TOKENS = 800


def marks(lhs: str, rhs: str, partner: Callable[[str], str]) -> tuple[list[Span], list[Span]]:
    """Where two lines differ, as (start, end) in characters of each.

    Args:
      lhs: a line.
      rhs: the line it became.
      partner: the name on rhs of an instruction of lhs: other names for the same thing are no
        difference.
    """
    left, right = _TOKEN.findall(lhs), _TOKEN.findall(rhs)
    translated = [f"%{partner(token[1:])}" if token.startswith("%") else token for token in left]
    # what is defined is not what differs: the two names are a pair
    if translated and right and translated[0].startswith("%") and right[0].startswith("%"):
        translated[0] = right[0]
    if max(len(left), len(right)) > _MOST_TOKENS:
        return ([], []) if translated == right else ([(0, len(lhs))], [(0, len(rhs))])
    blocks = SequenceMatcher(None, translated, right, autojunk=False).get_matching_blocks()
    return (
        list(_gaps(left, [(b.a, b.size) for b in blocks])),
        list(_gaps(right, [(b.b, b.size) for b in blocks])),
    )


def _gaps(tokens: Sequence[str], equal: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """The characters between equal runs of tokens."""
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(token))
    begin = 0
    for first, size in equal:
        if first > begin:
            yield ends[begin], ends[first]
        begin = first + size
