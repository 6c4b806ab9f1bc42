"""XLA's figures of a compile, from its own analyses or from the dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hloscope import hlo
from hloscope.capture.messages import Compiled
from hloscope.model.buffers import BufferAssignment
from hloscope.model.capture import CostFigures, Depth, MemoryFigures
from hloscope.model.hlo import Module, Shape
from hloscope.model.units import Bytes, Maybe, Measured, Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Layouts:
    """Layouts of the entry computation in XLA's text form, `""` where there is none."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def memory_figures(
    finished: Compiled | None,
    buffers: BufferAssignment | None,
    module: Module,
    libtpu: str | None = None,
) -> MemoryFigures:
    """Device memory of one device: XLA's own figures where the compile ran to its end.

    Args:
      finished: a compile that ran to its end, `None` for any other.
      buffers: the module's buffer assignment, `None` where the dump has none.
      module: the optimized module.
      libtpu: the version that compiled it, `None` for other backends.
    """
    if finished is not None and finished.memory is not None:
        return _analysed(finished.memory)
    if buffers is not None:
        return hlo.memory_figures(buffers, module, libtpu)
    missing = Missing("the dump has no buffer assignment")
    return MemoryFigures(
        argument=missing, output=missing, alias=missing, temp=missing, code=missing, source="none"
    )


def _analysed(figures: Mapping[str, int]) -> MemoryFigures:
    sizes: dict[str, Maybe[Bytes]] = {
        name: Measured(Bytes(figures[name])) for name in ("argument", "output", "alias", "temp")
    }
    code = figures["generated_code"]
    return MemoryFigures(
        # a program without code does not exist: CPU and GPU leave the field at its default
        code=Measured(Bytes(code)) if code else Missing("the backend does not report code size"),
        source="memory_analysis",
        **sizes,
    )


def cost_figures(finished: Compiled | None, depth: Depth) -> CostFigures:
    """XLA's cost analysis, `Missing` with the reason where there is none."""
    if finished is None or finished.cost is None:
        backend = "the backend has no cost analysis"
        reason = backend if depth is Depth.FULL else f"depth {depth} stops before cost analysis"
        cost: Mapping[str, float] = {}
    else:
        reason = "the cost analysis does not say"
        cost = finished.cost

    def figure(name: str) -> Maybe[float]:
        value = cost.get(name)
        if value is None:
            return Missing(reason)
        # XLA leaves negative numbers where it does not know
        return Measured(value) if value >= 0 else Missing(f"the cost analysis says {value:g}")

    return CostFigures(
        flops=figure("flops"),
        bytes_accessed=figure("bytes accessed"),
        # absent where the program has none
        transcendentals=Measured(0.0)
        if cost and "transcendentals" not in cost
        else figure("transcendentals"),
        optimal_seconds=figure("optimal_seconds"),
        source="cost_analysis",
    )


def entry_layouts(module: Module) -> Layouts:
    """The layout of each argument of the entry and of each element of the root."""
    if module.entry is None:
        return Layouts(inputs=(), outputs=())
    entry = module.computations[module.entry]
    root = entry.instructions[entry.root].shape
    results = root.elements if root.dtype == "tuple" else (root,)
    return Layouts(
        inputs=tuple(layout_text(each.shape) for each in hlo.entry_arguments(module)),
        outputs=tuple(layout_text(shape) for shape in results),
    )


def layout_text(shape: Shape) -> str:
    """A layout as HLO text writes it, `{1,0:T(8,128)(2,1)S(5)}`."""
    layout = shape.layout
    if layout is None:
        return ""
    order = ",".join(map(str, layout.minor_to_major))
    tiles = "".join(
        f"({','.join('*' if n < 0 else str(n) for n in tile)})" for tile in layout.tiles
    )
    space = f"S({layout.memory_space})" if layout.memory_space else ""
    rest = (f"T{tiles}" if tiles else "") + layout.rest + space
    return f"{{{order}:{rest}}}" if rest else f"{{{order}}}"
