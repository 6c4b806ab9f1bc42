"""A prompt that fills the cache, then token by token, gives what the whole sequence gives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hloscope import decoders

PROMPT, LENGTH = 9, 12
TOLERANCE = 5e-5  # float32 sums in another order; a wrong position or mask gives 0.1 and more


def _run(spec: str) -> tuple[Any, tuple[Any, ...]]:
    program = decoders.resolve(spec, jax.devices()[:1])

    def step(*args: Any) -> Any:
        with program.context():
            quick = {"xla_backend_optimization_level": 0}
            return jax.jit(program.function, compiler_options=quick)(*args)

    return step, program.args


def _fill(tree: Any) -> Any:
    draw = np.random.default_rng(0)
    return jax.tree.map(lambda leaf: draw.normal(0.0, 0.1, leaf.shape).astype(leaf.dtype), tree)


@pytest.mark.compile
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gpt3-tiny", ""),
        ("llama3.1-tiny", "&attention=plain"),
        # an expert with room for some tokens alone drops others from a prompt than from a token
        ("deepseek-tiny", "&moe=dropless"),
        ("gemma3-tiny", "&layers=6&scan=false"),
        ("llama4-tiny", "&moe=dropless"),
    ],
)
def test_token_by_token_is_all_at_once(name: str, options: str) -> None:
    rest = f"dtype=f32&batch=2{options}"
    forward, (params, _) = _run(f"{name}:linen?step=forward&seq={LENGTH}&{rest}")
    prefill, (_, cache, *_) = _run(f"{name}:linen?step=prefill&seq={PROMPT}&cache={LENGTH}&{rest}")
    decode, _ = _run(f"{name}:linen?step=decode&seq={LENGTH}&{rest}")
    params = _fill(params)
    cache = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), cache)
    tokens = np.random.default_rng(1).integers(0, 100, (2, LENGTH)).astype("i4")
    whole = np.asarray(forward(params, tokens))
    logits, cache = prefill(params, cache, tokens[:, :PROMPT], jnp.int32(0))
    given = [logits]
    for at in range(PROMPT, LENGTH):
        logits, cache = decode(params, cache, tokens[:, at : at + 1], jnp.int32(at))
        given.append(logits)
    got = np.concatenate(given, axis=1)
    np.testing.assert_allclose(
        got, whole[:, PROMPT - 1 :], rtol=0, atol=TOLERANCE * np.abs(whole).max()
    )
    assert whole.std() > 0.01
