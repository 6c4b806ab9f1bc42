"""`hloscope targets`: what programs can be compiled for, and with what."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from hloscope.capture.targets import (
    ChipEntry,
    Toolchain,
    gpu_chips,
    parse_target,
    toolchain,
    tpu_chips,
)
from hloscope.errors import HloscopeError
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.report.document import Block, Document, Note, Section, Table, Tone

_CPU_NOTE = (
    "cpu:COUNT compiles for that many devices of a host CPU (cpu:8). Nothing is published for "
    "whatever machine that is: no memory, peak or bandwidth."
)
_PER_CHIP = "Figures are per chip; hloscope targets {example} shows one chip and its sources."


@click.command()
@click.argument("prefix", default="")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(prefix: str, as_json: bool) -> None:
    """List the targets that programs can be compiled for.

    PREFIX narrows the list: tpu, tpu:v5p, gpu:h100:8.
    """
    found = _matching(prefix)
    tools = {
        name: toolchain(name) for name in ("tpu", "gpu", "cpu") if _wanted(name, found, prefix)
    }
    if as_json:
        click.echo(json.dumps(_as_json(found, tools), indent=2))
        return
    # rich takes its time to import; --json does without
    from hloscope.report.terminal import show

    document = _one(found[0], tools) if len(found) == 1 else _several(found, tools)
    show(document)


def _matching(prefix: str) -> tuple[ChipEntry, ...]:
    """The chips that a prefix selects; none for the cpu.

    Raises:
      HloscopeError: nothing starts with it, or it is a whole target and a wrong one.
    """
    every = (*tpu_chips().values(), *gpu_chips().values())
    found = tuple(entry for entry in every if _name(entry).startswith(prefix))
    if found or (prefix and "cpu".startswith(prefix)):
        return found
    owner = [entry for entry in every if prefix.startswith(f"{_name(entry)}:")]
    if owner:
        if _partial(prefix, owner[0]):
            return tuple(owner)
        parse_target(prefix)
        return tuple(owner)
    if prefix.startswith("cpu:"):
        parse_target(prefix)
        return ()
    raise HloscopeError(f"no target starts with '{prefix}'", remedy=_suggestion(prefix, every))


def _partial(prefix: str, entry: ChipEntry) -> bool:
    """Whether an example of the chip's topologies goes on from the prefix."""
    return any(spec.startswith(prefix) for spec in _examples(entry))


def _suggestion(prefix: str, every: Sequence[ChipEntry]) -> str:
    tidy = prefix.strip().lower()
    names = {_name(entry): entry for entry in every}
    for name, entry in names.items():
        if tidy.rpartition(":")[2] in {entry.chip.name, *entry.aliases}:
            return f"hloscope targets {name}"
    close = difflib.get_close_matches(tidy, names, n=1)
    return f"hloscope targets {close[0]}" if close else "hloscope targets"


def _wanted(platform: str, found: Sequence[ChipEntry], prefix: str) -> bool:
    if platform == "cpu":
        return "cpu".startswith(prefix) or prefix.startswith("cpu:")
    return any(entry.chip.platform == platform for entry in found)


def _name(entry: ChipEntry) -> str:
    return f"{entry.chip.platform}:{entry.chip.name}"


def _examples(entry: ChipEntry) -> Iterator[str]:
    if entry.topologies is None:
        yield f"{_name(entry)}:8"
        return
    for topology in entry.topologies.example_names:
        yield f"{_name(entry)}:{topology}"


# --- many chips ---------------------------------------------------------------------------------


def _several(found: Sequence[ChipEntry], tools: Mapping[str, Toolchain]) -> Document:
    sections = tuple(_section(name, tool, found) for name, tool in tools.items())
    headline = Note(text="tpu:GENERATION:TOPOLOGY, gpu:CHIP:COUNT or cpu:COUNT")
    lead: tuple[Note, ...] = ()
    if found:
        lead = (Note(text=_PER_CHIP.format(example=_name(found[-1])), tone=Tone.QUIET),)
    return Document(headline=headline, lead=lead, sections=sections)


def _section(platform: str, tool: Toolchain, found: Sequence[ChipEntry]) -> Section:
    entries = [entry for entry in found if entry.chip.platform == platform]
    blocks: list[Block] = [*_tool_notes(tool)]
    if entries:
        blocks += [_table(platform, entries), *_sources(entries)]
    else:
        blocks.append(Note(text=_CPU_NOTE))
    return Section(title=platform, blocks=tuple(blocks))


def _tool_notes(tool: Toolchain) -> Iterator[Note]:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(tool.versions.items()))
    if tool.problem is None:
        yield Note(text=f"installed: {versions}", tone=Tone.GOOD)
        return
    yield Note(text=f"cannot compile here: {tool.problem}", tone=Tone.BAD)
    yield Note(text=f"try: {tool.remedy}", tone=Tone.BAD)


def _table(platform: str, entries: Sequence[ChipEntry]) -> Table:
    last = "topologies" if platform == "tpu" else "count"
    rows = tuple(_row(entry) for entry in entries)
    return Table(
        columns=("target", ">memory", ">peak bf16", ">bandwidth", ">links", last),
        rows=rows,
        tones=(Tone.PLAIN,) * len(rows),
    )


def _row(entry: ChipEntry) -> tuple[str, ...]:
    chip, devices = entry.chip, entry.chip.devices_per_chip
    rule = entry.topologies
    return (
        _name(entry),
        _memory(chip.memory, devices, chip.platform),
        _tera(chip.peak_flops["bf16"] * devices),
        _rate(chip.memory_bandwidth, devices),
        _rate(chip.interconnect_bandwidth, devices),
        f"{rule.example_names[0]} .. {rule.example_names[-1]}" if rule else "1..8, or 8 x hosts",
    )


def _sources(entries: Sequence[ChipEntry]) -> Iterator[Note]:
    yield Note(text="sources", tone=Tone.QUIET)
    for entry in entries:
        yield Note(text=f"  {entry.chip.name}: {entry.chip.source}", tone=Tone.QUIET)


# --- one chip -----------------------------------------------------------------------------------


def _one(entry: ChipEntry, tools: Mapping[str, Toolchain]) -> Document:
    chip = entry.chip
    rows = tuple(_details(entry))
    table = Table(
        columns=("", "per chip", "per device"), rows=rows, tones=(Tone.PLAIN,) * len(rows)
    )
    blocks: list[Block] = [table, *_naming(entry), Note(text=f"figures: {chip.source}")]
    return Document(
        headline=Note(text=f"{_name(entry)}  {entry.product}"),
        lead=tuple(_tool_notes(tools[chip.platform])),
        sections=(Section(title="figures", blocks=tuple(blocks)),),
    )


def _details(entry: ChipEntry) -> Iterator[tuple[str, str, str]]:
    chip, devices = entry.chip, entry.chip.devices_per_chip

    def both(label: str, chip_text: str, device_text: str) -> tuple[str, str, str]:
        return (label, chip_text, device_text)

    yield both("devices", str(devices), "1")
    for label, size in (("memory", chip.memory), ("usable", chip.usable_memory)):
        texts = (_memory(size, count, chip.platform) for count in (devices, 1))
        yield both(label, *texts)
    for dtype, flops in sorted(chip.peak_flops.items()):
        yield both(f"peak {dtype}", _tera(flops * devices), _tera(flops))
    rates = (("bandwidth", chip.memory_bandwidth), ("links", chip.interconnect_bandwidth))
    for label, rate in rates:
        yield both(label, _rate(rate, devices), _rate(rate, 1))


def _naming(entry: ChipEntry) -> Iterator[Note]:
    rule = entry.topologies
    names = "  ".join(_examples(entry))
    if rule is None:
        yield Note(text=f"names: {names}; 1 to 8 GPUs of one machine, or whole machines of 8")
        return
    yield Note(text=f"names: {names}")
    yield Note(text=f"topologies: {rule.sentence()}")


def _memory(size: Maybe[Any], devices: int, platform: str) -> str:
    scale, unit = (1 << 30, "GiB") if platform == "tpu" else (10**9, "GB")
    match size:
        case Measured(count):
            return f"{count * devices / scale:.5g} {unit}"
        case Missing():
            return "unknown"


def _rate(rate: Maybe[float], devices: int) -> str:
    match rate:
        case Measured(value):
            return f"{value * devices / 1e9:.5g} GB/s"
        case Missing():
            return "unknown"


def _tera(flops: float) -> str:
    return f"{flops / 1e12:.5g} TFLOP/s"


# --- json ---------------------------------------------------------------------------------------


def _as_json(found: Sequence[ChipEntry], tools: Mapping[str, Toolchain]) -> dict[str, Any]:
    return {
        "toolchains": {
            name: {
                "installed": tool.problem is None,
                "versions": dict(tool.versions),
                "problem": tool.problem,
                "remedy": tool.remedy,
            }
            for name, tool in tools.items()
        },
        "chips": [_chip_json(entry) for entry in found],
    }


def _chip_json(entry: ChipEntry) -> dict[str, Any]:
    """A chip; every figure is of one device, in bytes, FLOP/s and bytes/s."""
    chip, rule = entry.chip, entry.topologies
    return {
        "target": _name(entry),
        "product": entry.product,
        "devices_per_chip": chip.devices_per_chip,
        "memory": _value(chip.memory),
        "usable_memory": _value(chip.usable_memory),
        "peak_flops": dict(sorted(chip.peak_flops.items())),
        "memory_bandwidth": _value(chip.memory_bandwidth),
        "interconnect_bandwidth": _value(chip.interconnect_bandwidth),
        "source": chip.source,
        "examples": list(_examples(entry)),
        "topologies": rule.sentence() if rule else None,
        "max_chips": rule.max_chips if rule else None,
    }


def _value(figure: Maybe[Any]) -> float | int | None:
    match figure:
        case Measured(value):
            number: float | int = value
            return number
        case Missing():
            return None
