"""One path that a user names, to a side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hloscope.errors import HloscopeError
from hloscope.hlo import read_buffers, read_proto, read_text
from hloscope.model.source import Source, SourceKind
from hloscope.sources.choice import Candidate, choose, numbered
from hloscope.sources.content import Kind, kind, read
from hloscope.sources.dumps import Dump, find_dumps
from hloscope.sources.profiles import find_profile, is_profile, open_profile


def open_file(path: Path | str, *, module: str | None = None) -> Source:
    """Opens HLO text, an HLO proto, a profile, or a folder of dumps or of a profile.

    Files may be gzipped. Captures are `hloscope.store`'s business: see `from_capture`.

    Args:
      path: the file or folder.
      module: which module, where there are several.

    Raises:
      HloscopeError: there is nothing to read at `path`, it is damaged, or several modules could be
        meant; it names the file.
    """
    path = Path(path)
    if not path.exists():
        raise HloscopeError(f"no file '{path}'", where=str(path), remedy="check the path")
    return _folder(path, module) if path.is_dir() else _file(path, module)


def _file(path: Path, wanted: str | None) -> Source:
    data = read(path)
    try:
        if kind(data, path) is Kind.TEXT:
            return _text(path, data, wanted)
        return _binary(path, data, wanted)
    except HloscopeError as error:
        raise _placed(error, path) from None


def _text(path: Path, data: bytes, wanted: str | None) -> Source:
    modules = read_text(data.decode("utf-8", "surrogateescape"))
    names = numbered([m.name or "unnamed" for m in modules])
    candidates = [
        Candidate(name, m.instruction_count, f"{m.instruction_count} instructions")
        for name, m in zip(names, modules, strict=True)
    ]
    number, note = choose(candidates, wanted, str(path))
    module = modules[number]
    if not module.computations:
        raise HloscopeError(
            f"module '{names[number]}' holds no computation", remedy="--module with another name"
        )
    return Source(
        label=str(path),
        kind=SourceKind.TEXT,
        module=module,
        notes=(note,) if note else (),
    )


def _binary(path: Path, data: bytes, wanted: str | None) -> Source:
    if path.name.removesuffix(".gz").endswith(".xplane.pb"):
        return open_profile(path, data, wanted)
    try:
        found = read_proto(data)
    except HloscopeError:
        if is_profile(data):
            return open_profile(path, data, wanted)
        raise
    if wanted is not None:
        choose([Candidate(found.name, 1, f"{found.instruction_count} instructions")], wanted, "")
    return Source(
        label=str(path),
        kind=SourceKind.PROTO,
        module=found,
        buffers=read_buffers(data),
        proto=data,
    )


def _folder(path: Path, wanted: str | None) -> Source:
    profile = find_profile(path)
    if profile is not None:
        source = _file(profile.path, wanted)
        return replace(source, label=str(path), notes=(*source.notes, *profile.notes))
    dumps = find_dumps(path)
    if not dumps:
        raise HloscopeError(
            f"folder '{path}' holds neither XLA dumps nor a profile",
            where=str(path),
            remedy="give a folder that --xla_dump_to or jax.profiler wrote to",
        )
    names = numbered([dump.name for dump in dumps])
    candidates = [
        Candidate(name, dump.size, f"{dump.size:,} bytes")
        for name, dump in zip(names, dumps, strict=True)
    ]
    number, note = choose(candidates, wanted, str(path))
    return _dump(path, dumps[number], (note,) if note else ())


def _dump(folder: Path, dump: Dump, notes: tuple[str, ...]) -> Source:
    optimized = _file(dump.optimized, None) if dump.optimized else None
    before = _file(dump.before, None) if dump.before else None
    main = optimized or before
    assert main is not None  # noqa: S101 - a dump has one of the two
    if optimized is None:
        notes = (*notes, "there is no optimized module: this is the one before optimization")
    return Source(
        label=str(folder),
        kind=SourceKind.DUMP,
        module=main.module,
        before=before.module if before and optimized else None,
        buffers=main.buffers,
        proto=main.proto,
        notes=(*notes, *dump.notes),
    )


def _placed(error: HloscopeError, path: Path) -> HloscopeError:
    """The error with the file in its place."""
    where = str(path)
    if error.where and error.where != where:
        where = f"{path}: {error.where}"
    return HloscopeError(error.problem, where=where, remedy=error.remedy)
