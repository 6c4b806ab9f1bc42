"""Addresses of instructions, shared by everything after reading."""

from __future__ import annotations

from typing import NamedTuple


class Ref(NamedTuple):
    """An instruction of a module: positions in `Module.computations` and `.instructions`."""

    computation: int
    instruction: int
