"""`hloscope show`: what is in a capture, HLO file, dump or profile."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hloscope.cli.sides import open_sides, side_options

if TYPE_CHECKING:
    from hloscope.model.capture import MemoryFigures
    from hloscope.model.hlo import Module, Shape
    from hloscope.model.source import Source
    from hloscope.model.units import Maybe
    from hloscope.report import Document

SHOWN = 15  # rows of each table, unless everything is asked for


@click.command()
@click.argument("side", metavar="X")
@side_options
@click.option("--all", "everything", is_flag=True, help="Show every row.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    side: str,
    module: str | None,
    target: str | None,
    everything: bool,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Summarise X: a capture, HLO text or proto, a folder of XLA dumps, or an XProf profile."""
    (source,) = open_sides((side,), target, module, cache=not no_cache)
    summary = summarize(source)
    if as_json:
        click.echo(json.dumps(summary, indent=2))
        return
    from hloscope.report.terminal import show

    show(_document(summary, None if everything else SHOWN))


def summarize(source: Source) -> dict[str, Any]:
    """Everything that `show` says of a side, as plain data; byte counts are integers."""
    module = source.module
    return {
        "label": source.label,
        "kind": source.kind.value,
        "module": module.name,
        "scheduled": module.is_scheduled,
        "computations": len(module.computations),
        "instructions": module.instruction_count,
        "entry": None if module.entry is None else module.computations[module.entry].name,
        "opcodes": _opcodes(module),
        "parameters": _parameters(module),
        "results": _results(module),
        "loops": _loops(module),
        "memory": _memory(source),
        "measured_instructions": len(source.times.seconds) if source.times else 0,
        "measured_seconds": sum(source.times.seconds.values()) if source.times else None,
        "has_module_before_optimization": source.before is not None,
        "header": dict(module.header),
        "notes": [*source.notes, *module.notes],
    }


def _opcodes(module: Module) -> dict[str, int]:
    count = Counter(i.opcode for c in module.computations for i in c.instructions)
    return dict(sorted(count.items(), key=lambda item: (-item[1], item[0])))


def _parameters(module: Module) -> list[dict[str, Any]]:
    from hloscope.hlo import entry_arguments, format_shape

    return [
        {
            "number": argument.number,
            "name": argument.name,
            "shape": format_shape(argument.shape),
            "bytes": _bytes(argument.shape),
            "op_name": argument.op_name,
            "sharding": argument.sharding,
        }
        for argument in entry_arguments(module)
    ]


def _results(module: Module) -> dict[str, Any] | None:
    from hloscope.hlo import format_shape

    if module.entry is None:
        return None
    entry = module.computations[module.entry]
    shape = entry.instructions[entry.root].shape
    return {"shape": format_shape(shape), "bytes": _bytes(shape)}


def _bytes(shape: Shape) -> int | None:
    """Bytes of the elements, without padding; `None` where a type or an extent is not known."""
    from hloscope.hlo import BITS

    if shape.elements:
        sizes = [_bytes(element) for element in shape.elements]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None
    if shape.dtype in ("tuple", "token", "opaque") and not shape.rest:
        return 0
    if shape.dtype not in BITS or any(extent < 0 for extent in shape.dims):
        return None
    bits = BITS[shape.dtype]
    for extent in shape.dims:
        bits *= extent
    return -(-bits // 8)


def _loops(module: Module) -> list[dict[str, Any]]:
    from hloscope.hlo import scopes, trip_count
    from hloscope.model.canonical import Ref
    from hloscope.model.units import Measured

    loops = []
    for number, computation in enumerate(module.computations):
        for position, instruction in enumerate(computation.instructions):
            if instruction.opcode != "while":
                continue
            trips = trip_count(module, Ref(number, position))
            body = dict(instruction.called).get("body")
            loops.append(
                {
                    "name": instruction.name,
                    "in": computation.name,
                    "trips": trips.value if isinstance(trips, Measured) else None,
                    "reason": None if isinstance(trips, Measured) else trips.reason,
                    "body_instructions": len(module.computations[body].instructions)
                    if body is not None
                    else None,
                    "carried": len(instruction.shape.elements) or 1,
                    "scope": "/".join(scopes(instruction.metadata.op_name)),
                }
            )
    return loops


def _memory(source: Source) -> dict[str, Any] | None:
    from hloscope.hlo import memory_figures

    if source.capture is not None:
        return _figures(source.capture.memory)
    if source.buffers is None:
        return None
    return _figures(memory_figures(source.buffers, source.module))


def _figures(figures: MemoryFigures) -> dict[str, Any]:
    names = ("argument", "output", "alias", "temp", "code")
    return {
        **{name: _known(getattr(figures, name)) for name in names},
        "source": figures.source,
    }


def _known(value: Maybe[Any]) -> Any:
    from hloscope.model.units import Measured

    return value.value if isinstance(value, Measured) else {"missing": value.reason}


def _document(summary: dict[str, Any], limit: int | None) -> Document:
    from hloscope.report import Document, Note, Section
    from hloscope.report.document import Tone

    lead = [
        f"{summary['instructions']:,} instructions in {summary['computations']:,} computations, "
        f"entry '{summary['entry'] or 'none'}', "
        f"{'scheduled' if summary['scheduled'] else 'not scheduled'}",
        *_memory_lines(summary["memory"]),
    ]
    if summary["measured_seconds"] is not None:
        lead.append(
            f"{summary['measured_instructions']:,} instructions measured, "
            f"{summary['measured_seconds']:.6f} s in all"
        )
    notes = tuple(Note(text=text, tone=Tone.QUIET) for text in summary["notes"])
    sections = [
        Section(title="loops", blocks=(_loop_table(summary, limit),)) if summary["loops"] else None,
        Section(title="entry parameters", blocks=_parameter_blocks(summary, limit))
        if summary["parameters"]
        else None,
        Section(title="opcodes", blocks=(_opcode_table(summary, limit),)),
        Section(title="notes", blocks=notes) if notes else None,
    ]
    return Document(
        headline=Note(text=f"{summary['module'] or 'unnamed module'} ({summary['kind']})"),
        lead=tuple(Note(text=text) for text in lead),
        sections=tuple(section for section in sections if section is not None),
    )


def _memory_lines(memory: dict[str, Any] | None) -> list[str]:
    from hloscope.report.numbers import bytes_text

    if memory is None:
        return ["memory: the source has no buffer assignment"]
    texts = [
        f"{name} {bytes_text(memory[name])}" if isinstance(memory[name], int) else f"{name} unknown"
        for name in ("argument", "output", "alias", "temp")
    ]
    return [f"memory: {', '.join(texts)} (from the {memory['source']})"]


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], limit: int | None) -> Any:
    from hloscope.report import Table
    from hloscope.report.document import Tone

    shown = rows if limit is None else rows[:limit]
    if len(shown) < len(rows):
        rest = f"... {len(rows) - len(shown)} more (--all)"
        shown = [*shown, (rest, *("" for _ in columns[1:]))]
    return Table(columns=columns, rows=tuple(shown), tones=tuple(Tone.PLAIN for _ in shown))


def _loop_table(summary: dict[str, Any], limit: int | None) -> Any:
    rows = [
        (
            loop["name"],
            f"{loop['trips']:,}" if loop["trips"] is not None else f"unknown: {loop['reason']}",
            str(loop["body_instructions"]),
            str(loop["carried"]),
            loop["scope"],
        )
        for loop in summary["loops"]
    ]
    return _table(("loop", ">trips", ">body", ">carried", "scope"), rows, limit)


def _parameter_blocks(summary: dict[str, Any], limit: int | None) -> tuple[Any, ...]:
    from hloscope.report import Note
    from hloscope.report.numbers import bytes_text

    rows = [
        (
            p["op_name"] or p["name"],
            p["shape"],
            "unknown" if p["bytes"] is None else bytes_text(p["bytes"]),
        )
        for p in summary["parameters"]
    ]
    sizes = [p["bytes"] for p in summary["parameters"]]
    known = sum(size for size in sizes if size is not None)
    unknown = sum(size is None for size in sizes)
    total = f"{len(sizes)} parameters, {bytes_text(known)} without padding"
    if unknown:
        total += f", and {unknown} of unknown size"
    return (Note(text=total), _table(("parameter", "shape", ">bytes"), rows, limit))


def _opcode_table(summary: dict[str, Any], limit: int | None) -> Any:
    rows = [(name, f"{count:,}") for name, count in summary["opcodes"].items()]
    return _table(("opcode", ">instructions"), rows, limit)
