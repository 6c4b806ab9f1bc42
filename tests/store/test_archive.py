from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hloscope import store
from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture
from hloscope.store import archive

MakeCapture = Callable[..., Capture]


def test_a_capture_survives_the_file_whole(make_capture: MakeCapture, tmp_path: Path) -> None:
    path = tmp_path / "a.hloscope"
    store.write(make_capture(), path)
    assert store.read(path) == make_capture()
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_capture_gives_the_same_bytes(make_capture: MakeCapture, tmp_path: Path) -> None:
    payloads = make_capture().payloads
    store.write(make_capture(), tmp_path / "a")
    store.write(make_capture(payloads=dict(reversed(payloads.items()))), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_manifest_is_readable_json_and_lists_the_payloads(
    make_capture: MakeCapture, tmp_path: Path
) -> None:
    path = tmp_path / "a.hloscope"
    store.write(make_capture(), path)
    with zipfile.ZipFile(path) as zipped:
        assert zipped.namelist() == ["manifest.json", "optimized.hlo.pb", "passes/0001.dce.hlo.pb"]
        manifest = json.loads(zipped.read("manifest.json"))
    assert manifest["schema"] == 1
    assert manifest["memory"]["code"] == {"missing": "depth hlo generates no code"}
    assert manifest["payloads"]["optimized.hlo.pb"]["bytes"] == 2000


def test_reading_a_capture_loads_no_jax(make_capture: MakeCapture, tmp_path: Path) -> None:
    path = tmp_path / "a.hloscope"
    store.write(make_capture(), path)
    script = (
        "import sys; from pathlib import Path; from hloscope import store;"
        "c = store.read(Path(sys.argv[1])); assert len(c.payloads['optimized.hlo.pb']) == 2000;"
        "assert not {'jax', 'jaxlib', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True, cwd=Path.cwd())


def rewrite(path: Path, **entries: bytes) -> None:
    with zipfile.ZipFile(path) as zipped:
        old = {name: zipped.read(name) for name in zipped.namelist()}
    with zipfile.ZipFile(path, "w") as zipped:
        for name, data in {**old, **{k.replace("__", "."): v for k, v in entries.items()}}.items():
            zipped.writestr(name, data)


def edited_manifest(path: Path, **changes: object) -> bytes:
    with zipfile.ZipFile(path) as zipped:
        manifest = json.loads(zipped.read("manifest.json"))
    return json.dumps({**manifest, **changes}).encode()


@pytest.fixture
def written(make_capture: MakeCapture, tmp_path: Path) -> Path:
    path = tmp_path / "a.hloscope"
    store.write(make_capture(), path)
    return path


def problem_of(path: Path) -> str:
    with pytest.raises(HloscopeError) as caught:
        dict(store.read(path).payloads)
    return str(caught.value)


def test_a_later_schema_is_refused(written: Path) -> None:
    rewrite(written, manifest__json=edited_manifest(written, schema=99, novel="thing"))
    assert problem_of(written) == (
        "capture of schema 99; this hloscope reads up to 1\n"
        f"  at: {written}\n  try: pip install --upgrade hloscope"
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema": "1"}, "schema '1' is not a positive number"),
        ({"depth": "deep"}, "$.depth: 'deep' is not one of hlo, full, passes"),
        ({"inputs": [{}]}, "$.inputs[0]: missing field 'donated'"),
        ({"program": 3}, "$.program: int where str belongs"),
        ({"extra": 1}, "$: unknown field 'extra'"),
        ({"payloads": None}, "$.payloads: NoneType where dict belongs"),
        ({"out_of_memory": {"needed": {}, "available": {}, "message": ""}}, "neither"),
    ],
)
def test_a_wrong_manifest_says_where(
    written: Path, change: dict[str, object], problem: str
) -> None:
    rewrite(written, manifest__json=edited_manifest(written, **change))
    assert problem in problem_of(written)


def test_a_file_cut_off_anywhere_is_an_error(written: Path) -> None:
    whole = written.read_bytes()
    for end in range(0, len(whole), 97):
        written.write_bytes(whole[:end])
        assert "not a whole capture file" in problem_of(written)


def test_a_flipped_byte_is_an_error_or_harmless(make_capture: MakeCapture, written: Path) -> None:
    whole = written.read_bytes()
    for place in range(0, len(whole), 31):
        written.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            capture = store.read(written)
            payloads = dict(capture.payloads)
        except HloscopeError:
            continue
        assert payloads == dict(make_capture().payloads)


def test_a_payload_other_than_the_manifest_says_is_refused(written: Path) -> None:
    rewrite(written, optimized__hlo__pb=b"\x0a\x01" * 1000)
    assert "'optimized.hlo.pb' is not what the manifest says" in problem_of(written)


def test_a_payload_that_inflates_beyond_the_manifest_is_refused(written: Path) -> None:
    rewrite(written, optimized__hlo__pb=b"\x00" * 10_000_000)
    assert "'optimized.hlo.pb' is 10000000 bytes, over 2000" in problem_of(written)


def test_a_manifest_that_inflates_without_end_is_refused(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_MANIFEST", 100)
    assert "over 100" in problem_of(written)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HloscopeError, match=r"cannot read '.*none': no such file or directory"):
        store.read(tmp_path / "none")


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("unnamed", [True, False])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    make_capture: MakeCapture, written: Path, monkeypatch: pytest.MonkeyPatch, unnamed: bool
) -> None:
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE")
    before = written.read_bytes()
    big = make_capture(payloads={"optimized.hlo.pb": os.urandom(100_000)})
    with (
        file_size_limit(10_000),
        pytest.raises(HloscopeError, match=r"cannot write '.*': file too large"),
    ):
        store.write(big, written)
    assert list(written.parent.iterdir()) == [written]
    assert written.read_bytes() == before


def test_a_write_without_unnamed_files_works_too(
    make_capture: MakeCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    store.write(make_capture(), tmp_path / "a")
    assert store.read(tmp_path / "a") == make_capture()
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    with pytest.raises(HloscopeError) as caught:
        store.write_atomically(tmp_path / "a", lambda _: _raise_full())
    assert str(caught.value) == (
        f"cannot write '{tmp_path / 'a'}': no space left on device\n"
        "  try: free space there, or write to another disk"
    )
    assert list(tmp_path.iterdir()) == []


def _raise_full() -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        full.write(b"x")


def test_a_missing_folder_is_named(make_capture: MakeCapture, tmp_path: Path) -> None:
    with pytest.raises(HloscopeError, match="mkdir -p"):
        store.write(make_capture(), tmp_path / "no" / "a")


def test_a_writer_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from hloscope import store\n"
        "def half(file):\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.write_atomically(Path(sys.argv[1]), half)"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "a"], check=False)
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []
