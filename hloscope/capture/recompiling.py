"""A compile of a StableHLO module that is at hand; runs in the compiler process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from jaxlib.mlir import ir

from hloscope.capture import provenance
from hloscope.capture.edits.performing import parse
from hloscope.capture.jax_private import modules, stages
from hloscope.capture.messages import DUMP, Compiled, Lowered, Recompile, Request
from hloscope.capture.steps import Steps
from hloscope.capture.targets import parse_target, target_devices
from hloscope.errors import HloscopeError
from hloscope.model.capture import Depth, PayloadName


class Recompilation:
    """One compile without the program's own code; `lower` comes before `compile`."""

    def __init__(self, request: Request, recompile: Recompile, folder: Path, steps: Steps) -> None:
        """Makes the target's devices.

        Raises:
          HloscopeError: the target is unknown or its toolchain is not installed.
        """
        self._request = request
        self._recompile = recompile
        self._folder = folder
        self._steps = steps
        self._target = parse_target(request.target)
        self._devices = {device.id: device for device in target_devices(self._target)}

    def lower(self) -> Lowered:
        """What is known before the compiler runs, with the versions that are installed here.

        Raises:
          HloscopeError: the module cannot be read here.
        """
        (self._folder / PayloadName.STABLEHLO).write_bytes(self._recompile.stablehlo)
        with modules.context():
            module = parse(self._recompile.stablehlo).module
            name = ir.StringAttr(module.operation.attributes["sym_name"]).value
        options = modules.options_of(self._recompile.options)
        known = self._recompile.known
        versions = {**known.versions, **provenance.versions(self._target.chip.platform)}
        return replace(
            known,
            module=name,
            devices=modules.assigned(options),
            versions=versions,
            seconds=dict(self._steps.seconds),
        )

    def compile(self) -> Compiled:
        """Compiles, with XLA's dump in the folder.

        Raises:
          HloscopeError: the compiler refuses the module.
        """
        (self._folder / PayloadName.COMPILE_OPTIONS).write_bytes(self._recompile.options)
        options = modules.options_of(self._recompile.options)
        modules.set_overrides(options, {**modules.overrides(options), **self._dump_options()})
        devices = [self._device(number) for number in modules.assigned(options)]
        executable: Any = None
        said = ""
        with modules.context(), self._steps.step("compile"):
            module = parse(self._recompile.stablehlo).module
            try:
                executable = modules.compile_module(module, devices, options)
            except Exception as error:  # XLA raises its own types, JAX others
                said = str(error)
                if "RESOURCE_EXHAUSTED" not in said:
                    raise HloscopeError(f"did not compile: {_first_lines(said)}") from error
        return Compiled(
            memory=None if executable is None else stages.memory_analysis(executable),
            cost=None if executable is None else stages.cost_analysis(executable),
            out_of_memory=said or None,
            seconds=self._steps.seconds["compile"],
        )

    def _device(self, number: int) -> Any:
        if number not in self._devices:
            raise HloscopeError(
                f"the program uses device {number}; the target has {len(self._devices)}"
            )
        return self._devices[number]

    def _dump_options(self) -> dict[str, str | bool]:
        options: dict[str, str | bool] = {
            "xla_dump_to": str(self._folder / DUMP),
            "xla_dump_hlo_as_proto": True,
            "xla_dump_hlo_as_text": True,
        }
        if self._request.depth is Depth.PASSES:
            options |= {"xla_dump_hlo_pass_re": ".*"}
        return options


def _first_lines(said: str, most: int = 3) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return " ".join(lines[:most])
