"""What goes on, on one line of standard error; nothing where that is no terminal."""

from __future__ import annotations

import shutil
import sys
from threading import Lock
from types import TracebackType

import click

# depth hlo ends with 'compile'; reading and packing are quick
STEPS = {
    "environment": "making an environment",
    "resolve": "choosing packages",
    "install": "installing packages",
    "checkout": "checking the revision out",
    "start": "loading JAX and the compiler",
    "program": "making the program",
    "trace": "tracing",
    "lower": "lowering to StableHLO",
    "compile": "compiling",
    "read": "reading the dump",
}


class Progress:
    """The steps that several sides are at; cleared when the `with` block ends."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._at: dict[str, str] = {}
        self._lock = Lock()

    def show(self, side: str, step: str) -> None:
        """Tells that a side has begun a step; may be called from any thread."""
        with self._lock:
            self._at[side] = STEPS.get(step, step)
            self._write(", ".join(f"{name}: {doing}" for name, doing in self._at.items()))

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"\r\x1b[2K{text[:width]}", nl=False, err=True)
