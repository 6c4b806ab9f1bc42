"""What an `op_name` says: the modules that an operation is in, the transforms around them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# `jvp(Decoder)`: a transform around a scope; names of the functions that jit and pmap were given
_CALL = re.compile(r"([A-Za-z_]\w*)\((.*)\)", re.DOTALL)
_COMPILED = frozenset({"jit", "pjit", "pmap", "xmap", "core_call", "closed_call"})
_TRANSFORMS = frozenset(
    {
        "jvp", "transpose", "vmap", "remat", "checkpoint", "rematted_computation", "while",
        "body", "cond", "scan", "shard_map", "custom_jvp_call", "custom_vjp_call",
        "custom_vjp_call_jaxpr", "branch_0_fun", "branch_1_fun", "eval_jaxpr", "shmap_body",
        "closed_call", "core_call", "pjit",
    }
)  # fmt: skip


class OpName(NamedTuple):
    """An `op_name` taken apart.

    Attributes:
      scopes: module and named scopes, outermost first.
      transforms: what is wrapped around them (`jit(step)`, `transpose`, `jvp`, `while`, `body`,
        `checkpoint`, ...), outermost first.
      primitive: the last part, the JAX primitive's name.
    """

    scopes: tuple[str, ...]
    transforms: tuple[str, ...]
    primitive: str


def scopes(op_name: str) -> tuple[str, ...]:
    """The module scopes of an `op_name`, outermost first, without transforms and primitive."""
    return parse_op_name(op_name).scopes


@lru_cache(maxsize=65536)
def parse_op_name(op_name: str) -> OpName:
    """Takes an `op_name` apart at the slashes that stand outside brackets.

    `jit(f)/transpose(jvp(Decoder))/layers/while/body/checkpoint/dot_general` is the primitive
    `dot_general` in the scopes `Decoder` and `layers`.
    """
    parts = split_path(op_name)
    found: list[str] = []
    transforms: list[str] = []
    for part in parts[:-1]:
        _take(part, found, transforms)
    return OpName(tuple(found), tuple(transforms), parts[-1] if parts else "")


def _take(part: str, found: list[str], transforms: list[str]) -> None:
    """Sorts one part into scopes and transforms; what a transform wraps is a scope again."""
    while match := _CALL.fullmatch(part):
        name, inner = match.groups()
        if name in _COMPILED:
            transforms.append(part)
            return
        if name not in _TRANSFORMS:
            break
        transforms.append(name)
        part = inner
    for scope in split_path(part) if "/" in part else [part]:
        if scope in _TRANSFORMS:
            transforms.append(scope)
        elif scope:
            found.append(scope)


def split_path(path: str) -> list[str]:
    """The parts of a path between slashes outside brackets and quotes; empty ones dropped."""
    if "(" not in path and "[" not in path:
        return [part for part in path.split("/") if part]
    parts: list[str] = []
    depth = start = 0
    for match in _MARK.finditer(path):
        mark = match[0]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(depth - 1, 0)
        elif depth == 0:
            parts.append(path[start : match.start()])
            start = match.end()
    parts.append(path[start:])
    return [part for part in parts if part]


_MARK = re.compile(r"[()\[\]{}/]")
