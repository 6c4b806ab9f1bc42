"""A sweep's file: the product of programs, stacks, options, targets, revisions and toolchains."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hloscope.errors import HloscopeError
from hloscope.model.sweep import Cell, Contrast, Plan

_AXES = ("programs", "stacks", "targets", "revisions", "toolchains")
_KEYS = ("output", "matrix", "contrast")
# the axis of each list, as rows and contrasts name it
_SINGULAR = {"programs": "program", "stacks": "stack", "targets": "target",
             "revisions": "revision", "toolchains": "toolchain"}  # fmt: skip
INSTALLED = "installed"


def read_plan(text: str, file: str) -> Plan:
    """The plan of a sweep's file.

    Args:
      text: its content.
      file: its path, for messages and for where the results go.

    Raises:
      HloscopeError: it is no TOML, or says something that a sweep does not understand.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HloscopeError(f"not TOML: {error}", where=file, remedy="correct the file") from None
    _known(document, _KEYS, file, "")
    matrix = document.get("matrix", {})
    if not isinstance(matrix, dict) or not matrix.get("programs") or not matrix.get("targets"):
        raise HloscopeError(
            "a sweep needs programs and targets", where=f"{file}: matrix",
            remedy='[matrix] with programs = ["gpt3-tiny"] and targets = ["cpu:8"]',
        )  # fmt: skip
    _known(matrix, (*_AXES, "options"), file, "matrix")
    cells = tuple(_cells(matrix, file))
    output = document.get("output", str(Path(file).with_suffix(".parquet").name))
    if not isinstance(output, str):
        raise HloscopeError(f"'{output}' is no path", where=f"{file}: output", remedy="a string")
    contrasts = tuple(_contrasts(document.get("contrast"), cells, file))
    return Plan(file=file, output=str(Path(file).parent / output), cells=cells, contrasts=contrasts)


def _known(table: Mapping[str, Any], keys: Sequence[str], file: str, place: str) -> None:
    for key in table:
        if key not in keys:
            raise HloscopeError(
                f"unknown key '{key}'",
                where=f"{file}: {place}" if place else file,
                remedy=f"one of {', '.join(keys)}",
            )


def _cells(matrix: Mapping[str, Any], file: str) -> Iterator[Cell]:
    lists = {
        "programs": _texts(matrix, "programs", file),
        "stacks": _texts(matrix, "stacks", file) or [""],
        "targets": _texts(matrix, "targets", file),
        "revisions": _texts(matrix, "revisions", file) or [""],
    }
    toolchains = {" ".join(packages): packages for packages in _toolchains(matrix, file)}
    options = _options(matrix.get("options", {}), file)
    names = ("program", "stack", *options, "target", "revision", "toolchain")
    product = itertools.product(
        lists["programs"], lists["stacks"], *options.values(), lists["targets"],
        lists["revisions"], toolchains,
    )  # fmt: skip
    for values in product:
        axes = dict(zip(names, values, strict=True))
        yield Cell(
            spec=_spec(axes, options),
            target=axes["target"],
            axes={axis: value for axis, value in axes.items() if value},
            packages=toolchains[axes["toolchain"]],
        )


def _spec(axes: Mapping[str, str], options: Iterable[str]) -> str:
    """`gpt3-tiny` and `nnx` are `gpt3-tiny:nnx`; a user's own factory takes the stack as option."""
    base, _, own = axes["program"].partition("?")
    given = dict(option.partition("=")[::2] for option in own.split("&") if option)
    if axes["stack"] and ":" not in base:
        base = f"{base}:{axes['stack']}"
    elif axes["stack"]:
        given["stack"] = axes["stack"]
    at = f"@{axes['revision']}" if axes["revision"] else ""
    given |= {name: axes[name] for name in options}
    query = "&".join(f"{name}={value}" for name, value in given.items())
    return f"{base}{f'?{query}' if query else ''}{at}"


def _texts(matrix: Mapping[str, Any], key: str, file: str) -> list[str]:
    found = matrix.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise HloscopeError(
            f"{found!r} is not a list of strings", where=f"{file}: matrix.{key}",
            remedy=f'{key} = ["..."]',
        )  # fmt: skip
    return found


def _toolchains(matrix: Mapping[str, Any], file: str) -> list[tuple[str, ...]]:
    """Each a list of requirements, or `"installed"`."""
    found = matrix.get("toolchains", [INSTALLED])
    if not isinstance(found, list):
        found = [found]
    chosen: list[tuple[str, ...]] = []
    for item in found:
        if item == INSTALLED:
            chosen.append(())
        elif isinstance(item, list) and all(isinstance(text, str) for text in item):
            chosen.append(tuple(item))
        else:
            raise HloscopeError(
                f"{item!r} is no toolchain", where=f"{file}: matrix.toolchains",
                remedy='toolchains = ["installed", ["jax==0.11.2"]]',
            )  # fmt: skip
    return chosen


def _options(table: object, file: str) -> dict[str, list[str]]:
    if not isinstance(table, dict):
        raise HloscopeError(f"{table!r} is no table", where=f"{file}: matrix.options",
                            remedy="[matrix.options] with layers = [2, 4]")  # fmt: skip
    for name in table:
        if name in _SINGULAR.values():
            raise HloscopeError(
                f"option '{name}' has the name of an axis",
                where=f"{file}: matrix.options",
                remedy="write it into the program",
            )
    return {
        name: [_text(value) for value in (values if isinstance(values, list) else [values])]
        for name, values in table.items()
    }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _contrasts(table: object, cells: Sequence[Cell], file: str) -> Iterator[Contrast]:
    if table is None:
        return
    where = f"{file}: contrast"
    remedy = '[contrast] with axis = "stack", lhs = "linen" and rhs = "nnx"'
    if not isinstance(table, dict) or sorted(table) != ["axis", "lhs", "rhs"]:
        raise HloscopeError("a contrast is of an axis, lhs and rhs", where=where, remedy=remedy)
    axis, lhs, rhs = (_text(table[key]) for key in ("axis", "lhs", "rhs"))
    axis = _SINGULAR.get(axis, axis)
    values = sorted({cell.axes[axis] for cell in cells if axis in cell.axes})
    for value in (lhs, rhs):
        if value not in values:
            offered = f"the axis has {', '.join(values)}" if values else "no cell has that axis"
            raise HloscopeError(f"no cell has {axis} '{value}'", where=where, remedy=offered)
    others = {_without(cell, axis): cell for cell in cells if cell.axes.get(axis) == rhs}
    for cell in cells:
        rest = _without(cell, axis)
        if cell.axes.get(axis) == lhs and rest in others:
            yield Contrast(lhs=cell, rhs=others[rest], axes=dict(rest))


def _without(cell: Cell, axis: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in cell.axes.items() if name != axis)
