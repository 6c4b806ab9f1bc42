"""Claims never add up to more than the gap, whatever analyzers say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hloscope.explain.claims import settle
from hloscope.model.cost import Step, Total
from hloscope.model.finding import Account, Confidence, Finding, Metric, Specificity
from hloscope.model.units import Maybe, Measured, Missing

AMOUNTS = st.integers(-1000, 1000)
MAYBE = st.one_of(AMOUNTS.map(Measured), st.just(Missing("unknown")))
POSITIONS = st.lists(st.integers(0, 5), max_size=6).map(tuple)
FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(["A001", "B001", "C001"]),
    title=st.sampled_from(["one", "another"]),
    confidence=st.sampled_from(Confidence),
    specificity=st.sampled_from(Specificity),
    entries=POSITIONS,
    cost_entries=POSITIONS,
    communication_entries=POSITIONS,
)


def known(figures: list[Maybe[int]]) -> int:
    return sum(figure.value for figure in figures if isinstance(figure, Measured))


def comparison(
    memory: list[int], cost: list[tuple[Maybe[int], ...]], sent: list[Maybe[int]], apart: int
) -> Any:
    """What `settle` reads of a comparison, with six entries in each ledger."""
    return SimpleNamespace(
        memory=SimpleNamespace(
            entries=[SimpleNamespace(size=size) for size in memory], total=sum(memory)
        ),
        cost=SimpleNamespace(
            entries=[
                SimpleNamespace(flops=flops, bytes=moved, seconds=seconds)
                for flops, moved, seconds in cost
            ],
            flops=Total(known([entry[0] for entry in cost])),
            bytes=Total(known([entry[1] for entry in cost])),
            seconds=Total(known([entry[2] for entry in cost])),
            uncompared=Step("", apart, 0, apart),
            lhs=SimpleNamespace(times={1: 1}),
            rhs=SimpleNamespace(times={1: 1}),
        ),
        communication=SimpleNamespace(
            changes=[SimpleNamespace(wire_bytes=figure) for figure in sent],
            wire_bytes=Total(known(sent)),
        ),
    )


COMPARISONS = st.builds(
    comparison,
    st.lists(AMOUNTS, min_size=6, max_size=6),
    st.lists(st.tuples(MAYBE, MAYBE, MAYBE), min_size=6, max_size=6),
    st.lists(MAYBE, min_size=6, max_size=6),
    AMOUNTS,
)


@given(COMPARISONS, st.lists(FINDINGS, max_size=5))
def test_claims_add_up_to_no_more_than_the_gap(made: Any, wanted: list[Finding]) -> None:
    settled, accounts = settle(made, wanted)
    for metric in Metric:
        account = accounts[metric]
        assert isinstance(account, Measured)
        value = account.value
        claims = sum(finding.claim.known(metric) for finding in settled)
        assert claims == value.claimed
        assert value.claimed + value.unexplained == value.gap
        assert claims <= value.gap if value.gap >= 0 else True
        assert claims >= value.gap if value.gap <= 0 else True
        assert 0 <= value.held_growth <= value.growth
        assert value.shrinkage <= value.held_shrinkage <= 0


@given(COMPARISONS, st.lists(FINDINGS, max_size=5))
def test_every_entry_has_one_owner(made: Any, wanted: list[Finding]) -> None:
    settled, _ = settle(made, wanted)
    for field in ("entries", "cost_entries", "communication_entries"):
        granted = [position for finding in settled for position in getattr(finding, field)]
        asked = {position for finding in wanted for position in getattr(finding, field)}
        assert sorted(granted) == sorted(asked)


@given(COMPARISONS, st.lists(FINDINGS, max_size=5), st.randoms())
def test_the_order_of_analyzers_does_not_matter(made: Any, wanted: list[Finding], rng: Any) -> None:
    shuffled = list(wanted)
    rng.shuffle(shuffled)
    assert settle(made, wanted) == settle(made, shuffled)


def finding(code: str, specificity: Specificity, *entries: int) -> Finding:
    return Finding(
        code=code, title=code, confidence=Confidence.STRUCTURAL, specificity=specificity,
        entries=entries,
    )  # fmt: skip


def test_the_more_specific_takes_the_entry_and_the_other_says_so() -> None:
    made = comparison([100, -30, 7, 0, 0, 0], [(Measured(0),) * 3] * 6, [Measured(0)] * 6, 0)
    wanted = [finding("SYM001", Specificity.SYMPTOM, 0, 2), finding("WHY001", Specificity.CAUSE, 0)]
    settled, accounts = settle(made, wanted)
    why, symptom = settled
    assert (why.code, why.entries, why.claim.bytes) == ("WHY001", (0,), Measured(77))
    assert (symptom.entries, symptom.held.bytes) == ((2,), Measured(7))
    assert symptom.claim.bytes == Measured(0)  # the weaker gives first
    assert [tuple(shared) for shared in symptom.shared] == [("WHY001", 100)]
    assert accounts[Metric.BYTES] == Measured(
        Account(gap=77, growth=107, shrinkage=-30, held_growth=107, held_shrinkage=0, offset=30)
    )
