"""Asking a child process whether two sides have parity."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hloscope.capture.errands import ErrandOptions, perform
from hloscope.capture.program_loading import check_spec
from hloscope.capture.taking import import_path
from hloscope.capture.targets import child_environment, parse_target, require_toolchain
from hloscope.errors import HloscopeError
from hloscope.model.parity import Parity
from hloscope.parity.ask import Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityOptions:
    """How parity is looked at.

    Attributes:
      target: `cpu:N`, what the programs run on; each gets N devices.
      tolerance: the most ulps that count as equal, `None` for what the dtype gives.
      seed: of the inputs.
      bound: integers of the inputs are below it.
      timeout: seconds that the whole may take, `None` for no limit.
      progress: told what is begun.
    """

    target: str = "cpu:1"
    tolerance: float | None = None
    seed: int = 0
    bound: int = 32
    timeout: float | None = None
    progress: Callable[[str], None] = lambda _: None


def compare_values(lhs: str, rhs: str, options: ParityOptions = ParityOptions()) -> Parity:
    """Compares the trees of two programs, and what both compute from equal inputs.

    Args:
      lhs: a program's spec, or the folder of an Orbax checkpoint.
      rhs: alike; one of the two is a program.
      options: how.

    Raises:
      HloscopeError: a side does not exist, does not trace or run, or takes too long.
    """
    target = parse_target(options.target)
    if target.chip.platform != "cpu":
        raise HloscopeError(
            f"target '{options.target}' is described and cannot run",
            where="--target",
            remedy="--target cpu:8; parity is looked at on this machine's CPU",
        )
    require_toolchain("cpu", options.target)
    folders = [side for side in (lhs, rhs) if Path(side).is_dir()]
    if len(folders) == 2:
        raise HloscopeError(
            "both sides are checkpoints, and a checkpoint computes nothing",
            where=f"{lhs}, {rhs}",
            remedy="give the program that one of them belongs to",
        )
    for side in (lhs, rhs):
        if side not in folders:
            check_spec(side)
    task = "compare_checkpoint" if folders else "compare_programs"
    options.progress("trees" if folders else "trace and run")
    ask = Ask(
        target=options.target,
        tolerance=options.tolerance,
        seed=options.seed,
        bound=options.bound,
    )
    parity: Parity = perform(
        f"hloscope.parity.running:{task}",
        (lhs, rhs, ask),
        ErrandOptions(timeout=options.timeout),
        phase="comparing",
        path=(str(Path.cwd()), *import_path()),
        environment=child_environment(target, os.environ),
    )
    return parity
