"""Leaves side by side, and how far values are apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hloscope.model.capture import Leaf
from hloscope.model.parity import Parity, ParityVerdict, Part, ValuePair
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.parity.trees import by_path, pair_leaves
from hloscope.parity.ulps import measure


def _leaf(path: str, shape: tuple[int, ...] = (2,), **other: Any) -> Leaf:
    fields: dict[str, Any] = {
        "path": path,
        "shape": shape,
        "dtype": "float32",
        "weak_type": False,
        "sharding": None,
        "mesh": None,
        "memory_kind": None,
        "layout": None,
        "donated": False,
        "parameter": None,
    }
    return Leaf(**{**fields, **other})


def test_leaves_are_paired_by_canonical_path_in_numeric_order() -> None:
    lhs = [_leaf(f"state.params['layers_{n}']['kernel']") for n in (10, 9)]
    rhs = [_leaf(f"state['model']['layers'][{n}]['kernel'].value") for n in (9, 10)]
    pairs = pair_leaves(lhs, rhs)
    assert [pair.path for pair in pairs] == [("layers", "9", "kernel"), ("layers", "10", "kernel")]
    assert all(pair.is_mapped and not pair.differences for pair in pairs)


def test_leaves_of_one_path_are_told_apart_by_order() -> None:
    assert by_path(["[0]", "[1]", "x", "x"]) == (("0",), ("1",), ("x",), ("x", "#2"))


def test_differences_are_named() -> None:
    mesh = {"data": 2}
    lhs = [
        _leaf("a", sharding="PartitionSpec('data')", mesh=mesh),
        _leaf("b"),
        _leaf("c"),
        _leaf("d", sharding="PartitionSpec('data')", mesh=mesh),
    ]
    rhs = [
        _leaf("a", sharding="PartitionSpec(None)", mesh=mesh),
        _leaf("b", (3,)),
        _leaf("c", dtype="bfloat16"),
        _leaf("d"),  # it does not know its sharding
    ]
    found = {pair.path[0]: pair.differences for pair in pair_leaves(lhs, rhs)}
    assert found == {"a": ("sharding",), "b": ("shape",), "c": ("dtype",), "d": ()}


def test_random_state_is_known_by_dtype_or_path() -> None:
    lhs = [_leaf("key", (), dtype="key<fry>"), _leaf("state.params['bias']")]
    rhs = [_leaf("state['model']['dropout']['rngs']['count'].value", (), dtype="uint32")]
    found = {pair.path: pair.random for pair in pair_leaves(lhs, rhs)}
    assert found == {("bias",): False, ("dropout", "rngs", "count"): True, ("key",): True}


@pytest.mark.parametrize(
    ("lhs", "rhs", "unequal", "error", "ulps"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0, 0.0, 0.0),
        # the last place of 2 is 2**-22; that of 1e-9 does not matter
        ([2.0, 1e-9], [2.0, 2e-9], 1, 1e-9, 1e-9 * 2**22),
        ([2.0, 0.0], [2.0 + 2**-22, 0.0], 1, 2**-22, 1.0),
        ([0.0], [0.0], 0, 0.0, 0.0),
        ([math.nan, 1.0], [math.nan, 1.0], 0, 0.0, 0.0),
        ([math.inf], [math.inf], 0, 0.0, 0.0),
        ([math.nan, 1.0], [0.0, 1.0], 1, math.inf, math.inf),
        ([math.inf, 1.0], [-math.inf, 1.0], 1, math.inf, math.inf),
        ([], [], 0, 0.0, 0.0),
    ],
)
def test_errors_count_in_the_last_place_of_the_largest_value(
    lhs: list[float], rhs: list[float], unequal: int, error: float, ulps: float
) -> None:
    sides = (np.asarray(side, "f4") for side in (lhs, rhs))
    pair = measure(Part.OUTPUT, ("x",), *sides, "float32")
    assert pair.unequal == unequal
    assert pair.error == pytest.approx(error)
    assert pair.ulps == pytest.approx(ulps)


def _parity(
    values: Maybe[tuple[ValuePair, ...]], lhs: list[str], rhs: list[str], **more: Any
) -> Parity:
    inputs = pair_leaves([_leaf(path) for path in lhs], [_leaf(path) for path in rhs])
    fields: dict[str, Any] = {
        "lhs": "a",
        "rhs": "b",
        "inputs": inputs,
        "outputs": (),
        "values": values,
    }
    rest: dict[str, Any] = {"unit": "float32", "tolerance": 2.0, "seed": 0, "bound": 8}
    return Parity(**fields, **rest, **more)


def _value(unequal: int, ulps: float) -> ValuePair:
    return ValuePair(
        part=Part.OUTPUT,
        path=("x",),
        dtype="float32",
        elements=4,
        unequal=unequal,
        scale=1.0,
        error=0.0,
        ulps=ulps,
    )


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ([_value(0, 0.0)], ParityVerdict.EQUAL),
        ([_value(0, 0.0), _value(1, 2.0)], ParityVerdict.WITHIN),
        ([_value(0, 0.0), _value(1, 2.1)], ParityVerdict.DIFFERENT),
    ],
)
def test_verdict_on_values(pairs: list[ValuePair], verdict: ParityVerdict) -> None:
    assert _parity(Measured(tuple(pairs)), ["x"], ["x"]).verdict == verdict


@pytest.mark.parametrize(
    ("lhs", "rhs", "checkpoint", "verdict"),
    [
        (["a.k"], ["a.k"], None, ParityVerdict.SAME_TREES),
        (["a.k"], ["a.k", "a.b"], None, ParityVerdict.TREES_DIFFER),
        # a checkpoint of weights: neither tokens nor moments
        (["a.k"], ["a.k", "opt_state.mu.a.k", "tokens"], "lhs", ParityVerdict.SAME_TREES),
        (["a.k", "tokens"], ["a.k"], "rhs", ParityVerdict.SAME_TREES),
        # half a layer
        (["a.k"], ["a.k", "a.b"], "lhs", ParityVerdict.TREES_DIFFER),
        # what the program does not know
        (["a.k", "c.k"], ["a.k"], "lhs", ParityVerdict.TREES_DIFFER),
    ],
)
def test_verdict_on_trees(
    lhs: list[str], rhs: list[str], checkpoint: str | None, verdict: ParityVerdict
) -> None:
    parity = _parity(Missing("not asked for"), lhs, rhs, checkpoint=checkpoint)
    assert parity.verdict == verdict
