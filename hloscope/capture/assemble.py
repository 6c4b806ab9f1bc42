"""A compile's outcome as a capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hloscope import hlo
from hloscope.capture.figures import cost_figures, entry_layouts, memory_figures
from hloscope.capture.messages import Compiled, Lowered, Request
from hloscope.capture.out_of_memory import out_of_memory
from hloscope.capture.scrub import Identity, scrub_bytes, scrub_text
from hloscope.capture.session import Outcome
from hloscope.model.capture import (
    SCHEMA,
    Capture,
    Depth,
    Leaf,
    OutOfMemory,
    PayloadName,
    Provenance,
)
from hloscope.model.units import Seconds


def assemble(
    outcome: Outcome, request: Request, environment: Mapping[str, str], identity: Identity
) -> Capture:
    """The capture of an outcome, without the names that `identity` holds.

    Args:
      outcome: what the compile left.
      request: what was asked for.
      environment: variables that steer JAX or XLA, as the user set them.
      identity: user and machine.
    """
    payloads = {name: scrub_bytes(data, identity) for name, data in outcome.payloads.items()}
    # at other depths the compile may or may not reach its end before it is stopped
    finished = outcome.compiled if request.depth is Depth.FULL else None
    optimized = payloads[PayloadName.OPTIMIZED]
    module = hlo.read_proto(optimized)
    layouts = entry_layouts(module)
    return Capture(
        schema=SCHEMA,
        program=scrub_text(request.program, identity),
        target=request.target,
        depth=request.depth,
        inputs=_with_layouts(outcome.lowered.inputs, layouts.inputs),
        outputs=_with_layouts(outcome.lowered.outputs, layouts.outputs),
        memory=memory_figures(
            finished,
            hlo.read_buffers(optimized),
            module,
            outcome.lowered.versions.get("libtpu"),
        ),
        cost=cost_figures(finished, request.depth),
        provenance=_provenance(outcome, finished, request, environment, identity),
        out_of_memory=_refusal(outcome.compiled, payloads, identity),
        payloads=payloads,
    )


def refresh(found: Capture, lowered: Lowered, request: Request, identity: Identity) -> Capture:
    """A cached capture of the same compile, under the name and revision that it has now."""
    provenance = replace(
        found.provenance,
        git_revision=lowered.git_revision,
        git_dirty=lowered.git_dirty,
        options=_scrubbed(lowered.options, identity),
    )
    return replace(found, program=scrub_text(request.program, identity), provenance=provenance)


def _with_layouts(leaves: tuple[Leaf, ...], layouts: tuple[str, ...]) -> tuple[Leaf, ...]:
    """Leaves with the layout that the compiler gave each, which follows any demanded one."""
    return tuple(
        leaf
        if leaf.parameter is None or leaf.parameter >= len(layouts)
        else replace(leaf, layout=layouts[leaf.parameter] or leaf.layout)
        for leaf in leaves
    )


def _refusal(
    compiled: Compiled | None, payloads: Mapping[str, bytes], identity: Identity
) -> OutOfMemory | None:
    if compiled is None or compiled.out_of_memory is None:
        return None
    report = payloads.get(PayloadName.MEMORY_REPORT, b"").decode(errors="replace")
    return out_of_memory(scrub_text(compiled.out_of_memory, identity), report)


def _provenance(
    outcome: Outcome,
    finished: Compiled | None,
    request: Request,
    environment: Mapping[str, str],
    identity: Identity,
) -> Provenance:
    lowered = outcome.lowered
    said = (*lowered.warnings, *(finished.warnings if finished else ()), *outcome.warnings)
    return Provenance(
        versions=lowered.versions,
        compile_options=_scrubbed({**lowered.jit_options, **request.xla_flags}, identity),
        environment=_scrubbed(environment, identity),
        jax_config=_scrubbed(lowered.jax_config, identity),
        ambient_mesh=lowered.ambient_mesh,
        ambient_mesh_from=lowered.ambient_mesh_from,
        axis_rules=lowered.axis_rules,
        warnings=tuple(dict.fromkeys(scrub_text(text, identity) for text in said)),
        git_revision=lowered.git_revision,
        git_dirty=lowered.git_dirty,
        options=_scrubbed(lowered.options, identity),
        seconds={name: Seconds(value) for name, value in outcome.seconds.items()},
        peak_memory=outcome.peak_memory,
    )


def _scrubbed(values: Mapping[str, str], identity: Identity) -> dict[str, str]:
    return {name: scrub_text(value, identity) for name, value in values.items()}
