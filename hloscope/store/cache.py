"""The user's cache of captures, addressed by what was compiled."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture, Depth
from hloscope.store.archive import read, write
from hloscope.store.atomic import write_atomically

_LOCK_DIGITS = 2

_LOG = logging.getLogger(__name__)

# Which captures answer a request: itself first, then deeper ones that hold all that it asks for.
_SERVED_BY = {
    Depth.HLO: (Depth.HLO, Depth.FULL, Depth.PASSES),
    Depth.FULL: (Depth.FULL,),
    Depth.PASSES: (Depth.PASSES,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """One cached capture; `size` in bytes."""

    key: str
    program: str
    target: str
    depth: Depth
    size: int


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of captures.

    A capture lies under the key of what was compiled. A request that can be told apart before
    anything is traced has a key of its own, an alias of the first.
    """

    folder: Path

    def find(self, key: str, depth: Depth) -> Capture | None:
        """The capture kept under `key` or its alias that has all that `depth` asks for."""
        for path in self._candidates(self._resolve(key), depth):
            if path.is_file() and (capture := self._whole(path)) is not None:
                return capture
        return None

    def keep(self, capture: Capture, key: str) -> None:
        """Keeps a capture; where that fails (no space, say) it is logged and nothing is kept."""
        self._guarded(lambda: write(capture, self._path(key, capture.depth)))

    def alias(self, alias: str, key: str) -> None:
        """Makes `find(alias)` look under `key`."""
        content = key.encode()
        path = self._alias(alias)
        self._guarded(lambda: write_atomically(path, lambda file: file.write(content)))

    @contextmanager
    def alone(self, key: str, waiting: Callable[[], object]) -> Iterator[None]:
        """Keeps others, in whatever process, from the same block for the same key.

        Args:
          key: what the block is about to compile.
          waiting: called over and over while another has the block; may raise to give up.
        """
        with self._lock_file(key) as descriptor:
            while descriptor is not None and not _locked(descriptor):
                waiting()
            yield

    @contextmanager
    def _lock_file(self, key: str) -> Iterator[int | None]:
        """An open lock file; `None` where the folder cannot be written, nor anything be kept."""
        # few names, so that locks do not pile up; two keys that share one wait for each other
        path = self.folder / f"{key[:_LOCK_DIGITS]}.lock"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)  # and with it the lock

    def entries(self) -> tuple[CacheEntry, ...]:
        """Everything kept, sorted by program, target, depth."""
        entries = sorted(self._entries(), key=lambda e: (e.program, e.target, e.depth, e.key))
        return tuple(entries)

    def clear(self) -> tuple[int, int]:
        """Removes everything kept; the number of captures and of bytes that went."""
        count = size = 0
        # losing its lock costs a running capture nothing but the company of a second one
        for path in (f for end in ("hloscope", "alias", "lock") for f in self._files(f"*.{end}")):
            if path.suffix == ".hloscope":
                count += 1
                size += path.stat().st_size
            path.unlink(missing_ok=True)
        return count, size

    def clear_environments(self) -> int:
        """Removes the Python environments that lie beside the captures; their number."""
        found = [path for path in self.environments.glob("*") if path.is_dir()]
        for path in found:
            shutil.rmtree(path, ignore_errors=True)
        return len(found)

    @property
    def environments(self) -> Path:
        """Where Python environments with other packages are kept."""
        return self.folder / "environments"

    def _whole(self, path: Path) -> Capture | None:
        try:
            capture = read(path)
            # in memory, so that another process clearing the cache takes nothing away from us
            return replace(capture, payloads=dict(capture.payloads))
        except HloscopeError as error:
            _LOG.warning("cached capture dropped: %s", error.problem)
            path.unlink(missing_ok=True)
            return None

    def _entries(self) -> Iterator[CacheEntry]:
        for path in self._files("*.hloscope"):
            try:
                capture = read(path)
                size = path.stat().st_size
            except (HloscopeError, FileNotFoundError):
                continue  # `find` reports and drops it; another process may have
            yield CacheEntry(
                key=path.name.split(".")[0],
                program=capture.program,
                target=capture.target,
                depth=capture.depth,
                size=size,
            )

    def _files(self, pattern: str) -> list[Path]:
        return sorted(path for path in self.folder.glob(pattern) if path.is_file())

    def _candidates(self, key: str, depth: Depth) -> Iterator[Path]:
        return (self._path(key, served_by) for served_by in _SERVED_BY[depth])

    def _resolve(self, key: str) -> str:
        try:
            return self._alias(key).read_text("ascii")
        except (OSError, UnicodeDecodeError):
            return key

    def _path(self, key: str, depth: Depth) -> Path:
        return self.folder / f"{key}.{depth}.hloscope"

    def _alias(self, alias: str) -> Path:
        return self.folder / f"{alias}.alias"

    def _guarded(self, write_to_folder: Callable[[], None]) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_to_folder()
        except HloscopeError as error:
            _LOG.warning("capture not cached: %s", error.problem)
        except OSError as error:
            _LOG.warning("capture not cached: %s: %s", self.folder, error.strerror)


def _locked(descriptor: int) -> bool:
    """Whether the lock is ours now; the kernel takes it back from a process that dies."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def user_cache() -> Cache:
    """The cache of `$HLOSCOPE_CACHE_DIR`, else of the platform's user cache folder."""
    if folder := os.environ.get("HLOSCOPE_CACHE_DIR"):
        return Cache(Path(folder).absolute())
    from platformdirs import user_cache_path

    return Cache(user_cache_path("hloscope"))
