"""HLO text to `Module`."""

from __future__ import annotations

from collections.abc import Mapping

from hloscope.errors import HloscopeError
from hloscope.hlo.async_sugar import desugared
from hloscope.hlo.call_order import in_call_order
from hloscope.hlo.quoting import unquote
from hloscope.hlo.text_attributes import normalized
from hloscope.hlo.text_computation import Resolver
from hloscope.hlo.text_modules import RECOVERY_TABLE, Place, places
from hloscope.hlo.text_parser import MAX_NOTES, Parsed, Parser
from hloscope.hlo.text_scan import without_unusual_comments
from hloscope.model.hlo import Module, StackFrame

LEFT_OUT = f"the module's {RECOVERY_TABLE} was left out"
Tables = Mapping[str, Mapping[int, str]]


def read_text(text: str) -> tuple[Module, ...]:
    """Reads every HLO module in `text`.

    Takes optimized and unoptimized text of any backend, old syntax too, and text with comments,
    fences or string literals around it. What is damaged or cut off is left out, and said in the
    module's notes.

    Raises:
      HloscopeError: there is no HLO in `text`.
    """
    text = without_unusual_comments(text)
    found = places(text)
    modules = tuple(_module(text, place) for place in found)
    if not any(module.computations for module in modules):
        raise HloscopeError(
            "this text holds no HLO: no computation was found in it",
            remedy="give text that XLA prints, which begins with 'HloModule NAME'",
        )
    return modules


def _module(text: str, place: Place) -> Module:
    parser = Parser(text, place.start, place.end)
    parsed = parser.module(place.name, has_header=place.has_header)
    blocks = desugared([block for block in parsed.blocks if block.statements])
    resolver = Resolver(blocks)
    computations = tuple(resolver.computation(block, _thread(block.attributes)) for block in blocks)
    entries = [number for number, block in enumerate(blocks) if block.is_entry]
    notes = [*parsed.notes, *_summed(resolver.notes)]
    if not entries:
        notes.append("the text has no ENTRY computation")
    elif len(entries) > 1:
        notes.append(f"the text has {len(entries)} ENTRY computations; the last one counts")
    if any(name == RECOVERY_TABLE for name, _ in parsed.header):
        notes.append(LEFT_OUT)
    header = _header(parsed)
    computations, entry = in_call_order(computations, entries[-1] if entries else None)
    return Module(
        name=parsed.name,
        computations=computations,
        entry=entry,
        is_scheduled=header.pop("is_scheduled", "false") == "true",
        header=tuple(sorted(header.items())),
        stack_frames=_frames(parsed.tables),
        notes=tuple(dict.fromkeys(notes)),
    )


def _thread(attributes: list[tuple[str, str]]) -> str:
    return dict(attributes).get("execution_thread", '"main"').strip('"')


def _summed(notes: list[str]) -> list[str]:
    """The first notes one by one, the rest as a count."""
    distinct = list(dict.fromkeys(notes))
    if len(distinct) <= MAX_NOTES:
        return distinct
    return [*distinct[:MAX_NOTES], f"{len(distinct) - MAX_NOTES} more notes of this kind"]


def _header(parsed: Parsed) -> dict[str, str]:
    header: dict[str, str] = {}
    for name, value in parsed.header:
        if name == RECOVERY_TABLE:
            continue
        kept = normalized(name, value)
        if kept is not None:
            header[name] = kept
    return header


def _frames(tables: Tables) -> tuple[StackFrame, ...]:
    """The stack frames of the four tables that stand before the first computation."""
    files = tables.get("FileNames", {})
    functions = tables.get("FunctionNames", {})
    places_ = {n: _fields(row) for n, row in tables.get("FileLocations", {}).items()}
    rows = {n: _fields(row) for n, row in tables.get("StackFrames", {}).items()}
    frames: list[StackFrame] = []
    for number in range(1, len(rows) + 1):
        row = rows.get(number, {})
        place = places_.get(row.get("file_location_id", 0), {})
        frames.append(
            StackFrame(
                _string(files.get(place.get("file_name_id", 0))),
                _string(functions.get(place.get("function_name_id", 0))),
                place.get("line", 0),
                place.get("column", 0),
                # XLA prints a parent one higher than it is, so that 1 stands for none
                max(row.get("parent_frame_id", 1) - 1, 0),
            )
        )
    return tuple(frames)


def _fields(row: str) -> dict[str, int]:
    """`{line=4 column=8}` as numbers."""
    pairs = (part.partition("=") for part in row.strip("{}").split())
    return {name: int(value) for name, _, value in pairs if value.isascii() and value.isdigit()}


def _string(row: str | None) -> str:
    return "" if row is None else unquote(row)
