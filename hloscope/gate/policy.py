"""A gate's configuration: `[tool.hloscope]` of pyproject.toml, or hloscope.toml."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from hloscope.errors import HloscopeError
from hloscope.gate.measuring import METRICS
from hloscope.model.gate import (
    Allowance,
    Direction,
    Gated,
    GraphBudget,
    Policy,
    ToolchainBudget,
    Waiver,
)
from hloscope.store.baselines import folder_of

T = TypeVar("T")

_DEFAULT = Allowance(relative=0.01)
# what is judged where the configuration names no budget
DEFAULT_BUDGETS: Mapping[str, Allowance] = dict.fromkeys(
    ("hbm-total", "hbm-temporaries", "hbm-arguments", "flops", "bytes", "sent"), _DEFAULT
)

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
          "kB": 10**3, "MB": 10**6, "GB": 10**9, "FLOP": 1, "MFLOP": 10**6, "GFLOP": 10**9,
          "TFLOP": 10**12, "s": 1}  # fmt: skip
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_PERCENT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")
_SECTION = ("tool", "hloscope")


def read_policy(text: str, file: str) -> Policy:
    """The policy of a configuration file.

    Args:
      text: the file's content; in one that has a `[tool]` table, `[tool.hloscope]` counts.
      file: its path, for messages.

    Raises:
      HloscopeError: the file is no TOML, or says something that a gate does not understand; it
        names the key.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HloscopeError(f"not TOML: {error}", where=file, remedy="correct the file") from None
    table = _Table(document, file, "")
    if file.endswith("pyproject.toml"):
        for key in _SECTION:
            table = table.table(key, others=True)
    return _policy(table, file)


def budgets_of(values: Mapping[str, object], place: str) -> dict[str, Allowance]:
    """Allowances of metrics as a configuration writes them; the default ones for none.

    Args:
      values: metric to `"1%"`, `"2 MiB"`, a number, or a table.
      place: what messages call the configuration.

    Raises:
      HloscopeError: there is no such metric, or a value is no allowance.
    """
    return _budgets(_Table(values, place, ""), {} if values else DEFAULT_BUDGETS)


class _Table:
    """A table of which every key has to be asked for."""

    def __init__(self, values: Mapping[str, Any], file: str, place: str) -> None:
        self.values = dict(values)
        self.file = file
        self.place = place

    def refuse(self, problem: str, remedy: str, key: str = "") -> HloscopeError:
        """An error that names file and key."""
        place = ".".join(part for part in (self.place, key) if part)
        where = f"{self.file}: {place}" if place else self.file
        return HloscopeError(problem, where=where, remedy=remedy)

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """A value of one type; the key is then done with."""
        value = self.values.pop(key, default)
        if value is None:
            raise self.refuse(f"'{key}' is missing", f"add {key} = ...")
        if not isinstance(value, kind) or isinstance(value, _MISTAKEN_FOR.get(kind, bool)):
            raise self.refuse(f"'{value}' is no {_NAMES.get(kind, kind.__name__)}", "", key)
        return value

    def table(self, key: str, *, others: bool = False) -> _Table:
        """A table inside this one, empty where there is none.

        Args:
          key: its name.
          others: whether this table's other keys are somebody else's.
        """
        inner = _Table(self.take(key, dict, {}), self.file, f"{self.place}.{key}".strip("."))
        if others:
            self.values.clear()
        return inner

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        found = self.take(key, list, [])
        if not all(isinstance(item, str) for item in found):
            raise self.refuse(f"{found} is not a list of strings", "", key)
        return tuple(found)

    def choice(self, key: str, make: Callable[[str], T], offered: str, default: str) -> T:
        """One of a few words."""
        value = self.take(key, str, default)
        try:
            return make(value)
        except ValueError:
            raise self.refuse(f"unknown {key} '{value}'", f"one of {offered}", key) from None

    def done(self) -> None:
        """Refuses what nobody asked for."""
        for key in self.values:
            raise self.refuse(f"unknown key '{key}'", "see docs/gate.md for what there is")


# what Python takes for a type and TOML does not: true for a number, a time of day for a date
_MISTAKEN_FOR: Mapping[type, type] = {bool: _Table, datetime.date: datetime.datetime}
_NAMES = {str: "string", dict: "table", list: "list", bool: "boolean", datetime.date: "date"}


def _policy(table: _Table, file: str) -> Policy:
    baselines = table.take("baselines", str, "baselines")
    series = table.take("series", bool, False)
    target = table.take("target", str, "")
    budgets = _budgets(table.table("budgets"), DEFAULT_BUDGETS)
    graph = _graph(table, GraphBudget.ANY)
    forbid = table.strings("forbid")
    toolchain = table.choice(
        "toolchain", ToolchainBudget, ", ".join(ToolchainBudget), ToolchainBudget.JUDGED
    )
    programs = table.table("programs")
    gated = tuple(
        replace(found, toolchain=toolchain)
        for name in list(programs.values)
        for found in _program(programs.table(name), name, target, budgets, graph, forbid)
    )
    waivers = tuple(
        _waiver(_Table(found, file, f"{table.place}.waivers[{number}]".strip(".")))
        for number, found in enumerate(table.take("waivers", list, []))
        if _is_table(table, found)
    )
    table.done()
    if not gated:
        raise table.refuse(
            "no program is gated", '[tool.hloscope.programs.NAME] with program = "package:factory"'
        )
    _check_folders(table, gated)
    return Policy(file=file, baselines=baselines, series=series, programs=gated, waivers=waivers)


def _check_folders(table: _Table, programs: Iterable[Gated]) -> None:
    """Refuses names and targets that one folder would be kept for twice, or none."""
    seen: dict[str, str] = {}
    for gated in programs:
        folder = folder_of(gated.name, gated.target)
        if not gated.name.strip("."):
            raise table.refuse(f"'{gated.name}' names no folder", "another name", "programs")
        if folder in seen:
            raise table.refuse(
                f"'{seen[folder]}' and '{gated.name}' would share the baseline folder '{folder}'",
                "another name, and each target once",
                "programs",
            )
        seen[folder] = gated.name


def _is_table(table: _Table, found: object) -> bool:
    if isinstance(found, dict):
        return True
    raise table.refuse(f"'{found}' is no table", "[[tool.hloscope.waivers]]", "waivers")


def _program(
    table: _Table,
    name: str,
    target: str,
    budgets: Mapping[str, Allowance],
    graph: GraphBudget,
    forbid: tuple[str, ...],
) -> list[Gated]:
    targets = table.strings("targets") or (table.take("target", str, target),)
    if not all(targets):
        raise table.refuse("no target", 'target = "cpu:8", here or for all programs')
    flags = table.table("xla_flags").values
    spec = table.take("program", str)
    own = {**budgets, **_budgets(table.table("budgets"), {})}
    chosen = _graph(table, graph)
    forbidden = (*forbid, *table.strings("forbid"))
    table.done()
    return [
        Gated(
            name=name,
            program=spec,
            target=each,
            budgets=own,
            graph=chosen,
            forbid=forbidden,
            xla_flags={key: _flag(value) for key, value in sorted(flags.items())},
        )
        for each in targets
    ]


def _flag(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _graph(table: _Table, default: GraphBudget) -> GraphBudget:
    return table.choice("graph", GraphBudget, ", ".join(GraphBudget), default)


def _budgets(table: _Table, default: Mapping[str, Allowance]) -> dict[str, Allowance]:
    found = dict(default)
    for name, value in table.values.items():
        if name not in METRICS and not name.startswith("sent."):
            raise table.refuse(f"unknown metric '{name}'", f"one of {', '.join(METRICS)}", name)
        if value is False:  # shown, not judged
            found.pop(name, None)
        else:
            found[name] = _allowance(table, name, value)
    return found


def _allowance(table: _Table, name: str, value: object) -> Allowance:
    """`"1%"`, `"2 MiB"`, `0`, or a table of `absolute`, `relative` and `worse`."""
    if not isinstance(value, dict):
        return Allowance(*_allowed(table, name, value))
    inner = _Table(value, table.file, f"{table.place}.{name}")
    absolute, _ = _allowed(inner, "absolute", inner.values.pop("absolute", 0))
    fraction, relative = _allowed(inner, "relative", inner.values.pop("relative", 0))
    worse = inner.choice("worse", _direction, "higher, lower", "higher")
    inner.done()
    return Allowance(absolute, relative or fraction, worse)


def _direction(word: str) -> Direction:
    return Direction(f"{word} is worse")


def _allowed(table: _Table, name: str, value: object) -> tuple[float, float]:
    """(absolute, relative) of one text or number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value), 0
    if isinstance(value, str):
        if match := _PERCENT.fullmatch(value):
            return 0, float(match[1]) / 100
        match = _QUANTITY.fullmatch(value)
        if match and match[2] in _UNITS:
            return float(match[1]) * _UNITS[match[2]], 0
    raise table.refuse(f"'{value}' is no allowance", '"1%", "2 MiB" or 0', name)


def _waiver(table: _Table) -> Waiver:
    waiver = Waiver(
        program=table.take("program", str),
        check=table.take("check", str),
        reason=table.take("reason", str),
        expires=table.take("expires", datetime.date),
    )
    table.done()
    if not waiver.reason.strip():
        raise table.refuse("the reason is empty", "say why it may fail", "reason")
    return waiver
