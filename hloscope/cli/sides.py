"""What every verb that takes sides asks of the user, and how it opens them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hloscope.errors import HloscopeError
from hloscope.model.capture import Depth

if TYPE_CHECKING:
    from hloscope.model.pairing import Pairing
    from hloscope.model.source import Source
    from hloscope.model.target import Chip

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("-t", "--target", help="What programs are compiled for: tpu:v5p:2x2x2."),
    click.option("--module", help="Which module, where a side has several."),
    click.option("--no-cache", is_flag=True, help="Compile anew, and keep nothing in the cache."),
)
_WITH = "hloscope.packages"
_WITH_HELP = {
    "with": "Compile programs with this package: jax==0.11.2. Repeatable.",
    "lhs_with": "The same, LHS alone.",
    "rhs_with": "The same, RHS alone.",
}


def _remember(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> None:
    context.meta[f"{_WITH}.{parameter.name}"] = value


# kept in the context, as every verb that opens sides has them and none needs to see them
_TOOL_OPTIONS = tuple(
    click.option(
        f"--{name.replace('_', '-')}",
        name,
        multiple=True,
        metavar="PACKAGE",
        expose_value=False,
        callback=_remember,
        help=text,
    )
    for name, text in _WITH_HELP.items()
)
_COMPILE_OPTIONS = (
    click.option(
        "--depth",
        type=click.Choice([depth.value for depth in Depth]),
        default=Depth.HLO.value,
        show_default=True,
        help="Stop at optimized HLO; run to the executable; or keep the module after every pass.",
    ),
    click.option("--xla-flag", "flags", multiple=True, metavar="NAME=VALUE", help="An XLA option."),
    click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds at most."),
)


def side_options(command: Command) -> Command:
    """Adds `--target`, `--module`, `--no-cache`, `--with`, `--lhs-with` and `--rhs-with`."""
    return _with(command, (*_OPTIONS, *_TOOL_OPTIONS))


def tool_option(command: Command) -> Command:
    """Adds `--with`, for a verb that has no sides."""
    return _with(command, _TOOL_OPTIONS[:1])


def packages(side: str | None = None) -> tuple[str, ...]:
    """What `--with` asked for, and `--lhs-with` or `--rhs-with` for the side named."""
    meta = click.get_current_context().meta
    both: tuple[str, ...] = meta.get(f"{_WITH}.with", ())
    return both if side is None else (*both, *meta.get(f"{_WITH}.{side}_with", ()))


def compile_options(command: Command) -> Command:
    """Adds `--depth`, `--xla-flag` and `--timeout`."""
    return _with(command, _COMPILE_OPTIONS)


def _with(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def open_sides(
    specs: Sequence[str],
    target: str | None,
    module: str | None,
    *,
    cache: bool,
    depth: Depth = Depth.HLO,
    flags: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> tuple[Source, ...]:
    """Opens one side or two, with progress on a terminal while programs compile."""
    from hloscope.cli.progress import Progress
    from hloscope.pipeline import OpenOptions, open_pair, open_source

    with Progress() as progress:
        options = OpenOptions(
            target=target,
            module=module,
            depth=depth,
            xla_flags=flags or {},
            cache=cache,
            timeout=timeout,
            progress=progress.show,
            packages=packages("lhs"),
        )
        if len(specs) == 1:
            return (open_source(specs[0], options),)
        lhs, rhs = specs
        return open_pair(lhs, rhs, options, replace(options, packages=packages("rhs")))


def pair_sides(sides: Sequence[Source]) -> Pairing:
    """Which instruction of one side is which of the other."""
    from hloscope.match import match
    from hloscope.normalize import NormalizeOptions
    from hloscope.pipeline import canonical_of

    lhs, rhs = (canonical_of(side, NormalizeOptions()) for side in sides)
    return match(lhs, rhs)


def chip_of(side: Source, target: str | None) -> Chip | None:
    """The chip that `--target` names, or the one that the side was captured for."""
    from hloscope.capture import parse_target

    spec = target or (side.capture.target if side.capture else None)
    return parse_target(spec).chip if spec else None


def parse_flags(flags: tuple[str, ...]) -> dict[str, str]:
    """XLA flags of `NAME=VALUE` texts, with or without leading dashes.

    Raises:
      HloscopeError: one has no value, or two values.
    """
    parsed: dict[str, str] = {}
    for flag in flags:
        name, equals, value = flag.lstrip("-").partition("=")
        if not equals or not name:
            raise HloscopeError(
                f"'{flag}' is not NAME=VALUE",
                where="--xla-flag",
                remedy=f"--xla-flag {name or 'xla_some_flag'}=true",
            )
        if parsed.get(name, value) != value:
            raise HloscopeError(f"'{name}' is given twice", where="--xla-flag")
        parsed[name] = value
    return parsed
