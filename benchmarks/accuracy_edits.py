"""Asks for edits with a known truth: is each found, and is it the edited one that is named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from benchmarks.draft import Node, freeze, thaw
from benchmarks.edit_site import Truth
from benchmarks.edits import EDITS, edit, leaves_a_trace
from benchmarks.rewrites import disturb
from hloscope import diff, match, normalize
from hloscope.model.canonical import Ref
from hloscope.model.changes import ModuleDiff
from hloscope.model.hlo import Module

_SEVERAL = (2, 3)  # edits in a case of several
_ATTEMPTS = 25  # draws before a kind of edit is given up for one case


@dataclass(frozen=True, slots=True, kw_only=True)
class EditTruth:
    """An edit's truth by place: edited instructions of lhs and rhs, and module attributes."""

    kind: str
    lhs: frozenset[Ref]
    rhs: frozenset[Ref]
    header: frozenset[str]

    def holds(self, named: Named) -> bool:
        """Whether the named place is an edited one."""
        return named.lhs in self.lhs or named.rhs in self.rhs or named.header in self.header


@dataclass(frozen=True, slots=True)
class Named:
    """A place that a comparison names as changed."""

    lhs: Ref | None = None
    rhs: Ref | None = None
    header: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditCase:
    """A module, the module after edits (under noise or not), and what was edited."""

    label: str
    name: str
    lhs: Module
    rhs: Module
    noisy: bool
    truths: tuple[EditTruth, ...]


@dataclass(slots=True)
class EditScore:
    """Totals of one row of the table."""

    edits: int = 0
    found: int = 0
    named: int = 0
    right: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of edits that are found."""
        return self.found / self.edits if self.edits else 1.0

    @property
    def precision(self) -> float:
        """Share of named places that are edited ones."""
        return self.right / self.named if self.named else 1.0


Namer = Callable[[EditCase], Sequence[Named]]


def edit_cases(modules: Mapping[str, Module], count: int, seed: int) -> list[EditCase]:
    """`count` cases: kinds in turn, every fourth with several edits, every second under noise."""
    kinds = list(EDITS)
    cases = []
    for number in range(count):
        rng = Random(f"{seed}/{number}")  # noqa: S311 - seeded on purpose
        several = number % 4 == 3
        wanted = [kinds[(number - number // 4) % len(kinds)]]
        if several:
            wanted = rng.choices(kinds, k=rng.choice(_SEVERAL))
        noisy = number % 2 == 1 if not several else number % 8 == 3
        case = _case(f"{seed}/{number}", modules, wanted, rng, noisy)
        if case is not None:
            cases.append(case)
    return cases


def _case(
    label: str, modules: Mapping[str, Module], kinds: Sequence[str], rng: Random, noisy: bool
) -> EditCase | None:
    for _ in range(_ATTEMPTS):
        name = rng.choice(sorted(modules))
        draft, old_places = thaw(modules[name])
        truths = [edit(draft, rng, kind) for kind in kinds]
        if None in truths or not leaves_a_trace(thaw(modules[name])[0], draft):
            continue
        if len({(t.kind, t.nodes, t.header) for t in truths if t is not None}) < len(truths):
            continue  # an edit made twice at one place may undo itself
        if noisy:
            disturb(draft, rng)
        module, new_places = freeze(draft)
        placed = tuple(_place(t, old_places, new_places) for t in truths if t is not None)
        return EditCase(
            label=f"{label} {name}",
            name=kinds[0] if len(kinds) == 1 else "several at once",
            lhs=modules[name],
            rhs=module,
            noisy=noisy,
            truths=placed,
        )
    return None


def _place(truth: Truth, old: Mapping[Node, Ref], new: Mapping[Node, Ref]) -> EditTruth:
    return EditTruth(
        kind=truth.kind,
        lhs=frozenset(old[node] for node in truth.nodes if node in old),
        rhs=frozenset(new[node] for node in truth.nodes if node in new),
        header=truth.header,
    )


def score_edits(cases: Sequence[EditCase], name: Namer) -> dict[str, EditScore]:
    """One row for each kind of edit and one for several at once."""
    scores: dict[str, EditScore] = defaultdict(EditScore)
    for case in cases:
        score, named = scores[case.name], name(case)
        right = [any(truth.holds(place) for truth in case.truths) for place in named]
        hit = [any(truth.holds(place) for place in named) for truth in case.truths]
        score.edits += len(hit)
        score.found += sum(hit)
        score.named += len(right)
        score.right += sum(right)
        if not all(hit):
            score.missed.append(case.label)
        if not all(right):
            score.wrong.append(case.label)
    return dict(scores)


def named_by_hloscope(case: EditCase) -> Sequence[Named]:
    """Heads of the diff's regions, at all their places, and changed module attributes."""
    lhs, rhs = normalize.normalize(case.lhs), normalize.normalize(case.rhs)
    return heads(diff.compare(lhs, rhs, match.match(lhs, rhs)))


def heads(found: ModuleDiff) -> list[Named]:
    """What a diff names as causes."""
    places = [
        Named(lhs=instance.lhs, rhs=instance.rhs)
        for region in found.regions
        for change in region.heads
        for instance in change.instances
    ]
    for change in found.header:
        at = change.parameter
        if at is None:
            places.append(Named(header=change.name))
        else:
            places.append(Named(lhs=at.lhs, rhs=at.rhs))
    return places


def total_score(scores: Mapping[str, EditScore]) -> EditScore:
    """All rows together."""
    total = EditScore()
    for score in scores.values():
        total.edits += score.edits
        total.found += score.found
        total.named += score.named
        total.right += score.right
    return total


def edits_table(title: str, scores: Mapping[str, EditScore]) -> list[str]:
    """The table as lines of text."""
    lines = [f"{title:32} {'edits':>6} {'found':>6} {'recall':>7} {'named':>7} {'precision':>10}"]
    kinds = (kind for kind in (*EDITS, "several at once") if kind in scores)
    lines += [_row(kind, scores[kind]) for kind in kinds]
    return [*lines, _row("all", total_score(scores))]


def _row(name: str, s: EditScore) -> str:
    return f"{name:32} {s.edits:6} {s.found:6} {s.recall:7.3f} {s.named:7} {s.precision:10.3f}"
