"""Passes of two compiles lined up, and the search for where they part."""

from __future__ import annotations

import pytest

from hloscope.explain.passes_align import align, pass_steps, step_name
from hloscope.explain.passes_search import first_difference, gap_changes, parting, rejoined
from hloscope.model.passes import AlignedStep, GapChange, PassStep


def _steps(text: str) -> tuple[PassStep, ...]:
    """`p:a p:b` as dumps 0 and 1 of pipeline p."""
    names = [part.split(":") for part in text.split()]
    return pass_steps(
        f"passes/{n:04}.{pipeline}.after_{name}.before_x.hlo.pb"
        for n, (pipeline, name) in enumerate(names)
    )


def _lined_up(lhs: str, rhs: str) -> list[tuple[str, str]]:
    aligned = align(_steps(lhs), _steps(rhs), lhs_input="in", rhs_input="in")
    return [
        tuple(" ".join(p.name for p in side) for side in (step.lhs_passes, step.rhs_passes))
        for step in aligned
    ]  # type: ignore[misc]


def test_names_of_dumps_are_taken_apart() -> None:
    names = (
        "passes/0010.After_X64,_before.after_cse.before_pipeline-end.hlo.pb",
        "passes/0002.copy-insertion.after_adding_special-case_copies.hlo.pb",
        "passes/0003.odd.hlo.pb",
        "optimized.hlo.pb",
    )
    assert pass_steps(names) == (
        PassStep(2, "copy-insertion", "adding_special-case_copies", names[1]),
        PassStep(3, "", "odd", names[2]),
        PassStep(10, "After_X64,_before", "cse", names[0]),
    )


def test_a_pass_that_changed_one_side_is_a_moment_of_its_own() -> None:
    assert _lined_up("p:a p:dce p:b", "p:a p:b") == [("a", "a"), ("dce", ""), ("b", "b")]


def test_what_only_one_side_has_between_two_pairs_is_one_moment() -> None:
    assert _lined_up("p:a p:x p:y p:b", "p:a p:z p:b") == [("a", "a"), ("x y", "z"), ("b", "b")]


def test_the_side_that_a_pass_left_alone_keeps_its_module() -> None:
    lhs, rhs = _steps("p:a p:dce"), _steps("p:a")
    after = align(lhs, rhs, lhs_input="in", rhs_input="in")[1]
    assert (after.lhs_module, after.rhs_module) == (lhs[1].payload, rhs[0].payload)


def test_steps_are_named_by_what_ran() -> None:
    aligned: tuple[AlignedStep, ...] = align(
        _steps("p:a p:dce q:pipeline-start"),
        _steps("p:a q:pipeline-start"),
        lhs_input="in",
        rhs_input="in",
    )
    assert [step_name(aligned, at) for at in range(-1, 3)] == [
        "the input",
        "'a' of 'p'",
        "'dce' of 'p' (which changes lhs alone)",
        "what runs between 'dce' of 'p' and the start of 'q' on lhs, "
        "what runs between 'a' of 'p' and the start of 'q' on rhs",
    ]


@pytest.mark.parametrize(
    ("same", "first", "again"),
    [
        ([True, True, True], None, -1),
        ([False, False, False], -1, None),
        ([True, False, True], 0, 1),
        ([True, False, False], 0, None),
    ],
)
def test_first_difference_and_rejoining(
    same: list[bool], first: int | None, again: int | None
) -> None:
    assert first_difference(2, lambda step: same[step + 1]) == first
    assert rejoined(2, lambda step: same[step + 1]) == again


def test_every_change_of_a_gap_is_found_with_few_looks() -> None:
    looked: set[int] = set()

    def gap(step: int) -> float:
        looked.add(step)
        return 0 if step < 70 else 5 if step < 71 else 8

    assert gap_changes(200, gap) == (GapChange(70, 0, 5), GapChange(71, 5, 8))
    assert parting(200, gap) == GapChange(70, 0, 5)
    assert len(looked) < 40


def test_a_gap_at_the_input_is_where_the_sides_part() -> None:
    assert parting(3, lambda _: 7) == GapChange(-1, 0, 7)
