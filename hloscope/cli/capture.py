"""`hloscope capture`: compile a program for a target, keep everything in one file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import click

from hloscope.cli.progress import STEPS, Progress
from hloscope.cli.sides import compile_options, packages, parse_flags, tool_option
from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture, Depth
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.report.document import Block, Document, Note, Section, Table, Tone

_LONGEST_NAME = 160


@click.command()
@click.argument("program")
@click.option("-t", "--target", required=True, help="What to compile for: tpu:v5p:2x2x2, cpu:8.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file to write.")
@compile_options
@tool_option
@click.option("--no-cache", is_flag=True, help="Compile anew, and keep nothing in the cache.")
@click.option("--json", "as_json", is_flag=True, help="Print the file's manifest as JSON.")
def command(
    program: str,
    target: str,
    output: Path | None,
    depth: str,
    flags: tuple[str, ...],
    timeout: float | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Compile PROGRAM for a target that you need not own, and keep everything in one file.

    PROGRAM is a reference decoder (gpt3-6b:nnx?layers=4; hloscope programs lists them) or
    package.module:factory?option=value, whose factory is called with the target's devices and
    the options, and returns a hloscope.Program. With @REV at the end it is that program as it is
    at a git revision.
    """
    from hloscope import store
    from hloscope.capture import capture_spec

    path = output or Path(default_name(program, target))
    _check_writable(path)
    taken: list[str] = []
    with Progress() as progress:

        def tell(step: str) -> None:
            taken.append(step)
            progress.show(program, step)

        capture = capture_spec(
            program,
            target,
            depth=Depth(depth),
            xla_flags=parse_flags(flags),
            timeout=timeout,
            packages=packages(),
            cache=None if no_cache else store.user_cache(),
            progress=tell,
        )
    store.write(capture, path)
    if as_json:
        described = {"file": str(path), **store.manifest(capture)}
        click.echo(json.dumps(described, indent=1, ensure_ascii=False))
        return
    from hloscope.report.terminal import show

    show(_summary(capture, path, cached="compile" not in taken))


def default_name(program: str, target: str) -> str:
    """A file name for a program and a target: `gpt3-6b-nnx-layers-4.tpu-v5p-2x2x2.hloscope`."""
    name, place = (re.sub(r"[^A-Za-z0-9_.]+", "-", part).strip("-.") for part in (program, target))
    if len(name) > _LONGEST_NAME:  # a file system takes 255 bytes
        name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(program.encode()).hexdigest()[:8]}"
    return ".".join((name, place, "hloscope"))


def _check_writable(path: Path) -> None:
    """Refuses, before minutes of compiling, a place where the file cannot go."""
    if path.is_dir():
        raise HloscopeError(f"'{path}' is a folder", where="--output", remedy="name a file in it")
    if not path.parent.is_dir():
        raise HloscopeError(
            f"no folder '{path.parent}' to write '{path.name}' in",
            where="--output",
            remedy=f"mkdir -p {path.parent}",
        )


def _summary(capture: Capture, path: Path, *, cached: bool) -> Document:
    from hloscope.report.numbers import bytes_text, seconds_text

    seconds = capture.provenance.seconds
    lead = [
        Note(
            text=f"depth {capture.depth}, {len(capture.inputs)} inputs, "
            f"{len(capture.outputs)} outputs",
            tone=Tone.QUIET,
        ),
        Note(
            text=f"{'from the cache; ' if cached else ''}compiled in "
            f"{seconds_text(seconds['total'])}: {_step_times(seconds)}",
            tone=Tone.QUIET,
        ),
        Note(text=f"{path}  {bytes_text(path.stat().st_size)}"),
    ]
    if capture.out_of_memory is not None:
        lead.insert(0, Note(text=_does_not_fit(capture), tone=Tone.BAD))
    lead += [Note(text=f"warning: {text}", tone=Tone.QUIET) for text in capture.provenance.warnings]
    return Document(
        headline=Note(text=f"{capture.program} for {capture.target}"),
        lead=tuple(lead),
        sections=(Section(title="memory of one device", blocks=_memory(capture)),),
    )


def _step_times(seconds: Mapping[str, float]) -> str:
    from hloscope.report.numbers import seconds_text

    return ", ".join(f"{name} {seconds_text(seconds[name])}" for name in STEPS if name in seconds)


def _does_not_fit(capture: Capture) -> str:
    from hloscope.report.numbers import maybe_bytes

    assert capture.out_of_memory is not None  # noqa: S101 - the caller saw it
    needed = maybe_bytes(capture.out_of_memory.needed)
    return (
        f"does not fit: needs {needed}, there is {maybe_bytes(capture.out_of_memory.available)}; "
        "the buffers are kept"
    )


def _memory(capture: Capture) -> tuple[Block, ...]:
    from hloscope.report.numbers import bytes_text

    figures = capture.memory
    parts: dict[str, Maybe[int]] = {
        "arguments": figures.argument,
        "outputs": figures.output,
        "aliased": figures.alias,
        "temporaries": figures.temp,
        "code": figures.code,
    }
    rows = []
    notes: list[Block] = []
    for name, value in parts.items():
        match value:
            case Measured(size):
                rows.append((name, bytes_text(size), f"{size:,}"))
            case Missing(reason):
                rows.append((name, "unknown", ""))
                notes.append(Note(text=f"{name}: {reason}", tone=Tone.QUIET))
    tones = (Tone.PLAIN,) * len(rows)
    table = Table(columns=("", ">size", ">bytes"), rows=tuple(rows), tones=tones)
    return (table, *notes)
