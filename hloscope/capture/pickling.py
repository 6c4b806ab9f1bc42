"""Sending a program from the user's process to the compiler's."""

from __future__ import annotations

import importlib
import io
import pickle
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import CodeType
from typing import Any

import cloudpickle
import jax
import numpy as np
from jax.sharding import NamedSharding

from hloscope.capture.jax_private import stages
from hloscope.errors import HloscopeError
from hloscope.model.program import Program

# where IPython's kernel pretends that cells are files; the number is the process's
_NOTEBOOK = re.compile(r"^.*/ipykernel_\d+/")

# the target's devices by id, in the compiler process
_devices: dict[int, Any] = {}


def dump_program(program: Program) -> bytes:
    """Pickles a program; functions of `__main__` and notebooks go by value.

    Arrays go as shapes. Devices go as their ids, and arrive as the target's devices of those ids.

    Raises:
      HloscopeError: something that the program refers to cannot be pickled.
    """
    args, kwargs = jax.tree_util.tree_map(_shape, (program.args, dict(program.kwargs)))
    written = io.BytesIO()
    try:
        _Pickler(written).dump(replace(program, args=args, kwargs=kwargs))
    except Exception as error:  # pickling runs any object's own code
        said = f"{type(error).__name__}: {error}"
        raise HloscopeError(
            f"the program cannot be sent to the compiler process: {said}",
            where=program.name or None,
            remedy="capture 'package.module:factory', which makes the program there",
        ) from error
    return written.getvalue()


def load_program(data: bytes, devices: Sequence[Any]) -> Program:
    """The program that `dump_program` wrote, over these devices."""
    _devices.clear()
    _devices.update({device.id: device for device in devices})
    program = pickle.loads(data)  # noqa: S301 - the user's own process wrote it
    assert isinstance(program, Program)  # noqa: S101
    return program


def _shape(leaf: Any) -> Any:
    if not isinstance(leaf, jax.Array | np.ndarray):
        return leaf
    sharding = getattr(leaf, "sharding", None)
    return stages.shape_of(leaf, sharding if isinstance(sharding, NamedSharding) else None)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, jax.Device):
            return _device, (obj.id,)
        if isinstance(obj, CodeType):
            # cloudpickle forgets the file, and with it every source line of the capture
            make, args = self.dispatch_table[CodeType](obj)
            return _code, (_NOTEBOOK.sub("<notebook>/", obj.co_filename), make, args)
        if type(obj).__name__ == "PjitFunction":
            return _reduce_jitted(obj)
        return super().reducer_override(obj)


def _code(filename: str, make: Callable[..., CodeType], args: tuple[Any, ...]) -> CodeType:
    return make(*args).replace(co_filename=filename)


def _device(number: int) -> Any:
    if number not in _devices:
        raise HloscopeError(
            f"the program uses device {number}; the target has {len(_devices)}",
            remedy="make the mesh smaller or the target larger",
        )
    return _devices[number]


def _reduce_jitted(jitted: Any) -> tuple[Any, ...]:
    """Says how to make a `jax.jit` function again, which cannot be pickled itself."""
    module, name = jitted.__module__, jitted.__qualname__
    if module != "__main__" and _attribute(sys.modules.get(module), name) is jitted:
        return _named, (module, name)
    return _jitted, stages.jit_arguments(jitted)


def _attribute(value: Any, name: str) -> Any:
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _named(module: str, name: str) -> Any:
    return _attribute(importlib.import_module(module), name)


def _jitted(function: Any, options: Mapping[str, Any]) -> Any:
    return jax.jit(function, **options)
