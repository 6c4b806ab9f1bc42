"""Two captures of a small loop, one of which keeps a larger value."""

from __future__ import annotations

from pathlib import Path

import pytest

import hloscope
from hloscope.model.source import Source


def _program(width: int) -> hloscope.Program:
    import jax
    import jax.numpy as jnp

    def step(weights: jax.Array, x: jax.Array) -> jax.Array:
        def layer(carry: jax.Array, weight: jax.Array) -> tuple[jax.Array, None]:
            return jnp.tanh(carry @ weight), None

        wide = jnp.sin(x) @ jnp.ones((x.shape[1], width)) @ jnp.ones((width, x.shape[1]))
        return jax.lax.scan(layer, wide, weights)[0]

    weights = jax.ShapeDtypeStruct((3, 64, 64), jnp.float32)
    x = jax.ShapeDtypeStruct((32, 64), jnp.float32)
    return hloscope.Program(name=f"loop {width}", function=step, args=(weights, x))


@pytest.fixture(scope="session")
def paths(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The capture files of the two sides."""
    folder = tmp_path_factory.mktemp("captures")
    found = []
    for width in (128, 256):
        path = folder / f"{width}.hloscope"
        hloscope.save(hloscope.open(_program(width), target="cpu:1", cache=False).capture, path)
        found.append(path)
    return found[0], found[1]


@pytest.fixture(scope="session")
def sides(paths: tuple[Path, Path]) -> tuple[Source, Source]:
    """The two sides, read."""
    return hloscope.open(paths[0]), hloscope.open(paths[1])
