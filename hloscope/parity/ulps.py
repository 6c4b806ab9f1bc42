"""How far two arrays are apart."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from hloscope.model.parity import LeafPath, Part, ValuePair

Array = npt.NDArray[Any]


def measure(part: Part, path: LeafPath, lhs: Array, rhs: Array, unit: str) -> ValuePair:
    """Compares two arrays of one shape.

    The error is measured against the largest magnitude in the leaf and not each element's own: a
    sum that cancels to nearly 0 is rounded as coarsely as its terms, which says nothing of a
    mistake.

    Args:
      part: what the arrays are.
      path: canonical.
      lhs: one side's.
      rhs: the other's.
      unit: the floating dtype whose last place is the unit.
    """
    left, right = (np.asarray(side, np.float64) for side in (lhs, rhs))
    unequal = ~((left == right) | (np.isnan(left) & np.isnan(right)))
    finite = np.isfinite(left) & np.isfinite(right)
    scale = _largest(np.where(finite, np.maximum(np.abs(left), np.abs(right)), 0))
    differences = np.abs(np.where(finite, left, 0) - np.where(finite, right, 0))
    error = math.inf if (unequal & ~finite).any() else _largest(differences)
    place = _eps(unit) * 2.0 ** math.floor(math.log2(scale)) if scale else 0.0
    return ValuePair(
        part=part,
        path=path,
        dtype=str(lhs.dtype),
        elements=int(left.size),
        unequal=int(unequal.sum()),
        scale=scale,
        error=error,
        ulps=error / place if place else error,
    )


def _largest(values: Array) -> float:
    return float(values.max()) if values.size else 0.0


def _eps(unit: str) -> float:
    """From 1 to the next number."""
    return float(ml_dtypes.finfo(unit).eps)  # type: ignore[no-untyped-call]  # its stubs are bare
