"""Bytes of a file, and what they are."""

from __future__ import annotations

import gzip
import re
import zlib
from enum import Enum
from pathlib import Path

from hloscope.errors import HloscopeError

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_MLIR = b"ML\xefR"  # MLIR bytecode
_MAX_BYTES = 8 << 30  # an unpacked file beyond this is a mistake or an attack
_HEAD = 1 << 16
_HLO_TEXT = re.compile(r"\bHloModule\b|^[ \t]*(?:ENTRY\b|%?[\w.\-]+[^\n]*\{[ \t]*$)", re.MULTILINE)
_MLIR_TEXT = re.compile(r"^\s*(?:#\w+ = |module\b|func\.func\b|\"builtin\.module\")", re.MULTILINE)
_TEXT_PROTO = re.compile(
    r"^\s*(?:hlo_module\s*\{|(?:name|entry_computation_name):\s*\"|computations\s*\{)"
)


class Kind(Enum):
    """What a file holds."""

    TEXT = "text"
    BINARY = "binary"


def read(path: Path) -> bytes:
    """A file's bytes, unpacked where they are gzipped.

    Raises:
      HloscopeError: the file cannot be read, or its compression is damaged.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HloscopeError(
            f"cannot read '{path}': {error.strerror or error}", where=str(path)
        ) from None
    if not data:
        raise HloscopeError("the file is empty", where=str(path), remedy="write it again")
    return _unpacked(data, path) if data.startswith(_GZIP) else data


def _unpacked(data: bytes, path: Path) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(data, _MAX_BYTES)
        if unpacker.unconsumed_tail:
            raise HloscopeError(
                "the file is larger than 8 GiB once unpacked", where=str(path), remedy="unpack it"
            )
        return unpacked if unpacker.eof and not unpacker.unused_data else gzip.decompress(data)
    except (zlib.error, EOFError, OSError) as error:
        raise HloscopeError(
            f"the file's gzip compression is damaged: {error}",
            where=str(path),
            remedy="copy the file again",
        ) from None


def kind(data: bytes, path: Path) -> Kind:
    """Whether `data` is HLO text, or a protobuf message of some kind.

    Raises:
      HloscopeError: it is something else that can be named.
    """
    where = str(path)
    if data.startswith(_ZIP):
        raise HloscopeError(
            "this zip file is no capture",
            where=where,
            remedy="unpack it, or give a file that 'hloscope capture' wrote",
        )
    if data.startswith(_MLIR):
        raise _stablehlo("MLIR bytecode", where)
    head = data[:_HEAD].decode("utf-8", "replace")
    if "\x00" in head or head.count("\ufffd") > 8 + len(head) // 10:
        return Kind.BINARY
    if b"HloModule" in data[:_HEAD] and not path.name.endswith(".pb"):
        return Kind.TEXT
    if _TEXT_PROTO.match(head):
        raise HloscopeError(
            "text protos are not read",
            where=where,
            remedy="dump with --xla_dump_hlo_as_proto or --xla_dump_hlo_as_text instead",
        )
    if path.name.endswith(".pb"):
        return Kind.BINARY
    if b"HloModule" not in data and _MLIR_TEXT.match(head):
        raise _stablehlo("MLIR text", where)
    if b"HloModule" in data or _HLO_TEXT.search(head):
        return Kind.TEXT
    if any(ord(c) < 32 and c not in "\t\n\r\f" for c in head):
        return Kind.BINARY
    raise HloscopeError(
        "this text holds no HLO",
        where=where,
        remedy="give text that XLA prints, which begins with 'HloModule NAME'",
    )


def _stablehlo(what: str, where: str) -> HloscopeError:
    return HloscopeError(
        f"this is {what} (StableHLO), which is not read by itself",
        where=where,
        remedy="give the HLO that XLA dumps, or a capture of the program",
    )
