"""Real values for abstract inputs, equal on both sides; runs in the child process."""

from __future__ import annotations

import zlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hloscope.model.parity import LeafPath

# Kernels of any width up to some thousands then neither die out nor blow up behind a norm.
SPREAD = 0.1
_FRESH = "opt_state"  # an optimizer's moments are 0 before its first step
_KEYS = {"key<fry>": "threefry2x32", "key<rbg>": "rbg", "key<urbg>": "unsafe_rbg"}


def make_value(path: LeafPath, leaf: Any, *, seed: int, bound: int) -> Any:
    """A value for a leaf; the same path, shape and seed give the same on either side.

    Floats are normal with mean 0 and standard deviation `SPREAD`, integers even below `bound`; an
    optimizer's state is 0 throughout, so that its first moment after the step is the gradient.

    Args:
      path: canonical.
      leaf: with `shape` and `dtype`; anything else is given back as it is.
      seed: of everything.
      bound: above all integers.
    """
    if not hasattr(leaf, "dtype") or not hasattr(leaf, "shape"):
        return leaf
    name = "/".join(path).encode()
    draw = np.random.default_rng([seed, zlib.crc32(name)])
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        key = jax.random.key(int(draw.integers(2**31)), impl=_KEYS[str(leaf.dtype)])
        return jax.random.split(key, leaf.shape) if leaf.shape else key
    if _FRESH in path:
        return np.zeros(leaf.shape, leaf.dtype)
    return _numbers(draw, leaf, bound)


def _numbers(draw: np.random.Generator, leaf: Any, bound: int) -> Any:
    if jnp.issubdtype(leaf.dtype, jnp.inexact):
        return np.asarray(draw.normal(0.0, SPREAD, leaf.shape)).astype(leaf.dtype)
    if leaf.dtype == bool:
        return draw.integers(0, 2, leaf.shape).astype(bool)
    most = min(bound, int(np.iinfo(leaf.dtype).max) + 1)
    return np.asarray(draw.integers(0, most, leaf.shape)).astype(leaf.dtype)
