"""Arguments in one tuple are parameters like any others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from hloscope.diff import compare
from hloscope.hlo import read_text
from hloscope.match import match
from hloscope.model.canonical import CanonicalModule
from hloscope.model.changes import ChangeClass
from hloscope.model.pairing import Rule
from hloscope.normalize import NormalizeOptions, normalize

READERS = ("negate", "tanh", "cosine", "exponential", "abs", "sine")
SIZES = (4, 4, 8, 4)
PATHS = tuple(f"params['layers']['w{k}']" for k in range(len(READERS)))


def tupled(
    order: Sequence[int],
    sizes: Sequence[int] = SIZES,
    shardings: Sequence[str] = (),
    unread: Sequence[int] = (),
) -> str:
    """Argument `k` is of `sizes[k]` and read by reader `k`; the tuple holds them in an order."""
    shapes = [f"f32[{size}]{{0}}" for size in sizes]
    sharding = ", ".join(shardings[k] for k in order) if shardings else ""
    lines = [f"  %t = ({', '.join(shapes[k] for k in order)}) parameter(0)"]
    lines[0] += f", sharding={{{sharding}}}" if sharding else ""
    read = [k for k in range(len(sizes)) if k not in unread]
    for k in read:
        lines.append(f"  %e{k} = {shapes[k]} get-tuple-element(%t), index={order.index(k)}")
        lines.append(f"  %r{k} = {shapes[k]} {READERS[k]}(%e{k})")
    results = ", ".join(f"%r{k}" for k in read)
    lines.append(f"  ROOT %out = ({', '.join(shapes[k] for k in read)}) tuple({results})")
    return "\n".join(["HloModule m", "ENTRY %main {", *lines, "}"])


def canonical(text: str, paths: Mapping[int, str] | None, *off: str) -> CanonicalModule:
    (module,) = read_text(text)
    options = NormalizeOptions(off=frozenset(off))
    return normalize(module, options=options, parameter_paths=paths)


def placed(order: Sequence[int]) -> dict[int, str]:
    return {place: PATHS[k] for place, k in enumerate(order)}


@given(st.lists(st.sampled_from([2, 4]), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_arguments_is_noise_where_paths_name_them(
    sizes: list[int], rng: Random
) -> None:
    straight = list(range(len(sizes)))
    order = rng.sample(straight, len(straight))
    one = canonical(tupled(straight, sizes), placed(straight))
    other = canonical(tupled(order, sizes), placed(order))
    assert one.full_fingerprint == other.full_fingerprint
    off = [
        canonical(tupled(o, sizes), placed(o), "parameter-order").graph_fingerprint
        for o in (straight, order)
    ]
    assert (off[0] == off[1]) == (order == straight)


def test_arguments_have_their_paths() -> None:
    side = canonical(tupled([2, 0, 1, 3]), placed([2, 0, 1, 3]))
    assert [side.paths[node][-1] for node in side.parameters] == ["w2", "w0", "w1", "w3"]
    assert {side.labels[side.label_of[node]].opcode for node in side.parameters} == {"parameter"}


def test_confusing_two_arguments_of_one_shape_is_a_difference() -> None:
    one = canonical(tupled([0, 1, 2, 3]), placed([0, 1, 2, 3]))
    confused = canonical(tupled([1, 0, 2, 3]), placed([0, 1, 2, 3]))
    assert one.graph_fingerprint != confused.graph_fingerprint
    found = compare(one, confused, match(one, confused))
    named = {
        one.instruction(i.lhs).name
        for region in found.regions
        for change in region.heads
        for i in change.instances
        if i.lhs is not None
    }
    assert named == {"r0", "r1"}


def test_without_paths_numbers_say_which_of_two_equal_ones_is_which() -> None:
    one, moved, confused = (
        canonical(tupled(order), None) for order in ([0, 1, 2, 3], [2, 0, 1, 3], [1, 0, 2, 3])
    )
    assert one.graph_fingerprint == moved.graph_fingerprint
    assert one.graph_fingerprint != confused.graph_fingerprint


def test_each_argument_has_its_own_sharding() -> None:
    shardings = ["{replicated}", "{devices=[2]<=[2]}", "{replicated}", "{replicated}"]
    one = canonical(tupled([0, 1, 2, 3], shardings=shardings), placed([0, 1, 2, 3]))
    moved = canonical(tupled([3, 2, 1, 0], shardings=shardings), placed([3, 2, 1, 0]))
    assert one.graph_fingerprint == moved.graph_fingerprint
    shardings[1], shardings[3] = shardings[3], shardings[1]
    other = canonical(tupled([0, 1, 2, 3], shardings=shardings), placed([0, 1, 2, 3]))
    assert one.graph_fingerprint != other.graph_fingerprint


def test_an_argument_more_leaves_the_others_paired() -> None:
    less = canonical(tupled([0, 1, 2], SIZES[:3]), placed([0, 1, 2]))
    more = canonical(tupled([3, 0, 1, 2]), placed([3, 0, 1, 2]))
    pairing = match(less, more)
    assert [pairing.partners[node] for node in less.parameters] == list(more.parameters[1:])
    assert pairing.lhs_only == ()
    (region,) = compare(less, more, pairing).regions
    titles = [i.rhs_name for change in region.heads for i in change.instances]
    assert "layers/w3" in titles


def test_a_changed_argument_is_named_by_its_path() -> None:
    one = canonical(tupled([0, 1, 2, 3]), placed([0, 1, 2, 3]))
    other = canonical(tupled([3, 2, 1, 0], (4, 4, 16, 4)), placed([3, 2, 1, 0]))
    pairing = match(one, other)
    (region,) = compare(one, other, pairing).regions
    (change,) = region.heads
    assert [(f.change_class, f.lhs, f.rhs) for f in change.fields] == [
        (ChangeClass.SHAPE, "f32[8]", "f32[16]")
    ]
    assert [i.lhs_name for i in change.instances] == ["layers/w2"]


def test_one_tuple_of_arguments_pairs_with_arguments_one_by_one() -> None:
    single = "\n".join(
        [
            "HloModule m",
            "ENTRY %main {",
            *(
                f'  %e{k} = f32[{size}]{{0}} parameter({k}), metadata={{op_name="{PATHS[k]}"}}'
                for k, size in enumerate(SIZES)
            ),
            *(f"  %r{k} = f32[{size}]{{0}} {READERS[k]}(%e{k})" for k, size in enumerate(SIZES)),
            "  ROOT %out = (f32[4]{0}, f32[4]{0}, f32[8]{0}, f32[4]{0}) tuple(%r0, %r1, %r2, %r3)",
            "}",
        ]
    )
    one, other = canonical(single, None), canonical(tupled([3, 1, 2, 0]), placed([3, 1, 2, 0]))
    pairing = match(one, other)
    assert all(pairing.partners[node] >= 0 for node in one.parameters)
    assert {pair.rule for pair in pairing.pairs} <= {Rule.SAME_CLASS, Rule.BOUNDARY, Rule.SAME_PATH}
    assert len(pairing.pairs) == 5


def test_an_argument_that_nothing_reads_counts() -> None:
    read = canonical(tupled([0, 1, 2, 3], unread=[2]), placed([0, 1, 2, 3]))
    gone = canonical(tupled([0, 1, 2], (4, 4, 4)).replace("cosine", "exponential"), None)
    assert len(read.parameters) == 4
    assert read.graph_fingerprint != gone.graph_fingerprint
