"""Files under a root that is a folder here or a URL."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from hloscope.errors import HloscopeError
from hloscope.store.atomic import write_atomically

# the package that gives a protocol its file system, and what it needs to be let in
_PACKAGES = {
    "gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs", "az": "adlfs", "abfs": "adlfs",
    "hf": "huggingface_hub",
}  # fmt: skip
_GOOGLE = "gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS=KEY.json"
_CREDENTIALS = {"gs": _GOOGLE, "gcs": _GOOGLE, "s3": "aws configure, or AWS_PROFILE=NAME"}


class Location(Protocol):
    """A root under which files are read and written whole."""

    def shown(self, path: str) -> str:
        """Where a file lies, for a message."""

    def read(self, path: str) -> bytes | None:
        """A file's content; `None` where there is no such file.

        Raises:
          HloscopeError: it cannot be read, or nobody can say whether it is there.
        """

    def write(self, path: str, data: bytes) -> None:
        """Writes a file, folders included: all of it, or nothing.

        Raises:
          HloscopeError: it cannot be written.
        """


def locate(root: str) -> Location:
    """The location of a path, or of a URL of any protocol that fsspec knows (`gs://bucket/folder`).

    Raises:
      HloscopeError: nothing is installed that reads the URL.
    """
    if "://" not in root:
        return LocalLocation(Path(root))
    import fsspec

    protocol = root.partition("://")[0]
    package = _PACKAGES.get(protocol, "")
    try:
        fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        raise HloscopeError(
            f"cannot open '{root}': {error}",
            remedy=f"pip install {package}" if package else "install what its file system needs",
        ) from None
    except ValueError:
        raise HloscopeError(
            f"no file system is known for '{protocol}://'", where=root,
            remedy="gs://bucket/folder, s3://bucket/folder, or a folder here",
        ) from None  # fmt: skip
    if package:  # what it logs is in the error, and needs no traceback on the terminal
        logging.getLogger(package).addHandler(logging.NullHandler())
    with _reached(root, missing=False):
        files, path = fsspec.core.url_to_fs(root)
    if protocol in {"file", "local"}:
        return LocalLocation(Path(path))
    return RemoteLocation(root.rstrip("/"), files, path.rstrip("/"))


class LocalLocation:
    """A folder here."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def shown(self, path: str) -> str:
        """See `Location`."""
        return str(self.root / path)

    def read(self, path: str) -> bytes | None:
        """See `Location`."""
        try:
            return (self.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise HloscopeError(
                f"cannot read '{self.shown(path)}': {reason}", remedy="make it readable"
            ) from None

    def write(self, path: str, data: bytes) -> None:
        """See `Location`."""
        target = self.root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise HloscopeError(
                f"cannot make folder '{target.parent}': {reason}",
                remedy="another place for baselines",
            ) from None
        write_atomically(target, lambda file: file.write(data))


class RemoteLocation:
    """A folder behind a URL.

    Attributes:
      url: its root as the user wrote it.
      files: the fsspec file system.
      root: its path there.
    """

    def __init__(self, url: str, files: Any, root: str) -> None:
        self.url = url
        self.files = files
        self.root = root

    def shown(self, path: str) -> str:
        """See `Location`."""
        return f"{self.url}/{path}"

    def read(self, path: str) -> bytes | None:
        """See `Location`."""
        # never `exists`, which takes whatever goes wrong for a file that is not there
        try:
            with _reached(self.shown(path)):
                found: bytes = self.files.cat_file(f"{self.root}/{path}")
        except FileNotFoundError:
            return None
        return found

    def write(self, path: str, data: bytes) -> None:
        """See `Location`; an object store takes a file whole, or not at all."""
        target = f"{self.root}/{path}"
        try:
            with _reached(self.shown(path)):
                self.files.pipe_file(target, data)
        except FileNotFoundError:  # a file system that has folders, or there is no such bucket
            with _reached(self.shown(path), missing=False):
                self.files.makedirs(target.rpartition("/")[0], exist_ok=True)
                self.files.pipe_file(target, data)


@contextmanager
def _reached(url: str, *, missing: bool = True) -> Iterator[None]:
    """Makes one error of all that a remote file system raises.

    Args:
      url: what is asked for.
      missing: whether `FileNotFoundError` is left as it is.
    """
    try:
        yield
    except Exception as error:
        # every client has errors of its own, and few of them are of a common kind
        if missing and isinstance(error, FileNotFoundError):
            raise
        said = next(iter(str(error).strip().splitlines()), "")
        credentials = _CREDENTIALS.get(url.partition("://")[0], "give credentials")
        raise HloscopeError(
            f"cannot reach '{url}': {type(error).__name__}{f': {said}' if said else ''}",
            remedy=f"check address and network; {credentials}",
        ) from None
