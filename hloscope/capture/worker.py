"""The compiler process: trace, lower, compile, report.

Started by the guard with the folder that holds the request and receives all that the parent picks
up. Progress goes to standard output, one JSON object a line; the compile waits for a line on
standard input, which does not come where the parent finds the program in its cache.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hloscope.capture.checkout import check_out
from hloscope.capture.messages import Done, Errand, Failure, Request, leave, pick_up
from hloscope.capture.steps import Steps
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.capture.compiling import Compilation
    from hloscope.capture.recompiling import Recompilation

FAILED = 3
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Compiles what the request in the folder asks for."""
    folder = Path(sys.argv[1])
    _die_with_guard()
    channel = _claim_standard_output()
    code = 0
    try:
        if (errand := pick_up(folder, Errand)) is not None:
            _run(folder, errand)
        else:
            _capture(folder, channel)
    except HloscopeError as error:
        leave(folder, Failure(problem=error.problem, where=error.where, remedy=error.remedy))
        code = FAILED
    except OSError as error:  # the program's own come as a HloscopeError
        leave(folder, _trouble(error, folder))
        code = FAILED
    # what a program or XLA left running must not keep the process; nothing of ours is unwritten
    sys.stderr.flush()
    os._exit(code)


def _trouble(error: OSError, folder: Path) -> Failure:
    reason = (error.strerror or str(error)).lower()
    return Failure(
        problem=f"the compiler process cannot write to its folder: {reason}",
        where=str(folder.parent),
        remedy="free space there, or set TMPDIR to a folder with space",
    )


def _die_with_guard() -> None:
    guard = os.getppid()
    if sys.platform != "linux":
        return  # no other system can be asked; the guard itself has to be killed for it to matter
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != guard:
        os._exit(FAILED)  # it died before we asked to be told


def _claim_standard_output() -> BinaryIO:
    """Our own copy of standard output; what the program prints goes to standard error."""
    channel = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return channel


def _run(folder: Path, errand: Errand) -> None:
    sys.path[:] = errand.path
    module, _, function = errand.task.partition(":")
    leave(folder, Done(result=getattr(import_module(module), function)(*errand.arguments)))


def _capture(folder: Path, channel: BinaryIO) -> None:
    request = pick_up(folder, Request)
    assert request is not None  # noqa: S101 - the parent leaves it before it starts us

    def say(**event: object) -> None:
        channel.write(json.dumps(event).encode() + b"\n")

    steps = Steps(lambda name: say(event="phase", name=name))
    if request.checkout is not None:
        with steps.step("checkout"):
            check_out(request.checkout)
    sys.path[:] = request.path
    with steps.step("start"):
        # JAX is loaded here, once we are sure to die with the guard
        compilation = _compilation(request, folder, steps)
    leave(folder, compilation.lower())
    say(event="lowered")
    if sys.stdin.readline():
        leave(folder, compilation.compile())


def _compilation(request: Request, folder: Path, steps: Steps) -> Compilation | Recompilation:
    if request.recompile is not None:
        from hloscope.capture.recompiling import Recompilation

        return Recompilation(request, request.recompile, folder, steps)
    from hloscope.capture.compiling import Compilation

    return Compilation(request, folder, steps)
