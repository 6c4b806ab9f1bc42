"""Splits a buffer's growth into shape, dtype, sharding, and layout or padding."""

from __future__ import annotations

from math import prod

from hloscope.attribute.cost_shapes import element_bits, element_count
from hloscope.model.capture import Leaf
from hloscope.model.ledger import LedgerEntry, Part
from hloscope.model.units import Bytes


def growth_parts(
    lhs: LedgerEntry, rhs: LedgerEntry, wholes: tuple[int | None, int | None] = (None, None)
) -> tuple[tuple[Part, Bytes], ...]:
    """What `rhs.size - lhs.size` is due to; the parts add up to it exactly.

    Elements are counted first, at lhs' width: what the global shape explains is shape, the rest is
    sharding. Then the width of an element, at rhs' count. What the sizes hold beyond their elements
    is layout or padding.

    Args:
      lhs: the smaller or larger buffer.
      rhs: the same buffer on the other side.
      wholes: elements of both before they were partitioned, `None` where unknown; for inputs and
        outputs their leaves say it.
    """
    if lhs.shape is None or rhs.shape is None or not (_counts(lhs) and _counts(rhs)):
        return _kept({Part.LAYOUT: rhs.size - lhs.size})
    left, right = element_count(lhs.shape), element_count(rhs.shape)
    width, new_width = element_bits(lhs.shape), element_bits(rhs.shape)
    global_count = _by_global_shape(lhs.leaf, rhs.leaf, left, right)
    if lhs.leaf is None or rhs.leaf is None:
        global_count = _by_whole(wholes, left, right)
    parts = {
        Part.SHAPE: _bytes(global_count, width) - _bytes(left, width),
        Part.SHARDING: _bytes(right, width) - _bytes(global_count, width),
        Part.DTYPE: _bytes(right, new_width) - _bytes(right, width),
    }
    parts[Part.LAYOUT] = rhs.size - lhs.size - sum(parts.values())
    return _kept(parts)


def _counts(entry: LedgerEntry) -> bool:
    return entry.shape is not None and element_count(entry.shape) > 0


def _by_global_shape(lhs: Leaf | None, rhs: Leaf | None, left: int, right: int) -> int:
    """Elements that rhs would have on a device if lhs' sharding had stayed."""
    if lhs is None or rhs is None or lhs.sharding == rhs.sharding:
        return right
    before, after = prod(lhs.shape), prod(rhs.shape)
    return left * after // before if before else right


def _by_whole(wholes: tuple[int | None, int | None], left: int, right: int) -> int:
    """The same for other values, where both are known before partitioning."""
    before, after = wholes
    if not before or not after or before * right == after * left:
        return right
    return left * after // before


def _bytes(count: int, bits: int) -> int:
    return -(-count * bits // 8)


def _kept(parts: dict[Part, int]) -> tuple[tuple[Part, Bytes], ...]:
    ranked = sorted(parts.items(), key=lambda item: (-abs(item[1]), item[0]))
    return tuple((part, Bytes(size)) for part, size in ranked if size)
