"""Work that needs JAX or jaxlib and no capture, done in a child process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hloscope.capture.child import Child, Event
from hloscope.capture.failures import child_died, folder_trouble, guard_lost, timed_out
from hloscope.capture.messages import Done, Errand, Failure, leave, pick_up
from hloscope.capture.session import worker_command
from hloscope.capture.taking import import_path
from hloscope.capture.targets.toolchain import toolchain
from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture, PayloadName
from hloscope.model.edits import Edited, EditPlan, ReadProgram
from hloscope.model.units import Missing

_POLL_SECONDS = 0.03
_EDITS = "hloscope.capture.edits.performing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrandOptions:
    """How an errand is run.

    Attributes:
      timeout: seconds at most, `None` for no limit.
      cancelled: once set, the errand ends with an error.
    """

    timeout: float | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)


def can_read_stablehlo() -> bool:
    """Whether jaxlib is installed, which reads StableHLO."""
    return toolchain("cpu").problem is None


def read_programs(
    captures: Sequence[Capture], options: ErrandOptions = ErrandOptions()
) -> tuple[ReadProgram, ...]:
    """The operations of each capture's StableHLO, and its HLO with their numbers.

    Raises:
      HloscopeError: jaxlib is missing or cannot read one, or a capture holds no StableHLO.
    """
    programs = [_payload(capture, PayloadName.STABLEHLO) for capture in captures]
    read: tuple[ReadProgram, ...] = _perform("read_programs", (programs,), options)
    return read


def edit(
    lhs: Capture, rhs: Capture, plan: EditPlan, options: ErrandOptions = ErrandOptions()
) -> tuple[Edited, ...]:
    """Rhs's program after each of the plan's sets of probes.

    Raises:
      HloscopeError: as `read_programs`.
    """
    names = (PayloadName.STABLEHLO, PayloadName.COMPILE_OPTIONS)
    sides = [tuple(_payload(capture, name) for name in names) for capture in (lhs, rhs)]
    edited: tuple[Edited, ...] = _perform("edit", (*sides, plan), options)
    return edited


def _payload(capture: Capture, name: str) -> bytes:
    if name not in capture.payloads:
        raise HloscopeError(
            f"capture of '{capture.program}' holds no '{name}'",
            remedy="capture the program again",
        )
    return capture.payloads[name]


def _perform(task: str, arguments: tuple[Any, ...], options: ErrandOptions) -> Any:
    if not can_read_stablehlo():
        raise HloscopeError(
            "jaxlib is not installed, which reads StableHLO", remedy="pip install jax"
        )
    return perform(f"{_EDITS}:{task}", arguments, options, phase="editing StableHLO")


def perform(
    task: str,
    arguments: tuple[Any, ...],
    options: ErrandOptions,
    *,
    phase: str,
    path: tuple[str, ...] | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Calls a function in a child process that is gone, with its folder, when this returns.

    Args:
      task: `package.module:function`, imported in the child.
      arguments: what it is called with; they and its result are pickled.
      options: how.
      phase: what errors say was being done.
      path: the child's `sys.path`, by default this process's.
      environment: variables that go over this process's.

    Raises:
      HloscopeError: the function raised one, or the process died or took too long.
    """
    try:
        with Child() as child:
            errand = Errand(task=task, arguments=arguments, path=path or import_path())
            leave(child.folder, errand)
            variables = {**os.environ, "JAX_PLATFORMS": "cpu", **environment}
            child.start(worker_command(child.folder), {**variables, "TMPDIR": str(child.folder)})
            _await_end(child, options, phase)
            done = pick_up(child.folder, Done)
            assert done is not None  # noqa: S101 - it is left before the process ends well
            return done.result
    except OSError as error:
        raise folder_trouble(error) from error


def _await_end(child: Child, options: ErrandOptions, phase: str) -> None:
    began = time.monotonic()
    while True:
        for event in child.events(timeout=_POLL_SECONDS):
            if event["event"] == "ended":
                return _raise_for_end(child, event, phase)
            if event["event"] == "guard lost":
                raise guard_lost(phase)
        if options.cancelled.is_set():
            raise HloscopeError(f"cancelled while {phase}")
        if options.timeout is not None and time.monotonic() - began > options.timeout:
            raise timed_out(options.timeout, phase)


def _raise_for_end(child: Child, ended: Event, phase: str) -> None:
    if (failure := pick_up(child.folder, Failure)) is not None:
        raise HloscopeError(failure.problem, where=failure.where, remedy=failure.remedy)
    if ended["code"] != 0:
        said = (child.folder / "stderr.txt").read_text(errors="replace")
        raise child_died(ended["code"], phase, said, Missing("not measured"))
