"""Options of a reference decoder, as written after `?` in its spec."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the caller asked for; `None` where the size or the number of devices decides.

    Attributes:
      batch: sequences of one step, over all devices.
      seq: tokens of a sequence.
      cache: positions of the KV cache.
      data: devices along the mesh's `data` axis; likewise `fsdp`, `expert`, `context`, `tensor`.
    """

    step: str = "train"
    layers: int | None = None
    scan: bool = True
    remat: str = "full"
    dropout: float = 0.0
    tied: bool | None = None
    dtype: str = "bfloat16"
    weights_dtype: str = "float32"
    logits_dtype: str = "float32"
    attention: str = "dot_product"
    moe: str | None = None
    capacity_factor: float | None = None
    loss: str | None = None
    accumulate: int | None = None
    lora: int | None = None
    cache: int | None = None
    vocab: int | None = None
    batch: int | None = None
    seq: int | None = None
    data: int | None = None
    fsdp: int | None = None
    expert: int | None = None
    context: int | None = None
    tensor: int | None = None
    donate: bool = True


class OptionHelp(NamedTuple):
    """One option as the user sees it.

    Attributes:
      values: what may be written, in words.
      default: what holds where the option is not given, in words.
      meaning: what the option changes, one phrase.
    """

    values: str
    default: str
    meaning: str


class _Kind(NamedTuple):
    values: str
    parse: Callable[[str], Any]  # raises ValueError or KeyError


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise ValueError(text)
    return int(text)


def _rate(text: str) -> float:
    rate = float(text)
    if not 0.0 <= rate < 1.0:
        raise ValueError(text)
    return rate


def _factor(text: str) -> float:
    factor = float(text)
    if not 0.0 < factor < float("inf"):
        raise ValueError(text)
    return factor


def _choice(*choices: str) -> _Kind:
    table = {choice: choice for choice in choices}
    return _Kind(" or ".join(choices), table.__getitem__)


_COUNT = _Kind("a whole number from 1", _count)
_BOOL = _Kind("true or false", {"true": True, "false": False}.__getitem__)
_RATE = _Kind("a number from 0, below 1", _rate)
_FACTOR = _Kind("a number above 0", _factor)
_DTYPE = _Kind(
    "bfloat16 or float32",
    {
        "bfloat16": "bfloat16",
        "float32": "float32",
        "bf16": "bfloat16",
        "f32": "float32",
    }.__getitem__,
)

_KINDS: Mapping[str, _Kind] = {
    "step": _choice("train", "prefill", "decode", "forward"),
    "layers": _COUNT,
    "scan": _BOOL,
    "remat": _choice("none", "minimal", "full"),
    "dropout": _RATE,
    "tied": _BOOL,
    "dtype": _DTYPE,
    "weights_dtype": _DTYPE,
    "logits_dtype": _DTYPE,
    "attention": _choice("dot_product", "plain"),
    "moe": _choice("capacity", "dropless"),
    "capacity_factor": _FACTOR,
    "loss": _choice("cross_entropy", "dpo"),
    "accumulate": _COUNT,
    "lora": _COUNT,
    "cache": _COUNT,
    "vocab": _COUNT,
    "batch": _COUNT,
    "seq": _COUNT,
    "data": _COUNT,
    "fsdp": _COUNT,
    "expert": _COUNT,
    "context": _COUNT,
    "tensor": _COUNT,
    "donate": _BOOL,
}

_MEANINGS: Mapping[str, tuple[str, str]] = {
    # name: (the default in words where Options says None, what the option changes)
    "step": ("", "a train step with AdamW, filling a KV cache, one token more, or logits alone"),
    "layers": ("as published", "decoder blocks"),
    "scan": ("", "one loop over stacked layers, or one copy of the block per layer"),
    "remat": ("", "what the backward pass recomputes: nothing, all but weight matmuls, all"),
    "dropout": ("", "rate after the embeddings, the attention and the MLP"),
    "tied": (
        "as published",
        "logits through the token embedding, or through a matrix of their own",
    ),
    "dtype": ("", "dtype of activations and of the KV cache"),
    "weights_dtype": ("", "dtype of weights"),
    "logits_dtype": ("", "dtype that logits are cast to before the loss"),
    "attention": ("", "jax.nn.dot_product_attention, or two einsums with a softmax between"),
    "moe": ("capacity", "experts take so many tokens and drop the rest, or take all that come"),
    "capacity_factor": ("1.25", "room of an expert over its even share of the tokens"),
    "loss": ("cross_entropy", "of next tokens, or of preferred over rejected sequences"),
    "accumulate": ("1", "parts of the batch whose gradients are summed before the update"),
    "lora": ("none", "rank of adapters on the attention; they are trained, all else is frozen"),
    "cache": ("as seq", "positions of the KV cache"),
    "vocab": ("as listed", "rows of the token embedding"),
    "batch": ("data * fsdp * expert * accumulate", "sequences per step over all devices"),
    "seq": ("as listed", "tokens per sequence; positions of the cache for a decode step"),
    "data": ("devices left over", "mesh axis that splits the batch alone"),
    "fsdp": ("all devices, as far as the width divides", "mesh axis that splits batch and weights"),
    "expert": ("1", "mesh axis that splits batch and experts, where there are experts"),
    "context": ("1", "mesh axis that splits sequences"),
    "tensor": ("1", "mesh axis that splits heads, MLP width and vocabulary"),
    "donate": ("", "whether the train state's or the cache's buffers are given to the step"),
}


def write(value: object) -> str:
    """Writes a value as a spec has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def option_help() -> Mapping[str, OptionHelp]:
    """Every option by name, in the order in which they are listed."""
    defaults = Options()
    table = {}
    for name, (words, meaning) in _MEANINGS.items():
        default = words or write(getattr(defaults, name))
        table[name] = OptionHelp(_KINDS[name].values, default, meaning)
    return MappingProxyType(table)


def parse(query: str, *, where: str) -> Options:
    """Reads `layers=4&scan=false`.

    Args:
      query: what follows `?`; empty for no options.
      where: the whole spec, for the error.

    Raises:
      HloscopeError: for an option or a value that does not exist, or an option given twice.
    """
    given: dict[str, Any] = {}
    for item in query.split("&") if query else ():
        name, _, text = item.partition("=")
        if name in given:
            raise HloscopeError(f"option '{name}' is given twice", where=where)
        given[name] = _parse_one(name, text, where)
    return Options(**given)


def _parse_one(name: str, text: str, where: str) -> bool | int | float | str:
    if name not in _KINDS:
        raise HloscopeError(f"unknown option '{name}'", where=where, remedy=_nearest(name))
    kind = _KINDS[name]
    try:
        value: bool | int | float | str = kind.parse(text)
    except (ValueError, KeyError):
        raise HloscopeError(
            f"option '{name}' cannot be '{text}'", where=where, remedy=f"{name} is {kind.values}"
        ) from None
    return value


def _nearest(name: str) -> str:
    close = difflib.get_close_matches(name, _KINDS, n=1)
    hint = f"{close[0]}=...; " if close else ""
    listing = "; ".join(f"{option}: {kind.values}" for option, kind in _KINDS.items())
    return f"{hint}options are {listing}"


assert set(_KINDS) == set(_MEANINGS) == {field.name for field in fields(Options)}  # noqa: S101
