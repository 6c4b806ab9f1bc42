"""What a module takes and gives back: parameters, results, donation, module attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hloscope.hlo.state_path import state_path
from hloscope.model.canonical import Alias
from hloscope.model.hlo import Module
from hloscope.normalize.passes import PASSES
from hloscope.normalize.wiring import Value, Wiring, leaves

# the grammar of XLA's HloInputOutputAliasConfig::ToString
_ALIAS = re.compile(
    r"\{([\d,\s]*)\}\s*:\s*\(?\s*(\d+)(?:\s*,\s*\{([\d,\s]*)\})?(?:\s*,\s*(may|must)[-_]alias)?"
)
_DONOR = re.compile(r"\(\s*(\d+)\s*,\s*\{([\d,\s]*)\}\s*\)")
# these speak of parameters or results by number; they are read or follow from the instructions
_BY_POSITION = frozenset(
    {
        "buffer_donor",
        "entry_computation_layout",
        "input_output_alias",
        "is_scheduled",
        "allow_spmd_sharding_propagation_to_output",
        "allow_spmd_sharding_propagation_to_parameters",
    }
)
# JAX's per-argument lists in the module's frontend attributes
_BY_ARGUMENT = re.compile(r'((?:arg|out)_(?:layout_modes|memory_spaces))="([^"]*)"')
_ORDINARY = frozenset({"default", "0", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """See `CanonicalModule` for the fields."""

    parameters: tuple[int, ...]
    paths: Mapping[int, tuple[str, ...]]
    outputs: tuple[int, ...]
    aliases: tuple[Alias, ...]
    donors: tuple[int, ...]
    header: tuple[tuple[str, str], ...]


def read_interface(
    module: Module, wiring: Wiring, off: frozenset[str], given: Mapping[int, str] | None
) -> Interface:
    """Reads what a module takes and gives back, by node.

    Args:
      module: the module.
      wiring: its wiring.
      off: passes that are switched off.
      given: tree paths by parameter number, by position where a tuple holds all arguments; the
        parameters' op_names where it has none.
    """
    parameters = _parameters(module, wiring)
    arguments = dict(enumerate(wiring.arguments)) or parameters
    root: Value = ()
    if module.entry is not None:
        entry = module.computations[module.entry]
        root = wiring.values[wiring.offsets[module.entry] + entry.root]
    header = dict(module.header)
    return Interface(
        parameters=tuple(arguments.values()),
        paths=_paths(module, wiring, arguments, given or {}),
        outputs=leaves(root),
        aliases=_aliases(header.get("input_output_alias", ""), wiring, parameters, root),
        donors=_donors(header.get("buffer_donor", ""), wiring, parameters),
        header=_header(module, off),
    )


def _parameters(module: Module, wiring: Wiring) -> dict[int, int]:
    """Parameter number to node."""
    if module.entry is None:
        return {}
    base = wiring.offsets[module.entry]
    found = {
        ins.parameter: base + k
        for k, ins in enumerate(module.computations[module.entry].instructions)
        if ins.opcode == "parameter"
    }
    return dict(sorted(found.items()))


def _paths(
    module: Module, wiring: Wiring, parameters: dict[int, int], given: Mapping[int, str]
) -> dict[int, tuple[str, ...]]:
    if module.entry is None:
        return {}
    base = wiring.offsets[module.entry]
    instructions = module.computations[module.entry].instructions
    paths = {}
    for number, node in parameters.items():
        named = instructions[node - base].metadata.op_name if node < wiring.count else ""
        path = state_path(given.get(number) or named)
        if path:
            paths[node] = path
    return paths


def _index(text: str | None) -> tuple[int, ...]:
    return tuple(int(n) for n in (text or "").split(",") if n.strip())


def _at(wiring: Wiring, value: Value, index: tuple[int, ...]) -> int | None:
    """The node at a place in a value, as far as the wiring tells elements apart."""
    for position in index:
        if isinstance(value, int):
            value = wiring.elements.get((value, position), value)
        elif position < len(value):
            value = value[position]
        else:
            return None
    return value if isinstance(value, int) else next(iter(leaves(value)), None)


def _aliases(
    text: str, wiring: Wiring, parameters: dict[int, int], root: Value
) -> tuple[Alias, ...]:
    found = []
    for output_index, number, index, kind in _ALIAS.findall(text):
        node = parameters.get(int(number))
        output = _at(wiring, root, _index(output_index))
        if node is None or output is None:
            continue
        source = _at(wiring, wiring.values[node], _index(index))
        found.append(Alias(node if source is None else source, output, f"{kind or 'may'}-alias"))
    return tuple(found)


def _donors(text: str, wiring: Wiring, parameters: dict[int, int]) -> tuple[int, ...]:
    found = []
    for number, index in _DONOR.findall(text):
        node = parameters.get(int(number))
        if node is not None:
            source = _at(wiring, wiring.values[node], _index(index))
            found.append(node if source is None else source)
    return tuple(sorted(found))


def _header(module: Module, off: frozenset[str]) -> tuple[tuple[str, str], ...]:
    rewrites = {k: v for one in PASSES if one.name not in off for k, v in one.header.items()}
    kept = []
    for name, text in module.header:
        if name in _BY_POSITION:
            continue
        if name == "frontend_attributes":
            text = _BY_ARGUMENT.sub(_value_set, text)
        rewrite = rewrites.get(name)
        rewritten = text if rewrite is None else rewrite(text)
        if rewritten is not None:
            kept.append((name, rewritten))
    return tuple(kept)


def _value_set(match: re.Match[str]) -> str:
    """The unusual values of a list: which argument has which follows from the parameters."""
    unusual = sorted(set(match[2].split(";")) - _ORDINARY)
    return f'{match[1]}="{";".join(unusual)}"'
