"""Taking a capture: from the cache, or by compiling in a child process."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hloscope.capture.assemble import assemble, refresh
from hloscope.capture.child import Child
from hloscope.capture.environments import Environment, Making, make_environment
from hloscope.capture.failures import folder_trouble
from hloscope.capture.identity import (
    CaptureCache,
    reference_key,
    revision_key,
    steering,
    traced_key,
)
from hloscope.capture.messages import Request
from hloscope.capture.origin import Origin
from hloscope.capture.program_loading import check_spec, is_reference
from hloscope.capture.revisions import Revision, find_revision, split_revision
from hloscope.capture.scrub import source_prefixes, this_identity
from hloscope.capture.session import Progress, Session
from hloscope.capture.targets import child_environment, parse_target, require_toolchain
from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture, Depth
from hloscope.model.program import Program
from hloscope.model.target import Target

_DUMP_FLAG = "xla_dump_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a capture is taken.

    Attributes:
      xla_flags: XLA's compile options by name, without dashes.
      timeout: seconds that the whole may take, `None` for no limit.
      cache: where captures may come from and go to, `None` for nowhere.
      packages: requirements, `jax==0.11.2`, for a capture by other tools than this process's.
      progress: told each step's name as it begins.
      cancelled: once set, the capture ends with an error; for a capture outside the main thread,
        which Ctrl-C does not reach.
    """

    depth: Depth = Depth.HLO
    xla_flags: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    cache: CaptureCache | None = None
    packages: tuple[str, ...] = ()
    progress: Progress = lambda _: None
    cancelled: threading.Event = field(default_factory=threading.Event)


def capture_spec(spec: str, target: Target | str, **options: Any) -> Capture:
    """Captures the program that a spec names.

    Args:
      spec: `gpt3-6b:nnx?layers=4` or `package.module:factory?option=value`; with `@REV` at the
        end, that program as it is at a revision of the current folder's repository.
      target: what to compile for, `tpu:v5p:2x2x2`.
      options: fields of `Options`.

    Raises:
      HloscopeError: the target, the program or the revision does not exist, the program does not
        trace, the compiler refuses it for another reason than memory, dies, or takes too long.
    """
    program, name = split_revision(spec)
    revision = None if name is None else find_revision(name, where=spec)
    taking = _taking(target, Options(**options), revision)
    if revision is None:
        check_spec(program)
    reference = revision is None and is_reference(program)
    path = import_path() if reference else (str(Path.cwd()), *import_path(), *_sources_folder())
    request = taking.request(spec, tuple(dict.fromkeys(path)), pickled=False)
    return taking.take(request, None, taking.quick_key(request) if revision or reference else None)


def capture_function(
    function: Callable[..., Any] | Program,
    *args: Any,
    target: Target | str,
    kwargs: Mapping[str, Any] | None = None,
    jit_options: Mapping[str, Any] | None = None,
    context: Callable[[], AbstractContextManager[Any]] = nullcontext,
    name: str = "",
    **options: Any,
) -> Capture:
    """Captures a function, jitted or not, as called with `args` and `kwargs`.

    Arrays may be given as `jax.ShapeDtypeStruct`; of others only shape, dtype and `NamedSharding`
    count. Meshes and shardings over this process's devices are rebuilt over the target's devices
    of the same ids, abstract meshes over the first of the target's. Arguments without a sharding
    go where JAX would put them: beside those that have one, else on the target's first device.

    Args:
      function: what to compile; a `Program` brings its own arguments.
      args: positional arguments.
      target: what to compile for.
      kwargs: keyword arguments.
      jit_options: keyword arguments of `jax.jit`, for a function that is not jitted.
      context: makes the context to trace under, a mesh say.
      name: what reports call the program; the function's own name by default.
      options: fields of `Options`.

    Raises:
      HloscopeError: as `capture_spec`, or the function cannot be sent to the compiler process.
    """
    program = function
    if not isinstance(program, Program):
        program = Program(
            function=function,  # type: ignore[arg-type]  # it is no Program
            args=args,
            kwargs=kwargs or {},
            jit_options=jit_options or {},
            context=context,
        )
    named = replace(program, name=name or program.name or _name_of(program.function))
    taking = _taking(target, Options(**options))
    # JAX is loaded where there is a function to capture, and not before
    from hloscope.capture.pickling import dump_program

    request = taking.request(named.name, import_path(), pickled=True)
    return taking.take(request, dump_program(named), None)


def _name_of(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taking:
    """A capture about to be taken.

    Attributes:
      overrides: environment variables that the target needs.
      environment: the user's variables that steer JAX or XLA.
    """

    target: Target
    options: Options
    overrides: Mapping[str, str]
    environment: Mapping[str, str]
    origin: Origin

    def quick_key(self, request: Request) -> str | None:
        """Key of a reference program or a revision, `None` where only a trace tells."""
        platform = self.target.chip.platform
        origin = self.origin
        if origin.revision is None:
            return reference_key(request, self.environment, platform, origin.packages)
        return revision_key(request, origin.revision, self.environment, platform, origin.packages)

    def request(self, program: str, path: tuple[str, ...], *, pickled: bool) -> Request:
        return Request(
            program=program,
            pickled=pickled,
            target=self.target.spec,
            depth=self.options.depth,
            xla_flags={
                name: str(self.options.xla_flags[name]) for name in sorted(self.options.xla_flags)
            },
            path=path,
            source_prefixes=source_prefixes(path, this_identity(os.environ)),
        )

    def take(self, request: Request, program: bytes | None, quick_key: str | None) -> Capture:
        """Takes the capture.

        Args:
          request: what to capture.
          program: the pickled program, `None` where the request has its spec.
          quick_key: key that is known before tracing, `None` for none.
        """
        cache = self.options.cache
        if cache is not None and quick_key is not None:
            found = cache.find(quick_key, request.depth)
            if found is not None:
                return self._named(found, request)
        try:
            with Child() as child:
                key, capture = self._placed(child, request, program)
        except OSError as error:
            raise folder_trouble(error) from error
        if cache is not None and quick_key is not None:
            cache.alias(quick_key, key)
        return self.origin.finish(capture)

    def _named(self, found: Capture, request: Request) -> Capture:
        """A cached capture under the name and revision that it is asked for by."""
        revision = self.origin.revision
        if revision is not None:
            provenance = replace(found.provenance, git_revision=revision.commit, git_dirty=False)
            found = replace(found, provenance=provenance)
        return self.origin.finish(replace(found, program=request.program))

    def _placed(self, child: Child, request: Request, program: bytes | None) -> tuple[str, Capture]:
        try:
            return self._compile(child, self.origin.place(request, child.folder), program)
        except HloscopeError as error:
            raise self.origin.name_places(error, child.folder) from error

    def _compile(
        self, child: Child, request: Request, program: bytes | None
    ) -> tuple[str, Capture]:
        session = Session(
            child,
            request,
            platform=self.target.chip.platform,
            timeout=self.options.timeout,
            tell=self.options.progress,
            cancelled=self.options.cancelled,
        )
        lowered, stablehlo = session.lower(
            program,
            {**os.environ, **self.overrides},
            python=self.origin.python,
            remove=self.origin.leaves(child.folder),
        )
        key = traced_key(request, lowered, stablehlo, self.environment)
        identity = this_identity(os.environ)
        cache = self.options.cache
        if cache is None:
            outcome = session.compile(lowered)
            return key, assemble(outcome, request, self.environment, identity)
        with cache.alone(key, session.wait):
            if (found := cache.find(key, request.depth)) is not None:
                return key, refresh(found, lowered, request, identity)
            outcome = session.compile(lowered)
            capture = assemble(outcome, request, self.environment, identity)
            cache.keep(capture, key)
        return key, capture


def _taking(target: Target | str, options: Options, revision: Revision | None = None) -> _Taking:
    target = parse_target(target) if isinstance(target, str) else target
    if not options.packages:  # which may bring one
        require_toolchain(target.chip.platform, target.spec)
    for flag in sorted(options.xla_flags):
        if flag.startswith(_DUMP_FLAG):
            raise HloscopeError(
                f"XLA flag '{flag}' is hloscope's own to set",
                remedy="--depth passes keeps the module after every pass",
            )
    overrides = child_environment(target, os.environ)
    return _Taking(
        target=target,
        options=options,
        overrides=overrides,
        environment=steering(overrides),
        origin=Origin(revision=revision, environment=_environment(target, options)),
    )


def _environment(target: Target, options: Options) -> Environment | None:
    if not options.packages:
        return None
    from hloscope.store import user_cache

    making = Making(
        folder=user_cache().environments,
        progress=options.progress,
        cancelled=options.cancelled,
    )
    return make_environment(options.packages, target.chip.platform, making)


def _sources_folder() -> tuple[str, ...]:
    """The `src` of a project's folder, for a package that is not installed from there."""
    folder = Path.cwd() / "src"
    return (str(folder),) if folder.is_dir() else ()


def import_path() -> tuple[str, ...]:
    """The folders that this process imports from, absolute."""
    return tuple(dict.fromkeys(str(Path(entry).absolute()) for entry in sys.path))
