"""Making the program that a spec names; runs in the compiler process."""

from __future__ import annotations

import importlib
import importlib.machinery
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

from hloscope.capture.messages import Checkout
from hloscope.capture.module_origin import refuse_elsewhere
from hloscope.errors import HloscopeError
from hloscope.model.program import Program

_SPEC = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<factory>[A-Za-z_][\w.]*)(\?(?P<options>.*))?$")
_INTEGER = re.compile(r"[+-]?\d+$")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?$")

_MOST_LINES = 8  # JAX explains at length after it said what is wrong

Option = bool | int | float | str


def is_reference(spec: str) -> bool:
    """Whether a spec names a reference decoder rather than `package.module:factory`."""
    decoders = importlib.import_module("hloscope.decoders")
    head, _, rest = spec.partition(":")
    if is_maxtext(spec):
        return False
    if head in decoders.NAMES or not _SPEC.match(spec):
        return True
    # `gpt3-6:nnx` is a decoder mistyped, unless there is such a module
    return rest.partition("?")[0] in decoders.STACKS and not _exists(head.partition(".")[0])


def is_maxtext(spec: str) -> bool:
    """Whether a spec names a model of the user's own MaxText."""
    return spec.partition(":")[0] == "maxtext"


def check_spec(spec: str) -> None:
    """Refuses a spec that no program can have, before any process is started.

    Raises:
      HloscopeError: the spec names an unknown decoder, stack or option.
    """
    if is_maxtext(spec):
        importlib.import_module("hloscope.decoders.maxtext").parse_maxtext(spec)
    elif is_reference(spec):
        importlib.import_module("hloscope.decoders").parse_spec(spec)


def load_program(
    spec: str, devices: Sequence[Any], checkout: Checkout | None = None
) -> tuple[Program, Path | None]:
    """The program that a spec names, with the source file that made it.

    Args:
      spec: `gpt3-6b:nnx?layers=4` or `package.module:factory?option=value`, whose factory is
        called with the target's devices and the options.
      devices: the target's devices.
      checkout: the revision that it has to come from, `None` for the files as they are.

    Raises:
      HloscopeError: no such program, or its factory failed.
    """
    plain = spec if checkout is None else spec.partition("@")[0]
    if is_maxtext(plain):
        return _load_maxtext(plain, devices, checkout, spec)
    if is_reference(plain):
        decoders = importlib.import_module("hloscope.decoders")
        if checkout is not None:
            refuse_elsewhere(decoders, checkout, spec)
        program = decoders.resolve(plain, devices)
        assert isinstance(program, Program)  # noqa: S101 - the registry's promise
        return program, Path(str(decoders.__file__))
    found = _SPEC.match(plain)
    assert found is not None  # noqa: S101 - otherwise it is a reference
    module = _import(found["module"], spec)
    if checkout is not None:
        refuse_elsewhere(module, checkout, spec)
    factory = _factory(module, found["factory"], spec)
    options = parse_options(found["options"] or "", spec)
    program = _call(factory, devices, options, spec)
    written = {name: str(value) for name, value in sorted(options.items())}
    name = program.name or spec
    program = replace(program, name=name, options={**written, **program.options})
    return program, Path(module.__file__) if module.__file__ else None


def _load_maxtext(
    plain: str, devices: Sequence[Any], checkout: Checkout | None, spec: str
) -> tuple[Program, Path | None]:
    adapter = importlib.import_module("hloscope.decoders.maxtext")
    try:
        program = adapter.maxtext_program(plain, devices)
    except HloscopeError:
        raise
    except (Exception, SystemExit) as error:
        raise failed("MaxText", error, spec) from error
    assert isinstance(program, Program)  # noqa: S101 - the adapter's promise
    module = sys.modules["maxtext"]
    if checkout is not None:
        refuse_elsewhere(module, checkout, spec)
    return program, Path(module.__file__) if module.__file__ else None


def parse_options(text: str, spec: str) -> dict[str, Option]:
    """Options of a query string: `true` and `false`, integers and floats as such, else strings.

    Raises:
      HloscopeError: an option without `=`, or given twice.
    """
    options: dict[str, Option] = {}
    for item in filter(None, text.split("&")):
        name, equals, value = item.partition("=")
        if not equals or not name.isidentifier():
            raise HloscopeError(f"option '{item}' is not name=value", where=spec)
        if name in options:
            raise HloscopeError(f"option '{name}' is given twice", where=spec)
        options[name] = _value(unquote(value))
    return options


def _value(text: str) -> Option:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text


def _exists(package: str) -> bool:
    """Whether a package could be imported; does not import it."""
    path = [str(Path.cwd()), *sys.path]
    return importlib.machinery.PathFinder.find_spec(package, path) is not None


def _import(name: str, spec: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise failed(f"importing '{name}'", error, spec) from error
        raise HloscopeError(
            f"no module '{error.name}'",
            where=spec,
            remedy="hloscope programs lists the reference programs; a module of your own must be "
            "in the current folder or on PYTHONPATH",
        ) from error
    except (Exception, SystemExit) as error:
        raise failed(f"importing '{name}'", error, spec) from error


def _factory(module: ModuleType, name: str, spec: str) -> Callable[..., object]:
    value: object = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if not callable(value):
        state = "has no" if value is None else "has, but cannot call,"
        candidates = [
            key
            for key, item in sorted(vars(module).items())
            if inspect.isfunction(item) and item.__module__ == module.__name__ and key[0] != "_"
        ]
        remedy = f"one of its functions: {', '.join(candidates)}" if candidates else None
        raise HloscopeError(
            f"module '{module.__name__}' {state} '{name}'", where=spec, remedy=remedy
        )
    return value


def _call(
    factory: Callable[..., object], devices: Sequence[Any], options: Mapping[str, Option], spec: str
) -> Program:
    _check_options(factory, devices, options, spec)
    try:
        program = factory(devices, **options)
    except HloscopeError:
        raise
    except (Exception, SystemExit) as error:
        raise failed("the factory", error, spec) from error
    if not isinstance(program, Program):
        raise HloscopeError(
            f"the factory returned {type(program).__name__!r}, not a hloscope.Program",
            where=spec,
            remedy="return hloscope.Program(function=step, args=(abstract arguments, ...))",
        )
    return program


def _check_options(
    factory: Callable[..., object], devices: Sequence[Any], options: Mapping[str, Option], spec: str
) -> None:
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return  # some callables have none; the call itself will tell
    try:
        signature.bind(devices, **options)
    except TypeError as error:
        raise HloscopeError(
            f"the factory cannot be called with the target's devices and these options: {error}",
            where=spec,
            remedy=f"its signature is {signature}; it is called as factory(devices, **options)",
        ) from error


def failed(action: str, error: BaseException, spec: str) -> HloscopeError:
    """The error for an exception of the user's own code: what it said and where it came from."""
    lines = f"{type(error).__name__}: {error}".strip().splitlines()
    said = "\n    ".join(lines[:_MOST_LINES])
    place = user_frame(error)
    return HloscopeError(
        f"{action} raised {said}",
        where=f"{place}, for {spec}" if place else spec,
        remedy="fix that; the program has to trace before it can be compiled",
    )


def user_frame(error: BaseException) -> str | None:
    """`file:line in function` of the innermost frame that is not installed code."""
    installed = (f"{sys.prefix}/", f"{sys.base_prefix}/", str(Path(__file__).parents[1]), "<frozen")
    place = None
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith(installed):
            place = f"{frame.filename}:{frame.lineno} in {frame.name}"
    return place
