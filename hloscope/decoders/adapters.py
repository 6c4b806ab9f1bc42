"""The two einsums of a LoRA adapter (Hu et al. 2021) beside a projection's one."""

from __future__ import annotations

from typing import NamedTuple

ALPHA = 16.0  # what the adapter's product is multiplied by, over the rank


class AdapterPlan(NamedTuple):
    """An adapter's equations, shapes and logical axes, for `a` and for `b`."""

    into: str
    out: str
    a_shape: tuple[int, ...]
    b_shape: tuple[int, ...]
    a_axes: tuple[str, ...]
    b_axes: tuple[str, ...]


def plan(equation: str, shape: tuple[int, ...], axes: tuple[str, ...], rank: int) -> AdapterPlan:
    """Divides the kernel of `equation` into `a`, inputs by rank, and `b`, rank by outputs.

    Args:
      equation: of the projection, `bte,ehd->bthd`; its first two letters are batch and seq.
      shape: of the projection's kernel.
      axes: logical axes of the kernel.
      rank: of the product.
    """
    left, result = equation.split("->")
    given, kernel = left.split(",")
    inputs = [at for at, letter in enumerate(kernel) if letter not in result]
    outputs = [at for at, letter in enumerate(kernel) if letter in result]
    contracted, kept = ("".join(kernel[at] for at in places) for places in (inputs, outputs))
    thin = f"{given[:2]}z"  # a letter that no projection uses
    return AdapterPlan(
        into=f"{given},{contracted}z->{thin}",
        out=f"{thin},z{kept}->{result}",
        a_shape=(*(shape[at] for at in inputs), rank),
        b_shape=(rank, *(shape[at] for at in outputs)),
        a_axes=(*(axes[at] for at in inputs), "lora"),
        b_axes=("lora", *(axes[at] for at in outputs)),
    )
