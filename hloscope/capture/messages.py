"""What the parent and its compiler process tell each other through the folder between them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hloscope.model.capture import Depth, Leaf

T = TypeVar("T")

PROGRAM = "program.pickle"  # a pickled Program, where the request carries no spec
DUMP = "dump"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A revision to capture a program of.

    Attributes:
      repository: its top folder.
      commit: full hash.
      name: what the user calls the revision.
      tree: where its files go, a path that does not exist yet.
      inside: the user's folder under the top folder.
    """

    repository: str
    commit: str
    name: str
    tree: str
    inside: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to capture.

    Attributes:
      program: the spec, or the name of the program in `PROGRAM`.
      pickled: whether the program is in `PROGRAM`.
      path: the parent's `sys.path`.
      source_prefixes: pattern of the prefixes that source locations are shown without.
      xla_flags: compile options that the user asked for.
      checkout: the revision that the program is of, `None` for the files as they are.
      recompile: the module to compile, where there is no program to trace.
    """

    program: str
    pickled: bool
    target: str
    depth: Depth
    xla_flags: Mapping[str, str]
    path: tuple[str, ...]
    source_prefixes: str
    checkout: Checkout | None = None
    recompile: Recompile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """What is known before the compiler runs; the field names are those of `Provenance`.

    Attributes:
      module: name of the StableHLO module, which names the dump's files.
      devices: ids of the devices compiled for, in the order of the device assignment.
      jit_options: compile options that the program itself gives `jax.jit`.
    """

    module: str
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    devices: tuple[int, ...]
    jit_options: Mapping[str, str]
    versions: Mapping[str, str]
    jax_config: Mapping[str, str]
    ambient_mesh: Mapping[str, int] | None
    ambient_mesh_from: str | None
    axis_rules: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    git_revision: str | None
    git_dirty: bool | None
    options: Mapping[str, str]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompile:
    """A module that a capture holds, edited or not.

    Attributes:
      stablehlo: MLIR bytecode.
      options: a serialized `CompileOptionsProto`, without the dump's.
      known: what the capture knows; the versions and the module's name are filled in anew.
    """

    stablehlo: bytes
    options: bytes
    known: Lowered


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Work that is no capture.

    Attributes:
      task: the function that does it, `package.module:function`.
      arguments: what it is called with.
      path: the parent's `sys.path`.
    """

    task: str
    arguments: tuple[Any, ...]
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an errand gave."""

    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What a compile that ran to its end adds.

    Attributes:
      memory: fields of `memory_analysis()`, bytes; `None` where the backend has none.
      cost: `cost_analysis()`; `None` where the backend has none.
      out_of_memory: the compiler's refusal of a program that does not fit.
    """

    memory: Mapping[str, int] | None = None
    cost: Mapping[str, float] | None = None
    out_of_memory: str | None = None
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The `HloscopeError` that ended the compiler process."""

    problem: str
    where: str | None
    remedy: str | None


def leave(folder: Path, message: object) -> None:
    """Leaves a message for the other process; whole or not at all."""
    path = _path(folder, type(message))
    between = path.with_suffix(".part")
    between.write_bytes(pickle.dumps(message))
    between.replace(path)


def pick_up(folder: Path, kind: type[T]) -> T | None:
    """The message of this kind, `None` where there is none."""
    try:
        data = _path(folder, kind).read_bytes()
    except FileNotFoundError:
        return None
    message = pickle.loads(data)  # noqa: S301 - the two processes trust each other
    assert isinstance(message, kind)  # noqa: S101
    return message


def _path(folder: Path, kind: type) -> Path:
    return folder / f"{kind.__name__.lower()}.pickle"
