"""Files under a folder, or behind a URL that fails in every way a remote store does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from hloscope.errors import HloscopeError
from hloscope.store.locations import LocalLocation, RemoteLocation, locate


class RefusedError(Exception):
    """What a client raises that has errors of its own."""


class Shelf(MemoryFileSystem):
    """An object store: no folders, and `refuses` says what every call raises."""

    protocol = "shelf"
    store: dict[str, Any] = {}  # noqa: RUF012 - as fsspec declares it
    pseudo_dirs = [""]  # noqa: RUF012
    refuses: Exception | None = None

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("shelf://").strip("/")

    def cat_file(self, *arguments: Any, **options: Any) -> bytes:
        self._ask()
        data: bytes = super().cat_file(*arguments, **options)
        return data

    def pipe_file(self, *arguments: Any, **options: Any) -> None:
        self._ask()
        super().pipe_file(*arguments, **options)

    def _ask(self) -> None:
        if Shelf.refuses is not None:
            raise Shelf.refuses


class Drawer(LocalFileSystem):
    """A remote file system that has folders, as one over SSH has."""

    protocol = "drawer"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix("drawer://")


@pytest.fixture(autouse=True)
def _protocols(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for each in (Shelf, Drawer):
        fsspec.register_implementation(each.protocol, each, clobber=True)
    monkeypatch.setattr(Shelf, "refuses", None)
    yield
    Shelf.store.clear()


@pytest.fixture(params=["here", "file", "shelf", "drawer"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    roots = {
        "here": str(tmp_path / "deep" / "root"),
        "file": f"file://{tmp_path}/deep/root",
        "shelf": "shelf://bucket/root/",
        "drawer": f"drawer://{tmp_path}/deep/root",
    }
    return roots[request.param]


def test_what_is_written_is_read(root: str) -> None:
    assert locate(root).read("a/b.json") is None
    for data in (b"one", b"", b"three"):
        locate(root).write("a/b.json", data)
        assert locate(root).read("a/b.json") == data
    assert locate(root).shown("a/b.json") == f"{root.rstrip('/').removeprefix('file://')}/a/b.json"


def test_a_url_of_files_here_is_a_folder_here(tmp_path: Path) -> None:
    assert isinstance(locate(f"file://{tmp_path}"), LocalLocation)
    assert isinstance(locate("shelf://bucket"), RemoteLocation)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (PermissionError("no"), "PermissionError: no"),
        (RefusedError("Anonymous caller\nhas no access"), "RefusedError: Anonymous caller"),
        (RefusedError(), "RefusedError"),
        (TimeoutError("timed out"), "TimeoutError: timed out"),
        (ValueError("Bucket is requester pays"), "ValueError: Bucket is requester pays"),
    ],
)
def test_a_store_that_refuses(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, said: str
) -> None:
    monkeypatch.setattr(Shelf, "refuses", raised)
    shelf = locate("shelf://bucket/root")
    for ask in (lambda: shelf.read("a"), lambda: shelf.write("a", b"")):
        with pytest.raises(HloscopeError) as caught:
            ask()
        assert caught.value.problem == f"cannot reach 'shelf://bucket/root/a': {said}"
        assert caught.value.remedy == "check address and network; give credentials"
    assert Shelf.store == {}


def test_a_bucket_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shelf, "refuses", FileNotFoundError("no bucket"))
    shelf = locate("shelf://bucket/root")
    assert shelf.read("a") is None
    with pytest.raises(HloscopeError, match=r"cannot reach .*: FileNotFoundError: no bucket"):
        shelf.write("a", b"")


def test_a_protocol_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(protocol: str) -> None:
        raise ImportError(f"Please install gcsfs to access {protocol}")

    monkeypatch.setattr(fsspec, "get_filesystem_class", missing)
    with pytest.raises(HloscopeError) as caught:
        locate("gs://bucket/folder")
    assert caught.value.problem == (
        "cannot open 'gs://bucket/folder': Please install gcsfs to access gs"
    )
    assert caught.value.remedy == "pip install gcsfs"


def test_a_protocol_that_nobody_knows() -> None:
    with pytest.raises(HloscopeError) as caught:
        locate("qs://bucket/folder")
    assert caught.value.problem == "no file system is known for 'qs://'"


def test_a_folder_where_a_file_should_be(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_text("")
    here = locate(str(tmp_path))
    with pytest.raises(HloscopeError, match=r"cannot read '.*/a': is a directory"):
        here.read("a")
    with pytest.raises(HloscopeError, match=r"cannot make folder '.*/b': file exists"):
        here.write("b/c", b"")
