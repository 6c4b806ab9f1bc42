"""Lining up the passes of two compiles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hloscope.model.capture import PayloadName
from hloscope.model.passes import AlignedStep, PassStep

# 0007.spmd-cleanup.after_dce.before_tuple-simplifier.hlo.pb, 0202.copy-insertion.after_STEP.hlo.pb;
# names may hold dots, so the last `.before_` is the one that counts
_DUMP = re.compile(
    r"(?P<number>\d+)\.(?P<pipeline>.+?)\.after_(?P<name>.+?)(?:\.before_[^/]*)?\.hlo\.pb$"
)

PIPELINE_START = "pipeline-start"

Key = tuple[str, str]


def pass_steps(payloads: Iterable[str]) -> tuple[PassStep, ...]:
    """The dumped modules among a capture's payloads, in the order in which XLA wrote them.

    A dump whose name says neither pipeline nor pass is a step of its own name.
    """
    steps = [_step(name) for name in payloads if name.startswith(PayloadName.PASSES)]
    return tuple(sorted(steps, key=lambda step: (step.number, step.payload)))


def _step(payload: str) -> PassStep:
    name = payload.removeprefix(PayloadName.PASSES)
    found = _DUMP.match(name)
    if found is None:
        number, _, rest = name.partition(".")
        rest = rest.removesuffix(".hlo.pb")
        return PassStep(int(number) if number.isdigit() else 0, "", rest or name, payload)
    return PassStep(int(found["number"]), found["pipeline"], found["name"], payload)


def align(
    lhs: Sequence[PassStep], rhs: Sequence[PassStep], *, lhs_input: str, rhs_input: str
) -> tuple[AlignedStep, ...]:
    """The moments of two compiles, each with the module that either side has then.

    A pass that one side alone dumped changed nothing on the other, whose module is still the one
    before. Where both sides ran passes that the other has not, they make one moment together.

    Args:
      lhs: what lhs dumped, in order.
      rhs: likewise.
      lhs_input: payload of the module that lhs's compiler was given.
      rhs_input: likewise.
    """
    at_lhs, at_rhs = lhs_input, rhs_input
    aligned = []
    for left, right in _stretches(lhs, rhs):
        at_lhs = left[-1].payload if left else at_lhs
        at_rhs = right[-1].payload if right else at_rhs
        aligned.append(
            AlignedStep(lhs_passes=left, rhs_passes=right, lhs_module=at_lhs, rhs_module=at_rhs)
        )
    return tuple(aligned)


def _stretches(
    lhs: Sequence[PassStep], rhs: Sequence[PassStep]
) -> Iterator[tuple[tuple[PassStep, ...], tuple[PassStep, ...]]]:
    """Steps that pair up, steps of one side alone, and runs of both between two pairs."""
    before = (0, 0)
    for pair in [*_common(lhs, rhs), (len(lhs), len(rhs))]:
        left, right = tuple(lhs[before[0] : pair[0]]), tuple(rhs[before[1] : pair[1]])
        if left and right:
            yield left, right
        else:
            yield from (((step,), ()) for step in left)
            yield from (((), (step,)) for step in right)
        if pair[0] < len(lhs):
            yield (lhs[pair[0]],), (rhs[pair[1]],)
        before = (pair[0] + 1, pair[1] + 1)


def _common(lhs: Sequence[PassStep], rhs: Sequence[PassStep]) -> list[tuple[int, int]]:
    """A longest common subsequence of pipelines and passes, as positions."""
    left: list[Key] = [(step.pipeline, step.name) for step in lhs]
    right: list[Key] = [(step.pipeline, step.name) for step in rhs]
    # longest[i][j]: of left[i:] and right[j:]
    longest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        row, below = longest[i], longest[i + 1]
        for j in range(len(right) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if left[i] == right[j] else max(below[j], row[j + 1])
    pairs = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j] and longest[i][j] == longest[i + 1][j + 1] + 1:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def step_name(steps: Sequence[AlignedStep], at: int) -> str:
    """What ran between a moment and the one before; -1 is the input."""
    if at < 0:
        return "the input"
    left = _names(steps[at].lhs_passes, _before(steps, at, "lhs_passes"))
    right = _names(steps[at].rhs_passes, _before(steps, at, "rhs_passes"))
    if not (left and right):
        return f"{left or right} (which changes {'lhs' if left else 'rhs'} alone)"
    return left if left == right else f"{left} on lhs, {right} on rhs"


def _before(steps: Sequence[AlignedStep], at: int, side: str) -> PassStep | None:
    """The last pass of a side before a moment."""
    earlier = (getattr(step, side) for step in reversed(steps[:at]))
    return next((passes[-1] for passes in earlier if passes), None)


def _names(passes: Sequence[PassStep], before: PassStep | None) -> str:
    if not passes:
        return ""
    first = _name(passes[0], before)
    if len(passes) == 1:
        return first
    last = _name(passes[-1], passes[-2])
    return f"{first} to {last} ({len(passes)} passes)"


def _name(step: PassStep, before: PassStep | None) -> str:
    if step.name == PIPELINE_START:
        if before is None:
            return f"the start of '{step.pipeline}'"
        # XLA dumps no module between the two, so no pass can be named
        return f"what runs between {_name(before, None)} and the start of '{step.pipeline}'"
    return f"'{step.name}' of '{step.pipeline}'" if step.pipeline else f"'{step.name}'"
