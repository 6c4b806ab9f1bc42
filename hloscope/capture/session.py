"""One compile in a child process, watched until all that was asked for is there."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hloscope.capture.child import Child, Event
from hloscope.capture.dump import Dump
from hloscope.capture.failures import (
    child_died,
    guard_lost,
    nothing_dumped,
    refuse_full_disk,
    timed_out,
)
from hloscope.capture.messages import (
    DUMP,
    PROGRAM,
    Compiled,
    Failure,
    Lowered,
    Request,
    leave,
    pick_up,
)
from hloscope.capture.standard_error import compiler_warnings
from hloscope.errors import HloscopeError
from hloscope.model.capture import Depth, PayloadName
from hloscope.model.units import Bytes, Maybe, Measured, Missing

_PACKAGES = Path(__file__).parents[2]  # the folder that holds the hloscope package
_START = "import sys; sys.path.insert(0, {!r}); from hloscope.capture.worker import main; main()"
_POLL_SECONDS = 0.03

Progress = Callable[[str], None]


def worker_command(folder: Path, python: str = sys.executable) -> list[str]:
    """How the compiler process is started on a folder."""
    return [python, "-c", _START.format(str(_PACKAGES)), str(folder)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that a compile left.

    Attributes:
      compiled: `None` where the compile was stopped once its HLO was complete.
      payloads: by payload name.
      warnings: XLA's.
      peak_memory: of the compiler process.
      seconds: of each step, and `total`; a compile that was stopped counts until then.
    """

    lowered: Lowered
    compiled: Compiled | None
    payloads: Mapping[str, bytes]
    warnings: tuple[str, ...]
    peak_memory: Maybe[Bytes]
    seconds: Mapping[str, float]


class Session:
    """A child with the state of its compile; see `lower` and `compile`."""

    def __init__(
        self,
        child: Child,
        request: Request,
        *,
        platform: str,
        timeout: float | None,
        tell: Progress,
        cancelled: threading.Event,
    ) -> None:
        self._child = child
        self._request = request
        self._platform = platform
        self._timeout = timeout
        self._tell = tell
        self._cancelled = cancelled
        self._began = time.monotonic()
        self._phase = "start"
        self._lowered = False
        self._ended: Event | None = None

    def lower(
        self,
        program: bytes | None,
        environment: Mapping[str, str],
        *,
        python: str = sys.executable,
        remove: Sequence[Path] = (),
    ) -> tuple[Lowered, bytes]:
        """Starts the compiler process; what it says before it compiles, with the StableHLO.

        Args:
          program: the pickled program, `None` where the request has its spec.
          environment: the process's variables.
          python: the interpreter that it runs.
          remove: folders that the process may make outside of its own.

        Raises:
          HloscopeError: the program is at fault, or the process died or took too long.
        """
        if program is not None:
            (self._child.folder / PROGRAM).write_bytes(program)
        leave(self._child.folder, self._request)
        command = worker_command(self._child.folder, python)
        # log files of libtpu's go to TMPDIR, whatever it is told; here they vanish with the rest
        here = {**environment, "TMPDIR": str(self._child.folder)}
        self._child.start(command, here, remove=remove)
        while not self._lowered:
            self._advance()
            if self._ended is not None:
                self._raise_for_end()
        lowered = pick_up(self._child.folder, Lowered)
        assert lowered is not None  # noqa: S101 - it is left before it is announced
        return lowered, (self._child.folder / PayloadName.STABLEHLO).read_bytes()

    def compile(self, lowered: Lowered) -> Outcome:
        """Lets the compiler run as far as the request's depth needs.

        Raises:
          HloscopeError: the compiler failed, died or took too long.
        """
        dump = Dump(self._child.folder / DUMP, lowered.module)
        self._child.tell("go")
        began = time.monotonic()
        stopping = False
        while self._ended is None:
            self._advance()
            if not stopping and self._is_enough(dump):
                stopping = True
                self._child.stop()
            elif not stopping:
                refuse_full_disk(self._child.folder)
        if not stopping:
            self._raise_for_end()
        now = time.monotonic()
        seconds = {"compile": round(now - began, 3), "total": round(now - self._began, 3)}
        return self._collect(lowered, dump, seconds)

    def wait(self) -> None:
        """Lets a moment pass before `compile`.

        Raises:
          HloscopeError: the process died meanwhile, or the time is over.
        """
        self._advance()
        if self._ended is not None:
            self._raise_for_end()

    def _is_enough(self, dump: Dump) -> bool:
        return self._request.depth is not Depth.FULL and dump.is_complete(platform=self._platform)

    def _advance(self) -> None:
        for event in self._child.events(timeout=_POLL_SECONDS):
            match event:
                case {"event": "phase", "name": str(name)}:
                    self._phase = name
                    self._tell(name)
                case {"event": "lowered"}:
                    self._lowered = True
                case {"event": "ended"}:
                    self._ended = event
                case {"event": "guard lost"} if self._ended is None:
                    raise guard_lost(self._phase)
        if self._cancelled.is_set():
            raise HloscopeError(f"capture cancelled in the step '{self._phase}'")
        if self._timeout is not None and time.monotonic() - self._began > self._timeout:
            raise timed_out(self._timeout, self._phase)

    def _raise_for_end(self) -> None:
        """Raises what ended the process, unless it ended well."""
        assert self._ended is not None  # noqa: S101 - called once it ended
        if (failure := pick_up(self._child.folder, Failure)) is not None:
            raise HloscopeError(failure.problem, where=failure.where, remedy=failure.remedy)
        if self._ended["code"] != 0:
            raise child_died(
                self._ended["code"], self._phase, self._standard_error(), self._peak_memory()
            )

    def _collect(self, lowered: Lowered, dump: Dump, seconds: Mapping[str, float]) -> Outcome:
        self._tell("read")
        payloads = dump.payloads()
        compiled = pick_up(self._child.folder, Compiled)
        for name in (PayloadName.STABLEHLO, PayloadName.COMPILE_OPTIONS):
            payloads[name] = (self._child.folder / name).read_bytes()
        if not dump.has_optimized():
            refusal = compiled.out_of_memory if compiled is not None else None
            raise nothing_dumped(self._child.folder, refusal)
        return Outcome(
            lowered=lowered,
            compiled=compiled,
            payloads=payloads,
            warnings=compiler_warnings(self._standard_error()),
            peak_memory=self._peak_memory(),
            seconds={**lowered.seconds, **seconds},
        )

    def _standard_error(self) -> str:
        return (self._child.folder / "stderr.txt").read_text(errors="replace")

    def _peak_memory(self) -> Maybe[Bytes]:
        if self._ended is None:
            return Missing("the compiler process had not ended")
        return Measured(Bytes(self._ended["peak_memory"]))
