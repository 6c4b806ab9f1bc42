from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from golden import Goldens
from pairs import Pair, findings, marked, text

from analyzers.environment import Environment
from hloscope.model.comparison import Comparison
from hloscope.pipeline import compare

Compare = Callable[[Pair], Comparison]

SAME = marked(Pair("same", "donating:state", "donating:state"))
OTHER = marked(Pair("other", "donating:state", "donating:state?donate=false"))
DIFFERENT: dict[str, Any] = {
    "versions": {"jax": "0.10.2", "flax": "0.12.4"},
    "compile_options": {"xla_cpu_enable_fast_math": "true"},
    "ambient_mesh": {"data": 2, "fsdp": 4},
    "axis_rules": (("embed", "fsdp"),),
    "git_revision": "f" * 40,
    "options": {"donate": "false"},
    "warnings": ("something was deprecated",),
}


def differing(comparison: Comparison, target: str, changes: dict[str, Any]) -> Comparison:
    """The same two modules, as if rhs had been made elsewhere."""
    sides = []
    for source, (where, what) in (
        (comparison.lhs, ("cpu:8", {"versions": {"jax": "0.10.0", "flax": "0.12.4"}})),
        (comparison.rhs, (target, changes)),
    ):
        assert source.capture is not None
        provenance = replace(source.capture.provenance, git_revision=None, git_dirty=None)
        provenance = replace(provenance, **what)
        capture = replace(source.capture, target=where, provenance=provenance)
        sides.append(replace(source, capture=capture))
    return compare(*sides)


@pytest.mark.parametrize("pair", OTHER)
def test_shows(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    comparison = differing(compared(pair), "cpu:4", DIFFERENT)
    goldens.check("environment.txt", text(findings(comparison, Environment())))


@pytest.mark.parametrize("pair", OTHER)
def test_comes_before_all_else(pair: Pair, compared: Compare) -> None:
    comparison = differing(compared(pair), "cpu:8", DIFFERENT)
    codes = [finding.code for finding in comparison.explanation.findings]
    assert codes[:5] == ["ENV002", "ENV003", "ENV004", "ENV005", "DON001"]


@pytest.mark.parametrize("pair", SAME)
def test_is_silent_where_the_results_are_equal(pair: Pair, compared: Compare) -> None:
    assert findings(differing(compared(pair), "cpu:4", DIFFERENT), Environment()) == ()


@pytest.mark.parametrize("pair", OTHER)
def test_is_silent_where_nothing_but_the_program_differs(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), Environment()) == ()
