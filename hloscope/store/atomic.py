"""Writing a file so that it is whole or absent."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from hloscope.errors import HloscopeError

_NO_UNNAMED_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Calls `write` with an open file that takes the place of `path` once it is complete.

    Where the file system can, the file has no name until then, so that even a killed process
    leaves nothing behind.

    Raises:
      HloscopeError: the file cannot be written (no space, no permission, no such folder).
    """
    try:
        with _unfinished(path) as (file, publish):
            write(file)
            file.flush()
            os.fsync(file.fileno())
            publish()
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: Path, error: OSError) -> HloscopeError:
    remedy = "write to another place"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "free space there, or write to another disk"
    elif error.errno == errno.ENOENT:
        remedy = f"make the folder first: mkdir -p {path.parent}"
    reason = (error.strerror or str(error)).lower()
    return HloscopeError(f"cannot write '{path}': {reason}", remedy=remedy)


@contextlib.contextmanager
def _unfinished(path: Path) -> Iterator[tuple[BinaryIO, Callable[[], object]]]:
    """Yields an open file and what gives it the name `path`; without that call it vanishes."""
    descriptor = _open_unnamed(path.parent)
    if descriptor is not None:
        with os.fdopen(descriptor, "w+b") as file:
            yield file, lambda: _name(file.fileno(), path)
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    named = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file, lambda: named.replace(path)
    finally:
        named.unlink(missing_ok=True)


def _open_unnamed(folder: Path) -> int | None:
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None
    try:
        return os.open(folder, flag | os.O_RDWR | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in _NO_UNNAMED_FILES and folder.is_dir():
            return None
        raise


def _name(descriptor: int, path: Path) -> None:
    """Links an unnamed file as `path`; a link cannot replace, so a name in between is needed."""
    between = path.with_name(f".{path.name}.{os.getpid()}.{descriptor}")
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # naming a folder's descriptor makes Python use linkat, which follows the /proc link
        os.link(f"/proc/self/fd/{descriptor}", between.name, src_dir_fd=folder, dst_dir_fd=folder)
        between.replace(path)
        os.fsync(folder)
    finally:
        between.unlink(missing_ok=True)
        os.close(folder)
