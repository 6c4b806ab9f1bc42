"""Signals as a shell in a terminal leaves them; `nohup` and `&` have some ignored."""

from __future__ import annotations

import os
import signal
import sys


def restore() -> None:
    """Undoes what was inherited; as a `preexec_fn` only where no JAX is loaded, as it forks."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def restored(command: list[str]) -> list[str]:
    """The command, started by a process that restores the signals first."""
    return [sys.executable, __file__, *command]


if __name__ == "__main__":
    restore()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the test's own command
