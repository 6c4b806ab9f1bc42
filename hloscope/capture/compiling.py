"""One compile, from the request to what the compiler said; runs in the compiler process."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hloscope.capture import leaves, pickling, provenance
from hloscope.capture.jax_private import stages
from hloscope.capture.lowering import Lowering, lower
from hloscope.capture.messages import DUMP, PROGRAM, Compiled, Lowered, Request
from hloscope.capture.program_loading import failed, load_program
from hloscope.capture.steps import Steps
from hloscope.capture.targets import default_compile_options, parse_target, target_devices
from hloscope.errors import HloscopeError
from hloscope.model.capture import Depth, PayloadName
from hloscope.model.program import Program

_UNKNOWN_FLAG = re.compile(r"No such compile option: '(?P<name>[^']*)'")
_WRONG_VALUE = re.compile(
    r"While setting option (?P<name>\w+), '(?P<value>.*)' is not a valid (?P<type>\w+) value"
)

# meant for the authors of a library, not for the users of a program
_NOT_FOR_USERS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


class Compilation:
    """One compile; `lower` comes before `compile`."""

    def __init__(self, request: Request, folder: Path, steps: Steps) -> None:
        """Makes the target's devices.

        Args:
          request: what to compile.
          folder: where payloads go.
          steps: the times so far.

        Raises:
          HloscopeError: the target is unknown or its toolchain is not installed.
        """
        self._request = request
        self._folder = folder
        self._steps = steps
        self._config = stages.config_values()
        stages.configure("jax_hlo_source_file_canonicalization_regex", request.source_prefixes)
        self._target = parse_target(request.target)
        self._devices = target_devices(self._target)
        self._lowered: Any = None

    def lower(self) -> Lowered:
        """Makes the program, traces and lowers it, and leaves the StableHLO in the folder.

        Raises:
          HloscopeError: the program is at fault.
        """
        with _warnings_seen() as seen:
            with self._steps.step("program"):
                program, source = self._program()
            lowering = lower(program, self._devices, self._steps)
        self._lowered = lowering.lowered
        module, bytecode = stages.stablehlo(lowering.lowered)
        (self._folder / PayloadName.STABLEHLO).write_bytes(bytecode)
        return self._describe(program, source, lowering, module, tuple(seen))

    def compile(self) -> Compiled:
        """Compiles, with XLA's dump in the folder.

        Raises:
          HloscopeError: the compiler refuses the program or a flag.
        """
        # a cached executable would leave no dump; the program itself may have turned it on
        stages.configure("jax_enable_compilation_cache", False)
        options = {**default_compile_options(self._target), **self._request.xla_flags}
        flags = {name: _flag(value) for name, value in options.items()}
        keep = (self._folder / PayloadName.COMPILE_OPTIONS).write_bytes
        executable = None
        said = ""
        with _warnings_seen() as seen, stages.compile_options_seen(keep):
            try:
                with self._steps.step("compile"):
                    executable = self._lowered.compile(
                        compiler_options={**flags, **self._dump_options()}
                    )
            except Exception as error:
                said = str(error)
                if "RESOURCE_EXHAUSTED" not in said:
                    raise _refusal(error, self._request) from error
        return Compiled(
            memory=None if executable is None else stages.memory_analysis(executable),
            cost=None if executable is None else stages.cost_analysis(executable),
            out_of_memory=said or None,
            warnings=tuple(seen),
            seconds=self._steps.seconds["compile"],
        )

    def _program(self) -> tuple[Program, Path | None]:
        if not self._request.pickled:
            return load_program(self._request.program, self._devices, self._request.checkout)
        try:
            data = (self._folder / PROGRAM).read_bytes()
            program = pickling.load_program(data, self._devices)
        except HloscopeError:
            raise
        except Exception as error:  # unpickling imports the user's modules
            raise failed("unpickling the program", error, self._request.program) from error
        return program, stages.source_file(program.function)

    def _describe(
        self,
        program: Program,
        source: Path | None,
        lowering: Lowering,
        module: str,
        seen: tuple[str, ...],
    ) -> Lowered:
        known = stages.facts(lowering.lowered)
        names = stages.argument_names(lowering.traced)
        revision, dirty = provenance.git_state(source)
        return Lowered(
            module=module,
            inputs=leaves.input_leaves(lowering.lowered, known, names),
            outputs=leaves.output_leaves(lowering.lowered, known),
            devices=known.devices,
            jit_options=known.jit_options,
            versions=provenance.versions(self._target.chip.platform),
            jax_config=provenance.config_changes(lowering.config, self._config),
            ambient_mesh=None if lowering.mesh is None else lowering.mesh[0],
            ambient_mesh_from=None if lowering.mesh is None else lowering.mesh[1],
            axis_rules=lowering.axis_rules,
            warnings=seen,
            git_revision=revision,
            git_dirty=dirty,
            options=dict(program.options),
            seconds=dict(self._steps.seconds),
        )

    def _dump_options(self) -> dict[str, str | bool]:
        options: dict[str, str | bool] = {
            "xla_dump_to": str(self._folder / DUMP),
            # the program may have narrowed it: MaxText does, to its train step
            "xla_dump_hlo_module_re": ".*",
            "xla_dump_hlo_as_proto": True,
            # live ranges and memory reports come as text alone
            "xla_dump_hlo_as_text": True,
        }
        if self._request.depth is Depth.PASSES:
            options |= {"xla_dump_hlo_pass_re": ".*"}
        return options


def _flag(value: str) -> str | bool:
    """XLA parses strings as the flag's type, booleans apart, which have to be Python's."""
    return value.lower() == "true" if value.lower() in ("true", "false") else value


def _refusal(error: Exception, request: Request) -> HloscopeError:
    said = str(error)
    if found := _UNKNOWN_FLAG.search(said):
        return HloscopeError(
            f"unknown XLA flag '{found['name']}'",
            where=f"--xla-flag {found['name']}",
            remedy=f"a flag that XLA has for {request.target}, without leading dashes",
        )
    if found := _WRONG_VALUE.search(said):
        return HloscopeError(
            f"'{found['value']}' is no {found['type']}, which the XLA flag '{found['name']}' takes",
            where=f"--xla-flag {found['name']}={found['value']}",
        )
    return failed(f"compiling for {request.target}", error, request.program)


@contextmanager
def _warnings_seen() -> Iterator[list[str]]:
    """Collects Python's warnings, and JAX's by logging, in the order of first sight."""
    seen: dict[str, None] = {}
    collected: list[str] = []
    handler = _Collector(seen)
    logging.getLogger("jax").addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield collected
    finally:
        logging.getLogger("jax").removeHandler(handler)
    for warning in caught:
        if not issubclass(warning.category, _NOT_FOR_USERS):
            seen.setdefault(f"{warning.category.__name__}: {warning.message}")
    collected += seen


class _Collector(logging.Handler):
    def __init__(self, seen: dict[str, None]) -> None:
        super().__init__(logging.WARNING)
        self._seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        self._seen.setdefault(f"{record.name}: {record.getMessage()}")
