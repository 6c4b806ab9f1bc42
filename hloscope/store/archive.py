"""The capture file: a zip of a readable manifest with its payloads."""

from __future__ import annotations

import hashlib
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from hloscope.errors import HloscopeError
from hloscope.model.capture import SCHEMA, Capture
from hloscope.store.atomic import write_atomically
from hloscope.store.records import RecordError, from_json, to_json

MANIFEST = "manifest.json"

# Protobuf refuses messages from 2 GiB on, so no payload can be larger; this also bounds what a
# hostile zip can make us allocate.
MAX_PAYLOAD = 2**31 - 1
# 100,000 leaves take about 30 MB
MAX_MANIFEST = 2**28

_ZIP_MAGIC = b"PK\x03\x04"
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can hold
# deflate's fastest: higher levels save little on HLO protos for several times the time
_LEVEL = 1


def write(capture: Capture, path: Path) -> None:
    """Writes a capture, atomically. The same capture gives the same bytes.

    Raises:
      HloscopeError: the file cannot be written.
    """
    write_atomically(path, lambda file: write_to(capture, file))


def manifest(capture: Capture) -> dict[str, Any]:
    """The JSON object that describes a capture: its records, with sizes and hashes of payloads."""
    described: dict[str, Any] = to_json(replace(capture, payloads={}))
    described["payloads"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in sorted(capture.payloads.items())
    }
    return described


def write_to(capture: Capture, file: BinaryIO, *, small: bool = False) -> None:
    """Writes a capture to an open file; `small` is half the size for ten times the time."""
    method = zipfile.ZIP_LZMA if small else zipfile.ZIP_DEFLATED
    payloads = {name: capture.payloads[name] for name in sorted(capture.payloads)}
    text = json.dumps(manifest(capture), indent=1, ensure_ascii=False) + "\n"
    with zipfile.ZipFile(file, "w", method, compresslevel=_LEVEL) as archive:
        for name, data in {MANIFEST: text.encode(), **payloads}.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = method
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)


def is_capture(path: Path) -> bool:
    """Whether a file looks like a capture: it begins like a zip, as no HLO file does."""
    try:
        with path.open("rb") as file:
            return file.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC
    except OSError:
        return False


def read(path: Path) -> Capture:
    """Reads a capture's manifest; payloads are read, and checked, when they are asked for.

    Raises:
      HloscopeError: no such file, not a capture, damaged, or of a later schema.
    """
    described = _read_manifest(path)
    schema = described.get("schema")
    if type(schema) is not int or schema < 1:
        raise _damaged(path, f"schema {schema!r} is not a positive number")
    if schema > SCHEMA:
        raise HloscopeError(
            f"capture of schema {schema}; this hloscope reads up to {SCHEMA}",
            where=str(path),
            remedy="pip install --upgrade hloscope",
        )
    try:
        listed = from_json(dict[str, _Listed], described.pop("payloads", None), "$.payloads")
        capture = from_json(Capture, {**described, "payloads": {}})
    except RecordError as error:
        raise _damaged(path, f"{MANIFEST}: {error}") from error
    return replace(capture, payloads=_Payloads(path, listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """What the manifest says of a payload."""

    bytes: int
    sha256: str


class _Payloads(Mapping[str, bytes]):
    """Payloads of a file; each look-up opens the file anew, so no handle stays open."""

    def __init__(self, path: Path, listed: Mapping[str, _Listed]) -> None:
        self._path = path
        self._listed = listed

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def __contains__(self, name: object) -> bool:
        return name in self._listed

    def __repr__(self) -> str:
        return f"<{len(self)} payloads of {self._path.name}>"

    def __getitem__(self, name: str) -> bytes:
        listed = self._listed[name]
        data = _read_entry(self._path, name, limit=min(listed.bytes, MAX_PAYLOAD))
        if hashlib.sha256(data).hexdigest() != listed.sha256:
            raise _damaged(self._path, f"'{name}' is not what the manifest says")
        return data


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        described = json.loads(_read_entry(path, MANIFEST, limit=MAX_MANIFEST))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"{MANIFEST} is not JSON") from error
    if not isinstance(described, dict):
        raise _damaged(path, f"{MANIFEST} is not an object")
    return described


def _read_entry(path: Path, name: str, *, limit: int) -> bytes:
    """One entry of the zip, of at most `limit` bytes.

    The zip's own directory says the size before anything is inflated, and inflating stops there.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(name)
            if entry.file_size > limit:
                raise _damaged(path, f"'{name}' is {entry.file_size} bytes, over {limit}")
            return archive.read(entry)
    except KeyError as error:
        raise _damaged(path, f"it has no '{name}'") from error
    except _DAMAGE as error:
        raise _damaged(path, str(error).lower() or "it is cut off") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise HloscopeError(f"cannot read '{path}': {reason}") from error


def _damaged(path: Path, reason: str) -> HloscopeError:
    return HloscopeError(
        f"not a whole capture file: {reason}",
        where=str(path),
        remedy="capture the program again: hloscope capture PROGRAM --target TARGET -o FILE",
    )
