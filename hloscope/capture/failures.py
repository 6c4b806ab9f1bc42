"""What to tell the user when the compiler process does not deliver."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from hloscope.capture.standard_error import tail
from hloscope.errors import HloscopeError
from hloscope.model.units import Bytes, Maybe, Measured

_ENOUGH_SPACE = 2**20


def timed_out(seconds: float, phase: str) -> HloscopeError:
    """The time that the user allows is over."""
    return HloscopeError(
        f"capture took longer than {seconds:g} s; it was in the step '{phase}'",
        remedy="a longer --timeout, or --depth hlo, which skips code generation",
    )


def guard_lost(phase: str) -> HloscopeError:
    """The process that guards the compiler is gone, and the compiler with it."""
    return HloscopeError(
        f"the compiler process and its guard were killed in the step '{phase}'",
        remedy="run it again; where memory is short, capture one program at a time",
    )


def child_died(
    code: int, phase: str, standard_error: str, peak_memory: Maybe[Bytes]
) -> HloscopeError:
    """The compiler process ended with a signal or an exit code of its own."""
    said = tail(standard_error)
    memory = ""
    if isinstance(peak_memory, Measured):
        memory = f" after using {peak_memory.value / 2**30:.1f} GiB of memory"
    ending = f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with code {code}"
    problem = f"the compiler process {ending}{memory}, in the step '{phase}'"
    if said:
        problem += "; its last lines:\n    " + said.replace("\n", "\n    ")
    return HloscopeError(problem, remedy=_remedy(code, said))


def _signal_name(number: int) -> str:
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def _remedy(code: int, said: str) -> str:
    if "in XLA_FLAGS" in said:
        return "correct the environment variable XLA_FLAGS"
    if code == -signal.SIGKILL:
        return (
            "if nobody killed it, this machine ran out of memory: fewer layers, --depth hlo, "
            "or a machine with more"
        )
    return "run it again; if it dies again, the compiler cannot take this program"


def refuse_full_disk(folder: Path, enough: int = 1) -> None:
    """Ends a compile whose dump no longer fits on the disk; XLA itself goes on in silence.

    Args:
      folder: the compile's own folder.
      enough: bytes that have to be free.

    Raises:
      HloscopeError: fewer are.
    """
    if shutil.disk_usage(folder).free < enough:
        raise HloscopeError(
            f"no space left for the compiler's dump in '{folder.parent}'",
            remedy="free space there, or set TMPDIR to a folder with space",
        )


def folder_trouble(error: OSError) -> HloscopeError:
    """The folder shared with the compiler process cannot be written or read."""
    reason = (error.strerror or str(error)).lower()
    return HloscopeError(
        f"cannot use the temporary folder: {reason}",
        where=str(error.filename) if error.filename else None,
        remedy="free space there, or set TMPDIR to a folder with space",
    )


def nothing_dumped(folder: Path, refusal: str | None) -> HloscopeError:
    """The compile is over and its optimized HLO is not there, or not whole."""
    if refusal is not None:
        return HloscopeError(
            f"the compiler ran out of memory before it had optimized HLO: {refusal.strip()}",
            remedy="a smaller program or a larger target",
        )
    refuse_full_disk(folder, _ENOUGH_SPACE)
    return HloscopeError(
        "the compiler ended well and left no whole optimized HLO",
        remedy="run it again; if that persists, report it with the versions of jax and jaxlib",
    )
