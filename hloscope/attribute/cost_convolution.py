"""Multiplications of a convolution."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hloscope.model.hlo import Instruction, Shape

_FIELD = re.compile(r"(\w+)=([\w\-]+)")
# outputs looked at per step: bounds the memory of one array, not what is counted
_CHUNK = 1 << 22


class WindowDimension(NamedTuple):
    """One dimension of HLO's `window={...}`, in XLA's words."""

    size: int = 1
    stride: int = 1
    pad_low: int = 0
    pad_high: int = 0
    lhs_dilate: int = 1
    rhs_dilate: int = 1


class Labels(NamedTuple):
    """`dim_labels=b0f_0io->b0f` taken apart: positions in the three shapes."""

    lhs_batch: int
    lhs_feature: int
    lhs_spatial: tuple[int, ...]
    rhs_spatial: tuple[int, ...]
    output_feature: int
    output_spatial: tuple[int, ...]


def read_window(text: str | None) -> tuple[WindowDimension, ...]:
    """The dimensions that `{size=3x3 stride=2x2 pad=0_0x1_1 ...}` spells, outermost first."""
    fields = dict(_FIELD.findall(text or ""))
    if "size" not in fields:
        return ()
    sizes = [int(s) for s in fields["size"].split("x")]
    rank = len(sizes)
    pads = [_pair(p) for p in fields["pad"].split("x")] if "pad" in fields else [(0, 0)] * rank
    ones = "x".join("1" * rank)
    return tuple(
        WindowDimension(size, int(stride), *pad, int(lhs), int(rhs))
        for size, stride, pad, lhs, rhs in zip(
            sizes,
            fields.get("stride", ones).split("x"),
            pads,
            fields.get("lhs_dilate", ones).split("x"),
            fields.get("rhs_dilate", ones).split("x"),
            strict=True,
        )
    )


def _pair(text: str) -> tuple[int, int]:
    low, high = text.split("_")
    return int(low), int(high)


def read_labels(text: str) -> Labels:
    """Positions that `dim_labels` names; spatial dimensions are the digits, in their order."""
    lhs, _, rest = text.partition("_")
    rhs, _, output = rest.partition("->")
    return Labels(
        lhs.index("b"),
        lhs.index("f"),
        _spatial(lhs),
        _spatial(rhs),
        output.index("f"),
        _spatial(output),
    )


def _spatial(labels: str) -> tuple[int, ...]:
    digits = [(int(c), n) for n, c in enumerate(labels) if c.isdigit()]
    return tuple(position for _, position in sorted(digits))


def convolution_flops(instruction: Instruction, lhs: Shape, rhs: Shape) -> int:
    """Two operations for each multiplication of an element that is not padding.

    Source: XLA's `HloCostAnalysis::GetConvolutionFlops`: input features of a group, times output
    features, times batch of a group, times pairs of (kernel, output) positions that meet a true
    input element, in each spatial dimension.
    """
    labels = read_labels(instruction.attr("dim_labels") or "")
    window = read_window(instruction.attr("window"))
    positions = 1
    for number, dimension in enumerate(window):
        positions *= valid_positions(
            dimension,
            lhs.dims[labels.lhs_spatial[number]],
            rhs.dims[labels.rhs_spatial[number]],
            instruction.shape.dims[labels.output_spatial[number]],
        )
    feature_groups = int(instruction.attr("feature_group_count") or 1)
    batch_groups = int(instruction.attr("batch_group_count") or 1)
    features = lhs.dims[labels.lhs_feature] // feature_groups
    outputs = instruction.shape.dims[labels.output_feature]
    return 2 * features * outputs * (lhs.dims[labels.lhs_batch] // batch_groups) * positions


@lru_cache(maxsize=4096)
def valid_positions(window: WindowDimension, lhs: int, kernel: int, output: int) -> int:
    """Pairs of kernel and output position that meet an element of the input, not padding."""
    positions = np.arange(output, dtype=np.int64) * window.stride - window.pad_low
    step = max(1, _CHUNK // max(output, 1))
    total = 0
    for first in range(0, kernel, step):
        taps = np.arange(first, min(first + step, kernel), dtype=np.int64) * window.rhs_dilate
        index = positions[None, :] + taps[:, None]
        source = index // window.lhs_dilate
        met = (source * window.lhs_dilate == index) & (source >= 0) & (source < lhs)
        total += int(np.count_nonzero(met))
    return total
