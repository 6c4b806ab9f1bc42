"""Compiling a capture's program again, as it is or edited, without the user's code."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hloscope.capture.assemble import assemble, refresh
from hloscope.capture.child import Child
from hloscope.capture.failures import folder_trouble
from hloscope.capture.identity import is_steering, recompile_key
from hloscope.capture.messages import Lowered, Recompile, Request
from hloscope.capture.provenance import installed
from hloscope.capture.scrub import this_identity
from hloscope.capture.session import Session
from hloscope.capture.taking import Options, import_path
from hloscope.capture.targets import child_environment, parse_target, require_toolchain
from hloscope.capture.targets.toolchain import toolchain
from hloscope.model.capture import Capture, PayloadName

# what decides how a module is compiled
_COMPILERS = ("jax", "jaxlib")
DEFAULT = Options()


def recapture(
    capture: Capture,
    *,
    name: str,
    stablehlo: bytes | None = None,
    compile_options: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    options: Options = DEFAULT,
) -> Capture:
    """Compiles a capture's program for its target, with the toolchain that is installed.

    Args:
      capture: holds what is compiled; the records of its leaves are those of the result.
      name: what reports call the result.
      stablehlo: MLIR bytecode of another module; the capture's own by default.
      compile_options: a serialized `CompileOptionsProto`; the capture's own by default.
      environment: variables that steer JAX or XLA; those of the capture by default.
      options: how it is taken; XLA flags are those of `compile_options`.

    Raises:
      HloscopeError: the toolchain is missing, or the compiler refuses the module or dies.
    """
    target = parse_target(capture.target)
    require_toolchain(target.chip.platform, target.spec)
    steering = capture.provenance.environment if environment is None else environment
    request = Request(
        program=name,
        pickled=False,
        target=capture.target,
        depth=options.depth,
        xla_flags={},
        path=import_path(),
        source_prefixes="",
        recompile=Recompile(
            stablehlo=stablehlo or capture.payloads[PayloadName.STABLEHLO],
            options=compile_options or capture.payloads[PayloadName.COMPILE_OPTIONS],
            known=_known(capture),
        ),
    )
    try:
        with Child() as child:
            return _compile(child, request, target.chip.platform, steering, options)
    except OSError as error:
        raise folder_trouble(error) from error


def _compile(
    child: Child, request: Request, platform: str, steering: Mapping[str, str], options: Options
) -> Capture:
    session = Session(
        child,
        request,
        platform=platform,
        timeout=options.timeout,
        tell=options.progress,
        cancelled=options.cancelled,
    )
    kept = {name: value for name, value in os.environ.items() if not is_steering(name)}
    inherited = {**kept, **steering}
    overrides = child_environment(parse_target(request.target), inherited)
    lowered, stablehlo = session.lower(None, {**inherited, **overrides})
    identity = this_identity(os.environ)
    if options.cache is None:
        return assemble(session.compile(lowered), request, steering, identity)
    key = recompile_key(request, lowered, stablehlo, steering)
    with options.cache.alone(key, session.wait):
        if (found := options.cache.find(key, request.depth)) is not None:
            return refresh(found, lowered, request, identity)
        capture = assemble(session.compile(lowered), request, steering, identity)
        options.cache.keep(capture, key)
    return capture


def _known(capture: Capture) -> Lowered:
    provenance = capture.provenance
    return Lowered(
        module="",
        inputs=capture.inputs,
        outputs=capture.outputs,
        devices=(),
        jit_options=provenance.compile_options,
        versions=provenance.versions,
        jax_config=provenance.jax_config,
        ambient_mesh=provenance.ambient_mesh,
        ambient_mesh_from=provenance.ambient_mesh_from,
        axis_rules=provenance.axis_rules,
        warnings=(),
        git_revision=provenance.git_revision,
        git_dirty=provenance.git_dirty,
        options=provenance.options,
        seconds={},
    )


def other_toolchain(capture: Capture) -> tuple[str, ...]:
    """How the compiler that is installed differs from the one that made a capture.

    One text for each package, `jaxlib 0.10.2 -> 0.12.0.1`; empty where they are the same.
    """
    platform = parse_target(capture.target).chip.platform
    here = {**installed(_COMPILERS), **toolchain(platform).versions}
    there = capture.provenance.versions
    return tuple(
        f"{name} {there.get(name, 'none')} -> {here[name]}"
        for name in sorted(here)
        if there.get(name) != here[name]
    )
