"""The order of a combined collective's operands is noise; who reads which of its elements is not."""

# ruff: noqa: E501 - HLO is written in long lines

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hloscope.diff import compare
from hloscope.hlo import read_text
from hloscope.match import match
from hloscope.model.canonical import CanonicalModule
from hloscope.model.hlo import Module
from hloscope.normalize import NormalizeOptions, normalize

READERS = ("negate", "tanh", "cosine", "exponential", "abs", "sine")
ORDINARY = "all-reduce({operands}), replica_groups={{{{0,1}}}}, to_apply=%sum{more}"


def module(text: str) -> Module:
    (found,) = read_text(text)
    return found


def fingerprint(text: str, *off: str) -> str:
    return normalize(module(text), options=NormalizeOptions(off=frozenset(off))).graph_fingerprint


def combined(
    sizes: Sequence[int],
    order: Sequence[int],
    reads: Sequence[int] | None = None,
    collective: str = ORDINARY,
    more: str = "",
) -> str:
    """Parameters of some sizes, combined in an order; reader `k` reads the element of `reads[k]`."""
    reads = range(len(sizes)) if reads is None else reads
    shapes = [f"f32[{size}]{{0}}" for size in sizes]
    inputs = [
        f"  %p{k} = {shape} parameter({k}), metadata={{op_name=\"params['w{k}']\"}}"
        for k, shape in enumerate(shapes)
    ]
    places = {operand: place for place, operand in enumerate(order)}
    called = collective.format(operands=", ".join(f"%p{k}" for k in order), more=more)
    elements = [
        line
        for k, of in enumerate(reads)
        for line in (
            f"  %e{k} = {shapes[of]} get-tuple-element(%c), index={places[of]}",
            f"  %r{k} = {shapes[of]} {READERS[k]}(%e{k})",
        )
    ]
    return "\n".join(
        [
            "HloModule m",
            "%sum (a: f32[], b: f32[]) -> f32[] {",
            "  %a = f32[] parameter(0)",
            "  %b = f32[] parameter(1)",
            "  ROOT %s = f32[] add(%a, %b)",
            "}",
            "ENTRY %main {",
            *inputs,
            f"  %c = ({', '.join(shapes[k] for k in order)}) {called}",
            *elements,
            f"  ROOT %out = ({', '.join(shapes[of] for of in reads)}) tuple({', '.join(f'%r{k}' for k in range(len(reads)))})",
            "}",
        ]
    )


def named(lhs: CanonicalModule, rhs: CanonicalModule) -> list[str | None]:
    """lhs names of what a comparison names as causes."""
    found = compare(lhs, rhs, match(lhs, rhs))
    places = [i for region in found.regions for change in region.heads for i in change.instances]
    return sorted(lhs.instruction(i.lhs).name if i.lhs else "" for i in places)


sizes = st.lists(st.sampled_from([2, 4, 8]), min_size=2, max_size=6)


@given(sizes, st.randoms(use_true_random=False))
def test_order_of_operands_is_noise(lengths: list[int], rng: Random) -> None:
    order = list(range(len(lengths)))
    rng.shuffle(order)
    straight, other = (normalize(module(combined(lengths, o))) for o in (sorted(order), order))
    assert straight.full_fingerprint == other.full_fingerprint
    assert named(straight, other) == []


@given(sizes, st.randoms(use_true_random=False))
def test_who_reads_which_element_is_not(lengths: list[int], rng: Random) -> None:
    equal = [k for k in range(1, len(lengths)) if lengths[k] == lengths[0]]
    reads, order = list(range(len(lengths))), list(range(len(lengths)))
    if equal:
        other = rng.choice(equal)
        reads[0], reads[other] = other, 0
    rng.shuffle(order)
    straight, crossed = (
        normalize(module(combined(lengths, range(len(lengths))))),
        normalize(module(combined(lengths, order, reads))),
    )
    assert (straight == crossed) == (not equal)
    assert bool(named(straight, crossed)) == bool(equal)


def test_an_element_of_equal_operands_is_one_value() -> None:
    text = combined([4], [0], [0]).replace("%p0)", "%p0, %p0)", 1)
    text = text.replace("%c = (f32[4]{0})", "%c = (f32[4]{0}, f32[4]{0})")
    assert "all-reduce(%p0, %p0)" in text
    assert fingerprint(text) == fingerprint(text.replace("index=0", "index=1"))


@pytest.mark.parametrize(
    "collective",
    [
        "all-to-all({operands}), replica_groups={{{{0,1}}}}{more}",
        'custom-call({operands}), custom_call_target="f"{more}',
    ],
)
def test_elements_of_others_have_positions(collective: str) -> None:
    straight = combined([4, 4], [0, 1], collective=collective)
    turned = combined([4, 4], [1, 0], collective=collective)
    assert fingerprint(straight) != fingerprint(turned)


def test_combining_otherwise_is_a_difference() -> None:
    lengths = [4, 8, 2, 4]
    whole = combined(lengths, range(4))
    halves = whole.replace(
        "  %c = (f32[4]{0}, f32[8]{0}, f32[2]{0}, f32[4]{0}) all-reduce(%p0, %p1, %p2, %p3)",
        "  %d = (f32[2]{0}, f32[4]{0}) all-reduce(%p2, %p3), replica_groups={{0,1}}, to_apply=%sum\n"
        "  %c = (f32[4]{0}, f32[8]{0}) all-reduce(%p0, %p1)",
    )
    halves = halves.replace("(%c), index=2", "(%d), index=0").replace(
        "(%c), index=3", "(%d), index=1"
    )
    lhs, rhs = normalize(module(whole)), normalize(module(halves))
    assert lhs.graph_fingerprint != rhs.graph_fingerprint
    # the one that lost operands, and the new one that lhs has no name for
    assert named(lhs, rhs) == ["", "c"]


def test_the_same_operand_in_two_collectives_is_told_apart() -> None:
    collective = "all-reduce(%p{}, %p{}), replica_groups={{{{0,1}}}}, to_apply=%sum"
    text = combined([4, 4, 4], [0, 1, 2]).replace(
        "  %c = (f32[4]{0}, f32[4]{0}, f32[4]{0}) all-reduce(%p0, %p1, %p2), replica_groups={{0,1}}, to_apply=%sum",
        f"  %c = (f32[4]{{0}}, f32[4]{{0}}) {collective.format(0, 1)}\n"
        f"  %d = (f32[4]{{0}}, f32[4]{{0}}) {collective.format(0, 2)}",
    )
    text = text.replace(
        "%e2 = f32[4]{0} get-tuple-element(%c), index=2",
        "%e2 = f32[4]{0} get-tuple-element(%d), index=0",
    )
    assert "%d" in text
    other = (
        text.replace("(%c), index=0", "(%x), index=0")
        .replace("(%d), index=0", "(%c), index=0")
        .replace("(%x)", "(%d)")
    )
    lhs, rhs = normalize(module(text)), normalize(module(other))
    assert lhs.graph_fingerprint != rhs.graph_fingerprint
    assert named(lhs, rhs) != []


TPU = ', backend_config={{"aliasing_operands":{{"lists":[{{"indices":["{}","{}"]}}]}}}}'


def test_an_element_in_the_memory_of_its_operand_keeps_it_in_another_place() -> None:
    first = combined([4, 4], [0, 1], more=TPU.format(0, 2))
    turned = combined([4, 4], [1, 0], more=TPU.format(1, 3))
    other = combined([4, 4], [1, 0], more=TPU.format(0, 2))
    prints = [fingerprint(text) for text in (first, turned, other)]
    assert prints[0] == prints[1]
    assert prints[0] != prints[2]
    assert named(normalize(module(first)), normalize(module(other))) != []


@pytest.mark.parametrize(
    "more", [TPU.format(0, 3), ", sharding={{replicated}, {maximal device=0}}"]
)
def test_what_names_positions_keeps_them(more: str) -> None:
    one = combined([4, 4], [0, 1], more=more)
    other = combined([4, 4], [1, 0], more=more)
    assert fingerprint(one) != fingerprint(other)


def test_the_pass_can_be_switched_off() -> None:
    off = "combined-collectives"
    one, other = combined([4, 8], [0, 1]), combined([4, 8], [1, 0])
    assert fingerprint(one) == fingerprint(other)
    assert fingerprint(one, off) != fingerprint(other, off)


ASYNCHRONOUS = """HloModule m
ENTRY %main {{
  %p = f32[2]{{0}} parameter(0)
  %q = f32[4]{{0}} parameter(1)
  %s = (({first}, {second}), ({third}, {fourth})) all-gather-start({operands}), dimensions={{0}}, replica_groups={{{{0,1}}}}
  %d = ({third}, {fourth}) all-gather-done(%s)
  %x = f32[4]{{0}} get-tuple-element(%d), index={x}
  %y = f32[8]{{0}} get-tuple-element(%d), index={y}
  %n = f32[4]{{0}} negate(%x)
  ROOT %out = (f32[4]{{0}}, f32[8]{{0}}) tuple(%n, %y)
}}
"""


def test_asynchronous_ones_are_alike() -> None:
    shapes = ["f32[2]{0}", "f32[4]{0}", "f32[4]{0}", "f32[8]{0}"]
    keys = ("first", "second", "third", "fourth")
    turned = [shapes[k] for k in (1, 0, 3, 2)]
    one = ASYNCHRONOUS.format(**dict(zip(keys, shapes, strict=True)), operands="%p, %q", x=0, y=1)
    other = ASYNCHRONOUS.format(**dict(zip(keys, turned, strict=True)), operands="%q, %p", x=1, y=0)
    lhs, rhs = normalize(module(one)), normalize(module(other))
    assert lhs.full_fingerprint == rhs.full_fingerprint
