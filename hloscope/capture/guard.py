"""Stands between a capture and its compiler, so that neither outlives the capture.

Runs as a script of its own with nothing but the standard library. It makes the temporary folder,
starts the compiler in a process group of its own, and once its standard input ends - because the
capture is over, failed or was killed - it kills that group and removes the folder.

Lines in: a JSON object `{"command": [...], "environment": {...}, "remove": [...]}`, then `stop`
(kill the compiler, keep the folder) or any other line, handed on to the compiler. What `remove`
names, made by the command elsewhere, goes with the folder, and so does what then is empty around
it.
Lines out, as JSON: `{"event": "ready", "folder": ...}`, whatever the compiler writes to standard
output, and `{"event": "ended", "code": ..., "peak_memory": bytes}`, the code negative for a signal.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

# a forked copy of the parent may hold the pipe open after the parent is gone
_PARENT_CHECK_SECONDS = 1.0
_REMOVAL_TRIES = 20


class _Compiler:
    """The compiler's process group; killing it is safe at any time and from any thread."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path) -> None:
        with (folder / "stderr.txt").open("wb") as stderr:
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stderr=stderr, process_group=0
            )
        self._lock = threading.Lock()
        self._reaped = False
        self._waiter = threading.Thread(target=self._wait)
        self._waiter.start()

    def kill(self) -> None:
        with self._lock:
            if not self._reaped:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._waiter.join()

    def tell(self, line: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it was opened as a pipe
        # where it ended, the waiter reports that
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _wait(self) -> None:
        pid = self._process.pid
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            # whatever the program started goes too; the group's name is ours until we reap
            os.killpg(pid, signal.SIGKILL)
            _, status, usage = os.wait4(pid, 0)
            self._reaped = True
        code = os.waitstatus_to_exitcode(status)
        # kilobytes, except on macOS
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        _say({"event": "ended", "code": code, "peak_memory": peak})


def _say(event: dict[str, object]) -> None:
    # where nobody listens any more, standard input ends as well
    with contextlib.suppress(OSError):
        # one write, so that lines of two processes do not mix
        os.write(1, json.dumps(event).encode() + b"\n")


def _commands(parent: int) -> Iterator[bytes]:
    """Lines of standard input until it ends or the parent is gone."""
    pending = b""
    while True:
        ready, _, _ = select.select([0], [], [], _PARENT_CHECK_SECONDS)
        if os.getppid() != parent:
            return
        if ready:
            data = os.read(0, 65536)
            if not data:
                return
            *lines, pending = (pending + data).split(b"\n")
            yield from lines


def _serve(folder: Path, parent: int, others: list[Path]) -> None:
    compiler: _Compiler | None = None
    try:
        for line in _commands(parent):
            if compiler is None:
                start = json.loads(line)
                others += map(Path, start["remove"])
                compiler = _Compiler(start["command"], start["environment"], folder)
            elif line == b"stop":
                compiler.kill()
            else:
                compiler.tell(line + b"\n")
    finally:
        if compiler is not None:
            compiler.kill()


def _remove(folder: Path) -> None:
    for _ in range(_REMOVAL_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def main() -> None:
    """Serves one capture."""
    parent = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        folder = Path(tempfile.mkdtemp(prefix="hloscope-"))
    except OSError as error:
        _say({"event": "refused", "reason": f"{tempfile.gettempdir()}: {error.strerror}"})
        return
    others: list[Path] = []
    try:
        _say({"event": "ready", "folder": str(folder)})
        _serve(folder, parent, others)
    finally:
        _remove(folder)
        for other in others:
            _remove(other)
            with contextlib.suppress(OSError):  # others may have something there
                other.parent.rmdir()


if __name__ == "__main__":
    main()
