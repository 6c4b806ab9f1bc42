"""The parent's hold on the process that compiles."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from hloscope.errors import HloscopeError

Event = Mapping[str, Any]

_GUARD = Path(__file__).with_name("guard.py")


class Child:
    """A compiler process with a folder of its own; both are gone when the block is left."""

    def __init__(self) -> None:
        # isolated and without site-packages: the guard needs neither, and starts in 20 ms
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._guard.stdin is not None  # noqa: S101 - opened as pipes
        assert self._guard.stdout is not None  # noqa: S101
        self._commands = self._guard.stdin
        self._events = self._guard.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._events, selectors.EVENT_READ)
        self._pending = b""
        self.folder = Path()
        self._remove: tuple[Path, ...] = ()

    def __enter__(self) -> Child:
        try:
            self.folder = self._await_folder()
        except BaseException:
            self._close()
            raise
        return self

    def _await_folder(self) -> Path:
        while not (events := self.events(timeout=1.0)):
            pass
        if events[0]["event"] == "ready":
            return Path(events[0]["folder"])
        reason = events[0].get("reason", "the guard process ended")
        raise HloscopeError(
            f"cannot make a temporary folder: {reason}",
            remedy="free space there, or set TMPDIR to a folder with space",
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        remove: Sequence[Path] = (),
    ) -> None:
        """Starts the compiler.

        Args:
          command: its command line.
          environment: its variables.
          remove: folders outside of ours that the command may make, gone too when the block is
            left.
        """
        self._remove = tuple(remove)
        told = {
            "command": list(command),
            "environment": dict(environment),
            "remove": list(map(str, remove)),
        }
        self._send(json.dumps(told))

    def tell(self, line: str) -> None:
        """Writes one line to the compiler's standard input."""
        self._send(line)

    def stop(self) -> None:
        """Kills the compiler; the folder stays until the block is left."""
        self._send("stop")

    def events(self, *, timeout: float) -> list[Event]:
        """What the child said within `timeout` seconds; `guard lost` where the guard is gone."""
        if not self._selector.select(timeout):
            # something that the compiler started may hold the pipe open after the guard is gone
            return [] if self._guard.poll() is None else [{"event": "guard lost"}]
        data = os.read(self._events.fileno(), 65536)
        if not data:
            return [{"event": "guard lost"}]
        *lines, self._pending = (self._pending + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def _send(self, line: str) -> None:
        # where the guard is gone, `events` reports it
        with contextlib.suppress(BrokenPipeError):
            self._commands.write(line.encode() + b"\n")
            self._commands.flush()

    def _close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._commands.close()
        self._guard.wait()
        self._selector.close()
        self._events.close()
        if self.folder != Path():
            # the guard did that, unless it was killed; the compiler died with it
            for folder in (self.folder, *self._remove):
                shutil.rmtree(folder, ignore_errors=True)
