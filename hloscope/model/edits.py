"""What a probe asks of a program as the compiler is given it, and what it changed there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class LeafPair(NamedTuple):
    """An input or output that both sides have.

    Attributes:
      lhs: entry parameter of lhs, or place among its results.
      rhs: the same of rhs.
      name: what reports call it.
    """

    lhs: int
    rhs: int
    name: str


class Operation(NamedTuple):
    """An operation of a StableHLO module.

    Attributes:
      text: the operation in one line, without operands' names and locations.
      source: `file:line`, `""` where the module does not say.
      function: name of the function that holds it.
    """

    text: str
    source: str
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProgram:
    """A StableHLO module as far as it is looked at outside the process that reads it.

    Attributes:
      operations: in program order; the place is the operation's number.
      hlo: `HloModuleProto` of the module, with the number of the operation that each instruction
        comes from in its frontend attribute `hloscope`.
    """

    operations: tuple[Operation, ...]
    hlo: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPlan:
    """What the probes have to go by.

    Attributes:
      arguments: inputs that both sides have.
      outputs: outputs that both sides have.
      operations: number of an operation of lhs to that of its counterpart.
      probes: sets of probes, each applied to an rhs of its own.
    """

    arguments: tuple[LeafPair, ...]
    outputs: tuple[LeafPair, ...]
    operations: Mapping[int, int]
    probes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """rhs after a set of probes.

    Attributes:
      stablehlo: MLIR bytecode; empty where nothing was edited.
      options: a serialized `CompileOptionsProto`.
      done: what was edited, one line each.
      skipped: what the probe looked at and could not edit, with the reason.
      arguments: inputs (lhs parameter, rhs parameter) that were edited, by probe.
      outputs: likewise.
      dropped: results of rhs that are gone.
      problem: why the edited module is no valid one; empty where it is.
    """

    stablehlo: bytes
    options: bytes
    done: tuple[str, ...]
    skipped: tuple[str, ...]
    arguments: Mapping[str, tuple[LeafPair, ...]]
    outputs: Mapping[str, tuple[LeafPair, ...]]
    dropped: tuple[int, ...]
    problem: str = ""
