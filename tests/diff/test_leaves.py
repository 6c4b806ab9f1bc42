"""Pairing and comparing input leaves across the two stacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hloscope.diff.leaves import compare_leaves
from hloscope.model.capture import Leaf
from hloscope.model.comparison import LeafChange, LeavesDelta

MESH = {"data": 1, "fsdp": 8}


def leaf(path: str, **fields: object) -> Leaf:
    plain = Leaf(
        path=path,
        shape=(4, 8),
        dtype="float32",
        weak_type=False,
        sharding="PartitionSpec('fsdp', None)",
        mesh=MESH,
        memory_kind="device",
        layout=None,
        donated=True,
        parameter=None,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


LINEN = [
    leaf("[0].step", shape=(), dtype="int32"),
    leaf("[0].params['params']['decoder']['layers']['mlp']['wi']['kernel']"),
    leaf("[0].params['params']['decoder']['norm']['scale']"),
    leaf("[0].opt_state[0].mu['params']['decoder']['norm']['scale']"),
]
NNX = [
    leaf("[0]['model']['decoder']['layers']['mlp']['wi']['kernel'].value"),
    leaf("[0]['model']['decoder']['norm']['scale'].value"),
    leaf("[0]['optimizer']['opt_state']['mu']['decoder']['norm']['scale'].value"),
    leaf("[0]['optimizer']['step'].value", shape=(), dtype="uint32"),
    leaf("[0]['model']['decoder']['dropout']['rngs']['count'].value", shape=(), dtype="uint32"),
]


def test_the_same_leaves_are_no_difference() -> None:
    assert compare_leaves(LINEN, LINEN) == LeavesDelta(
        paired=4, renamed=0, changed=(), removed=(), added=()
    )


def test_linen_and_nnx_pair_by_state_path() -> None:
    delta = compare_leaves(LINEN, NNX)
    step = LeafChange(
        lhs=LINEN[0], rhs=NNX[3], fields=(("dtype", "int32", "uint32"),), moved=(0, 3)
    )
    assert delta == LeavesDelta(paired=4, renamed=4, changed=(step,), removed=(), added=(NNX[4],))


def test_mirroring_exchanges_added_and_removed() -> None:
    delta = compare_leaves(NNX, LINEN)
    assert (delta.paired, delta.removed, delta.added) == (4, (NNX[4],), ())


@pytest.mark.parametrize(
    ("rhs", "field"),
    [
        ("PartitionSpec(('data', 'fsdp'), None)", "spec"),
        ("PartitionSpec('fsdp',)", "spec"),
        ("PartitionSpec(None, 'fsdp')", "sharding"),
        ("PartitionSpec()", "sharding"),
        ("PartitionSpec(UNCONSTRAINED, None)", "sharding"),
    ],
)
def test_axes_of_size_one_partition_nothing(rhs: str, field: str) -> None:
    delta = compare_leaves([leaf("x.y")], [leaf("x.y", sharding=rhs)])
    (change,) = delta.changed
    assert change.fields == ((field, "PartitionSpec('fsdp', None)", rhs),)


def test_one_shared_word_does_not_pair_leaves() -> None:
    delta = compare_leaves([leaf("a.b.kernel")], [leaf("c.d.kernel")])
    assert (delta.paired, len(delta.removed), len(delta.added)) == (0, 1, 1)


def test_equal_ends_pair_only_where_they_are_unique() -> None:
    lhs = [leaf("old.mlp.kernel"), leaf("old.attention.kernel")]
    rhs = [leaf("new.mlp.kernel"), leaf("new.a.attention.kernel"), leaf("new.b.attention.kernel")]
    delta = compare_leaves(lhs, rhs)
    assert (delta.paired, delta.removed, delta.added) == (1, (lhs[1],), tuple(rhs[1:]))


def test_only_what_left_its_place_has_moved() -> None:
    names = [f"x.leaf{letter}" for letter in "abcdef"]
    lhs = [leaf(name) for name in names]
    rhs = [lhs[5], *lhs[:5]]
    delta = compare_leaves(lhs, rhs)
    assert [(c.lhs.path, c.moved) for c in delta.changed] == [("x.leaff", (5, 0))]


def test_results_of_one_path_in_two_places_are_told_apart_by_place() -> None:
    step = [leaf("[0]['kernel']"), leaf("[1]['kernel']"), leaf("[2]")]
    other = [replace(each, sharding="PartitionSpec()") for each in step]
    fields = (("sharding", "PartitionSpec('fsdp', None)", "PartitionSpec()"),)
    changed = tuple(
        LeafChange(lhs=lhs, rhs=rhs, fields=fields, moved=None)
        for lhs, rhs in zip(step, other, strict=True)
    )
    assert compare_leaves(step, other) == LeavesDelta(
        paired=3, renamed=0, changed=changed, removed=(), added=()
    )
