"""The parts that both stacks share, against plain loops."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from hloscope.decoders.attending import attend
from hloscope.decoders.experts import Weights, with_capacity
from hloscope.decoders.pattern import Layer, Rope, stretches
from hloscope.decoders.rope import frequencies, rotate
from hloscope.decoders.routing import route
from hloscope.decoders.sizes import Experts
from hloscope.decoders.training import in_parts, preference_loss

DRAW = np.random.default_rng(0)
LOCAL, CHUNKED = Layer(span="local", reach=3), Layer(span="chunked", reach=4)


def _normal(*shape: int) -> Any:
    return DRAW.normal(size=shape).astype("f4")


def _seen(layer: Layer, row: int) -> list[int]:
    first = {"full": 0, "local": row - layer.reach + 1, "chunked": row - row % (layer.reach or 1)}
    return [column for column in range(row + 1) if column >= first[layer.span]]


@pytest.mark.parametrize("implementation", ["dot_product", "plain"])
@pytest.mark.parametrize("layer", [Layer(), LOCAL, CHUNKED], ids=lambda layer: layer.span)
@pytest.mark.parametrize("offset", [None, 6])
def test_attention_is_what_a_loop_gives(
    implementation: str, layer: Layer, offset: int | None
) -> None:
    seq = 9 if offset is None else 1
    query, key, value = _normal(2, seq, 4, 8), _normal(2, 9, 2, 8), _normal(2, 9, 2, 6)
    got = attend(
        query,
        key,
        value,
        layer,
        implementation=implementation,
        scale=0.5,
        offset=None if offset is None else jnp.int32(offset),
    )
    want = np.zeros((2, seq, 4, 6))
    for batch, row, head in np.ndindex(2, seq, 4):
        seen = _seen(layer, row + (offset or 0))
        scores = key[batch, seen, head // 2] @ query[batch, row, head] * 0.5
        shares = np.exp(scores - scores.max())
        want[batch, row, head] = shares / shares.sum() @ value[batch, seen, head // 2]
    np.testing.assert_allclose(got, want, atol=2e-6)


def test_rope_turns_pairs_by_their_position() -> None:
    x, rope = _normal(1, 3, 1, 4), Rope(theta=100.0)
    got = np.asarray(rotate(x, jnp.arange(3) + 5, rope))
    pairs = x[..., :2] + 1j * x[..., 2:]
    turned = pairs[0, :, 0] * np.exp(1j * np.outer([5, 6, 7], [1.0, 0.1]))
    np.testing.assert_allclose(got[0, :, 0], np.hstack([turned.real, turned.imag]), atol=1e-5)


def test_rope_scalings_stretch_what_they_say() -> None:
    plain = frequencies(Rope(theta=5e5), 128)
    linear = frequencies(Rope(theta=5e5, scaling="linear", factor=8.0), 128)
    np.testing.assert_allclose(linear, plain / 8)
    llama = frequencies(Rope(theta=5e5, scaling="llama3", factor=8.0), 128)
    waves = 2 * np.pi / plain
    np.testing.assert_allclose(llama[waves < 8192 / 4], plain[waves < 8192 / 4])
    np.testing.assert_allclose(llama[waves > 8192], plain[waves > 8192] / 8, rtol=1e-6)
    between = (waves > 8192 / 4) & (waves < 8192)
    assert between.any()
    assert ((llama < plain) & (llama > plain / 8))[between].all()


EXPERTS = Experts(count=6, per_token=2, mlp=5, shared_mlp=5, groups=3, top_groups=2, scale=2.5)


def test_tokens_go_to_the_best_experts_of_the_best_groups() -> None:
    scores, bias = _normal(2, 7, 6), _normal(6)
    shares, chosen = route(jnp.asarray(scores), jnp.asarray(bias), EXPERTS, "sigmoid_grouped")
    sigmoid = 1 / (1 + np.exp(-scores))
    for batch, token in np.ndindex(2, 7):
        preferred = (sigmoid[batch, token] + bias).reshape(3, 2)
        groups = np.argsort(-preferred.sum(-1))[:2]
        allowed = [2 * group + at for group in groups for at in range(2)]
        best = sorted(allowed, key=lambda expert: -preferred.reshape(-1)[expert])[:2]
        assert list(np.asarray(chosen)[batch, token]) == best
        weights = sigmoid[batch, token, best]
        np.testing.assert_allclose(
            np.asarray(shares)[batch, token], weights / weights.sum() * 2.5, rtol=1e-5
        )


def test_one_expert_of_all_is_weighed_by_its_own_score() -> None:
    scores = _normal(1, 5, 4)
    one = Experts(count=4, per_token=1, mlp=5, shared_mlp=5)
    shares, chosen = route(jnp.asarray(scores), None, one, "sigmoid_topk")
    assert (np.asarray(chosen)[..., 0] == scores.argmax(-1)).all()
    np.testing.assert_allclose(shares[..., 0], 1 / (1 + np.exp(-scores.max(-1))), rtol=1e-5)


def _silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize("scale_input", [True, False])
@pytest.mark.parametrize("capacity", [8, 1])
def test_experts_take_tokens_until_they_are_full(capacity: int, scale_input: bool) -> None:
    x, shares = _normal(2, 4, 3), np.abs(_normal(2, 4, 2))
    chosen = np.array([[[0, 1], [0, 2], [1, 0], [2, 0]], [[2, 1], [2, 1], [2, 1], [2, 1]]])
    gate, up, down = _normal(3, 3, 5), _normal(3, 3, 5), _normal(3, 5, 3)
    got = with_capacity(
        jnp.asarray(x),
        jnp.asarray(shares),
        jnp.asarray(chosen),
        Weights(*map(jnp.asarray, (gate, up, down))),
        capacity=capacity,
        scale_input=scale_input,
        constrain=lambda x, _: x,
    )
    want = np.zeros_like(x)
    for batch in range(2):
        room = [capacity] * 3
        for choice in range(2):  # all first choices come before any second one
            for token in range(4):
                expert, share = chosen[batch, token, choice], shares[batch, token, choice]
                room[expert] -= 1
                if room[expert] < 0:
                    continue
                given = x[batch, token] * (share if scale_input else 1)
                hidden = _silu(given @ gate[expert]) * (given @ up[expert])
                want[batch, token] += hidden @ down[expert] * (1 if scale_input else share)
    np.testing.assert_allclose(got, want, atol=1e-5)


A, B = Layer(), Layer(experts=True)


@pytest.mark.parametrize(
    ("layers", "prefix", "group", "scan", "want"),
    [
        ((A, A), 0, 1, True, [("layers", 1, 2)]),
        ((A, A), 0, 1, False, [("layers", 2, None)]),
        ((A, A, B, B, B), 2, 1, True, [("dense_layers", 1, 2), ("layers", 1, 3)]),
        ((A, A, B), 2, 1, False, [("dense_layers", 2, None), ("layers", 1, None)]),
        ((A, B) * 2 + (A,), 0, 2, True, [("layers", 2, 2), ("remainder", 1, None)]),
        ((A, B), 0, 4, True, [("remainder", 2, None)]),
        ((A,), 3, 1, True, [("dense_layers", 1, 1)]),
    ],
)
def test_layers_are_scanned_by_group(
    layers: tuple[Layer, ...],
    prefix: int,
    group: int,
    scan: bool,
    want: list[tuple[str, int, int | None]],
) -> None:
    found = stretches(layers, prefix=prefix, group=group, scan=scan)
    assert [(each.name, len(each.group), each.repeats) for each in found] == want


def test_preference_loss_is_the_published_formula() -> None:
    policy, reference = _normal(4, 3, 7), _normal(4, 3, 7)
    targets = DRAW.integers(0, 7, (2, 2, 3))
    batch = {"inputs": jnp.zeros((2, 2, 3), int), "targets": jnp.asarray(targets)}
    got = preference_loss(lambda _: policy, lambda _: reference, batch)

    def log_probability(logits: Any) -> Any:
        shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        picked = np.take_along_axis(shares, targets.reshape(4, 3, 1), -1)
        return np.log(picked).sum((1, 2)).reshape(2, 2)

    ratio = log_probability(policy) - log_probability(reference)
    margin = 0.1 * (ratio[:, 0] - ratio[:, 1])
    assert float(got) == pytest.approx(-np.log(1 / (1 + np.exp(-margin))).mean(), rel=1e-5)


def test_parts_have_every_sequence_once() -> None:
    parts = in_parts({"inputs": jnp.arange(12).reshape(6, 2)}, 3)["inputs"]
    assert parts.shape == (3, 2, 2)
    assert sorted(np.asarray(parts).reshape(-1, 2)[:, 0]) == [0, 2, 4, 6, 8, 10]
