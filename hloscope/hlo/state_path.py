"""State paths: one spelling for what Linen, NNX and plain pytrees call the same leaf."""

from __future__ import annotations

import re
from functools import lru_cache

# one step of a tree path: ['key'], ["key"], [3], .field, or a bare word at the start
_STEP = re.compile(
    r"""\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\]'"]*))\s*\]|\.?([^.\[\]\s/]+)"""
)
_NUMBERED = re.compile(r"(.*[A-Za-z])_(\d+)$")
# wrappers that hold a whole state; what they hold is what is named
_STATE = frozenset({"state", "train_state", "model_state", "nnx_state", "graphstate"})
_MODEL = frozenset({"model", "module", "graph", "nnx_model"})
# what Linen calls the collection of trainable parameters
_PARAMS = frozenset({"params", "param"})
# what a variable keeps its array under
_VALUE = frozenset({"value", "raw_value", "_value", "get_value()"})
_OPTIMIZER = frozenset({"optimizer", "opt", "tx"})
_ARGUMENTS = frozenset({"args", "kwargs"})
_RNG = frozenset({"rngs", "rng"})


@lru_cache(maxsize=65536)  # every stage asks again for the leaves of a side
def state_path(text: str) -> tuple[str, ...]:
    """The canonical path of a leaf, equal for Linen and NNX states of the same model.

    `state.params['params']['decoder']['kernel']`, `[0].params['params']['decoder']['kernel']`,
    `state['model']['decoder']['kernel'].value` and `model.decoder.kernel.value` all become
    `("decoder", "kernel")`; `state.opt_state[0].mu['params']['decoder']['kernel']` and
    `['optimizer']['opt_state']['mu']['decoder']['kernel'].value` become
    `("opt_state", "mu", "decoder", "kernel")`.

    Args:
      text: a path as `jax.tree_util.keystr` writes it, or an entry parameter's op_name.

    Returns:
      The steps; empty where the text is no path (an op_name such as `jit(f)/add`).
    """
    steps = _steps(text)
    if not steps:
        return ()
    return tuple(_canonical(steps)) or (steps[-1],)


def _steps(text: str) -> list[str]:
    # XLA's text escapes quotes inside op_name
    text = text.strip().replace("\\'", "'").replace('\\"', '"')
    if not text or "/" in re.sub(r"\[[^\]]*\]", "", text) or "(" in text.split("[")[0]:
        return []
    steps, end = [], 0
    for match in _STEP.finditer(text):
        if match.start() != end:
            return []
        end = match.end()
        steps.append(next(group for group in match.groups() if group is not None))
    return steps if end == len(text) else []


def _canonical(steps: list[str]) -> list[str]:
    steps = _without_argument(steps)
    while len(steps) > 1 and steps[-1] in _VALUE:
        steps = steps[:-1]
    while len(steps) > 1 and steps[0] in _STATE:
        steps = steps[1:]
    if len(steps) > 1 and steps[0] in _OPTIMIZER | _MODEL:
        steps = steps[1:]
    return _without_collections(steps)


def _without_argument(steps: list[str]) -> list[str]:
    """Drops `args[0]` and a leading position: which argument it is, is no part of its name."""
    if len(steps) > 2 and steps[0] in _ARGUMENTS:
        steps = steps[1:]
    if len(steps) > 1 and steps[0].isdigit():
        steps = steps[1:]
    return steps


def _without_collections(steps: list[str]) -> list[str]:
    """Drops `params` where it names the collection, and the first place in an optimizer's chain.

    `layers_0` is taken apart into `layers`, `0`: NNX keeps such submodules in a list.
    """
    kept: list[str] = []
    inside_rngs = False
    for position, step in enumerate(steps):
        last = position == len(steps) - 1
        if step in _PARAMS and not inside_rngs and not last:
            continue
        if step == "0" and steps[0] == "opt_state" and position < 3:
            continue
        inside_rngs = inside_rngs or step in _RNG
        numbered = _NUMBERED.match(step)
        kept.extend(numbered.groups() if numbered else (step,))
    return kept
