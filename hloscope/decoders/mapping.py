"""Weights of one stack as the other stack names them.

Both stacks name modules and weights alike, and stacked layers lie alike; only unrolled layers
differ: Linen's `layers_3` is NNX's `layers[3]`. Either side is a nested dict of arrays: in Linen
the `params` collection, in NNX what `nnx.to_pure_dict` makes of the model's `nnx.Param` state (and
`nnx.replace_by_pure_dict` takes back). AdamW's moments, which have the weights' structure, map
likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNROLLED = "layers_"


def to_nnx(params: Mapping[str, Any]) -> dict[str, Any]:
    """Renames Linen's weights to NNX's."""
    named = {name: value for name, value in params.items() if not name.startswith(_UNROLLED)}
    unrolled = {
        int(name.removeprefix(_UNROLLED)): value
        for name, value in params.items()
        if name.startswith(_UNROLLED)
    }
    return named | ({"layers": dict(sorted(unrolled.items()))} if unrolled else {})


def to_linen(state: Mapping[str, Any]) -> dict[str, Any]:
    """Renames NNX's weights to Linen's; the inverse of `to_nnx`."""
    layers = state["layers"]
    if not all(isinstance(name, int) for name in layers):
        return dict(state)
    named = {name: value for name, value in state.items() if name != "layers"}
    return named | {f"{_UNROLLED}{number}": value for number, value in sorted(layers.items())}
