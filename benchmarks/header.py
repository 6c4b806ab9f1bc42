"""Edits the texts of module attributes that speak of parameters by number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_OPEN, _CLOSE = "([{", ")]}"


def split_list(text: str) -> list[str]:
    """Splits `a, b{1,0}, (c, d)` at its top-level commas."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def split_layout(text: str) -> tuple[list[str], str]:
    """Parameters and result of an `entry_computation_layout` such as `{(f32[2]{0})->f32[]}`."""
    inside = text.strip()[1:-1]
    depth = 0
    for position, character in enumerate(inside):
        depth += (character in _OPEN) - (character in _CLOSE)
        if depth == 0:
            arguments, result = inside[1:position], inside[position + 1 :].lstrip()
            return split_list(arguments), result.removeprefix("->").strip()
    raise ValueError(f"'{text}' is not an entry computation layout")


def join_layout(parameters: Sequence[str], result: str) -> str:
    """The inverse of `split_layout`."""
    return "{(" + ", ".join(parameters) + ")->" + result + "}"


def permute_layout(text: str, new_place: Sequence[int]) -> str:
    """Moves parameter i of an entry computation layout to `new_place[i]`."""
    parameters, result = split_layout(text)
    return join_layout(move(parameters, new_place), result)


def permute_layout_result(text: str, new_place: Sequence[int]) -> str:
    """Moves element i of the result tuple to `new_place[i]`."""
    parameters, result = split_layout(text)
    elements = split_list(result.strip()[1:-1])
    return join_layout(parameters, "(" + ", ".join(move(elements, new_place)) + ")")


def alias_entries(text: str) -> list[str]:
    """Entries of an `input_output_alias` or `buffer_donor` text."""
    return split_list(text.strip()[1:-1])


def join_entries(entries: Sequence[str]) -> str:
    """The inverse of `alias_entries`."""
    return "{ " + ", ".join(entries) + " }"


def renumber_parameters(text: str, new_place: Sequence[int]) -> str:
    """Renumbers the parameters in an alias or donor text: `(3, {}` is parameter 3."""
    return _renumber(text, r"\(\s*(\d+)", lambda old: f"({new_place[old]}")


def renumber_outputs(text: str, new_place: Sequence[int]) -> str:
    """Renumbers the outputs in an alias text: `{3, 0}: (` is element 0 of output 3."""
    return _renumber(text, r"\{\s*(\d+)(?=[\d,\s]*\}:)", lambda old: f"{{{new_place[old]}")


def move(items: Sequence[str], new_place: Sequence[int]) -> list[str]:
    """Item i at place `new_place[i]`."""
    moved = list(items)
    for item, place in zip(items, new_place, strict=True):
        moved[place] = item
    return moved


def _renumber(text: str, pattern: str, replacement: Callable[[int], str]) -> str:
    entries = [
        re.sub(pattern, lambda match: replacement(int(match[1])), entry, count=1)
        for entry in alias_entries(text)
    ]
    # XLA prints aliases in the order of outputs, donors in the order of parameters
    return join_entries(sorted(entries, key=_numbers))


def _numbers(entry: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", entry)]
