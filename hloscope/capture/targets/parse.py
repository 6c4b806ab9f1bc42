"""From a target's name to the target."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping

from hloscope.capture.targets.chips import HOST, ChipEntry, gpu_chips, tpu_chips
from hloscope.capture.targets.topology import TopologyRule, format_sides, parse_sides
from hloscope.errors import HloscopeError
from hloscope.model.target import Chip, Target

# beyond one machine, GPUs come in whole machines of this many
GPUS_PER_HOST = 8
MAX_GPUS = 4096
# tried; each forced CPU device costs the child threads
MAX_CPU_DEVICES = 1024

_SHAPES = "tpu:GENERATION:TOPOLOGY, gpu:CHIP:COUNT or cpu:COUNT"
_COUNT = re.compile(r"[1-9][0-9]{0,8}")


def parse_target(spec: str) -> Target:
    """Reads `tpu:v5p:2x2x2`, `gpu:h100:8` or `cpu:8`.

    Raises:
      HloscopeError: the name is not a target; says which names would be right.
    """
    platform, _, rest = spec.partition(":")
    match platform:
        case "tpu":
            return _parse_tpu(spec, rest)
        case "gpu":
            return _parse_gpu(spec, rest)
        case "cpu":
            return _parse_cpu(spec, rest)
    raise HloscopeError(
        f"unknown platform '{platform}' in target '{spec}'", remedy=_platform_remedy(spec)
    )


def _platform_remedy(spec: str) -> str:
    """The spec with its platform put right, or the three shapes there are."""
    tidy = spec.strip().lower()
    guesses = [tidy, f"tpu:{tidy}", f"gpu:{tidy}", f"gpu:{tidy.partition(':')[2]}"]
    for guess in guesses:
        if guess != spec and is_target(guess):
            return guess
    return f"{_SHAPES}; hloscope targets lists them"


def is_target(spec: str) -> bool:
    """Whether `parse_target` reads the name."""
    if spec.partition(":")[0] not in {"tpu", "gpu", "cpu"}:
        return False
    try:
        parse_target(spec)
    except HloscopeError:
        return False
    return True


def _parse_tpu(spec: str, rest: str) -> Target:
    name, _, topology = rest.partition(":")
    entry = tpu_chips().get(name)
    if entry is None or entry.topologies is None:
        raise _unknown_chip(spec, "tpu", name, topology, tpu_chips())
    sides = parse_sides(topology)
    if sides is None:
        raise _unknown_topology(spec, entry, topology, entry.topologies, None)
    complaint = entry.topologies.complaint(sides)
    if complaint:
        raise _unknown_topology(spec, entry, topology, entry.topologies, complaint)
    devices = math.prod(sides) * entry.chip.devices_per_chip
    return Target(spec=spec, chip=entry.chip, topology=topology, device_count=devices)


def _parse_gpu(spec: str, rest: str) -> Target:
    name, _, text = rest.partition(":")
    entry = gpu_chips().get(name)
    if entry is None:
        raise _unknown_chip(spec, "gpu", name, text, gpu_chips())
    count = _count(spec, text, f"gpu:{name}:8", MAX_GPUS)
    if count > GPUS_PER_HOST and count % GPUS_PER_HOST:
        fitting = -(-count // GPUS_PER_HOST) * GPUS_PER_HOST
        raise HloscopeError(
            f"'{count}' GPUs in target '{spec}' are not whole machines of {GPUS_PER_HOST}",
            remedy=f"gpu:{name}:{fitting}",
        )
    return _counted(spec, entry.chip, text, count)


def _parse_cpu(spec: str, rest: str) -> Target:
    return _counted(spec, HOST, "", _count(spec, rest, "cpu:8", MAX_CPU_DEVICES))


def _counted(spec: str, chip: Chip, topology: str, count: int) -> Target:
    return Target(spec=spec, chip=chip, topology=topology, device_count=count)


def _count(spec: str, text: str, example: str, most: int) -> int:
    if not text:
        raise HloscopeError(f"target '{spec}' does not say how many devices", remedy=example)
    if not _COUNT.fullmatch(text):
        raise HloscopeError(
            f"'{text}' in target '{spec}' is not a count of devices", remedy=example
        )
    if int(text) > most:
        raise HloscopeError(
            f"'{text}' devices in target '{spec}' are more than {most}", remedy=example
        )
    return int(text)


def _unknown_topology(
    spec: str, entry: ChipEntry, topology: str, rule: TopologyRule, complaint: str | None
) -> HloscopeError:
    name = entry.chip.name
    listing = f"hloscope targets tpu:{name} lists more"
    if not topology:
        examples = _join(f"tpu:{name}:{format_sides(e)}" for e in rule.examples[:3])
        return HloscopeError(f"target '{spec}' names no topology", remedy=f"{examples}; {listing}")
    sides = parse_sides(_tidy(topology)) or (1,)
    fixed = _completed(sides, rule)
    closest = [fixed] if fixed else list(rule.closest(sides))
    because = f": {complaint}" if complaint else ""
    return HloscopeError(
        f"unknown topology '{name}:{topology}' in target '{spec}'{because}",
        remedy=f"{_join(f'tpu:{name}:{c}' for c in closest)}; {listing}",
    )


def _tidy(topology: str) -> str:
    return topology.strip().lower().replace("*", "x").replace(",", "x")


def _completed(sides: tuple[int, ...], rule: TopologyRule) -> str | None:
    """The topology meant by one with too few sides, or by one written in another way."""
    for candidate in (sides, (*sides, 1), sides[:-1] if sides[-1] == 1 else ()):
        if candidate and rule.complaint(candidate) is None:
            return format_sides(candidate)
    return None


def _unknown_chip(
    spec: str, platform: str, name: str, rest: str, chips: Mapping[str, ChipEntry]
) -> HloscopeError:
    noun = "generation" if platform == "tpu" else "chip"
    if not name:
        return HloscopeError(
            f"target '{spec}' names no {noun}",
            remedy=f"one of {', '.join(chips)}; hloscope targets {platform} lists them",
        )
    likely = _likely_chip(name, chips)
    remedy = (
        _accelerator_type(name, chips)
        or (_renamed(platform, likely, rest) if likely else None)
        or f"one of {', '.join(chips)}"
    )
    return HloscopeError(
        f"unknown {noun} '{name}' in target '{spec}'",
        remedy=f"{remedy}; hloscope targets {platform} lists them",
    )


def _likely_chip(name: str, chips: Mapping[str, ChipEntry]) -> str | None:
    tidy = name.strip().lower()
    for known, entry in chips.items():
        if tidy == known or tidy in entry.aliases:
            return known
    return next(iter(difflib.get_close_matches(tidy, chips, n=1, cutoff=0.5)), None)


def _renamed(platform: str, chip: str, rest: str) -> str:
    """The whole target where the rest of it is right too, the chip alone otherwise."""
    whole = f"{platform}:{chip}:{_tidy(rest)}"
    return whole if is_target(whole) else f"{platform}:{chip}"


def _accelerator_type(name: str, chips: Mapping[str, ChipEntry]) -> str | None:
    """Targets of the size that a Google Cloud accelerator type such as `v5p-16` means."""
    generation, _, units = name.lower().rpartition("-")
    known = _likely_chip(generation, chips) if generation and _COUNT.fullmatch(units) else None
    if known is None:
        return None
    entry = chips[known]
    if entry.topologies is None:
        return f"gpu:{known}:{units}"
    chips_meant = max(1, int(units) // entry.accelerator_type_units)
    return f"tpu:{known}:{entry.topologies.closest((chips_meant,), 1)[0]}"


def _join(names: Iterable[str]) -> str:
    return " or ".join(names)
