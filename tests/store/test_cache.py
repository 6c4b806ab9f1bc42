from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hloscope.model.capture import Capture, Depth
from hloscope.store import Cache, CacheEntry, user_cache

MakeCapture = Callable[..., Capture]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_what_is_kept_is_found_under_its_key_alone(make_capture: MakeCapture, cache: Cache) -> None:
    cache.keep(make_capture(), "k1")
    assert cache.find("k1", Depth.HLO) == make_capture()
    assert cache.find("k2", Depth.HLO) is None


@pytest.mark.parametrize(
    ("kept", "asked", "served"),
    [
        (Depth.FULL, Depth.HLO, True),
        (Depth.PASSES, Depth.HLO, True),
        (Depth.HLO, Depth.FULL, False),
        (Depth.HLO, Depth.PASSES, False),
        (Depth.FULL, Depth.PASSES, False),
        (Depth.PASSES, Depth.FULL, False),
    ],
)
def test_a_deeper_capture_serves_a_shallower_request(
    make_capture: MakeCapture, cache: Cache, kept: Depth, asked: Depth, served: bool
) -> None:
    cache.keep(make_capture(depth=kept), "k")
    assert (cache.find("k", asked) is not None) == served


def test_an_alias_leads_to_the_capture(make_capture: MakeCapture, cache: Cache) -> None:
    cache.keep(make_capture(), "k")
    cache.alias("quick", "k")
    assert cache.find("quick", Depth.HLO) == make_capture()


def test_entries_are_listed_then_cleared(make_capture: MakeCapture, cache: Cache) -> None:
    assert cache.entries() == ()
    cache.keep(make_capture(program="b"), "k1")
    cache.keep(make_capture(program="a", depth=Depth.FULL), "k2")
    cache.alias("quick", "k1")
    sizes = [(cache.folder / f"{name}.hloscope").stat().st_size for name in ("k2.full", "k1.hlo")]
    common = {"target": "tpu:v5e:2x2"}
    assert cache.entries() == (
        CacheEntry(key="k2", program="a", depth=Depth.FULL, size=sizes[0], **common),
        CacheEntry(key="k1", program="b", depth=Depth.HLO, size=sizes[1], **common),
    )
    assert cache.clear() == (2, sum(sizes))
    assert list(cache.folder.iterdir()) == []


def test_a_damaged_capture_is_dropped_and_said_so(
    make_capture: MakeCapture, cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    cache.keep(make_capture(), "k")
    (path,) = cache.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    assert cache.find("k", Depth.HLO) is None
    assert "cached capture dropped" in caplog.text
    assert not path.exists()


def test_a_cache_that_cannot_be_written_is_said_and_no_error(
    make_capture: MakeCapture, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING):
        cache.keep(make_capture(), "k")
    assert "capture not cached" in caplog.text
    assert cache.find("k", Depth.HLO) is None


def test_a_capture_from_the_cache_outlives_it(make_capture: MakeCapture, cache: Cache) -> None:
    cache.keep(make_capture(), "k")
    found = cache.find("k", Depth.HLO)
    cache.clear()
    assert found == make_capture()


KEEP_MANY = """
import sys
from dataclasses import replace
from pathlib import Path
from hloscope.store import Cache
cache = Cache(Path(sys.argv[1]))
capture = cache.find("k", "hlo")
for turn in range(30):
    cache.keep(replace(capture, program=f"{sys.argv[2]}.{turn}"), "k")
    found = cache.find("k", "hlo")
    assert replace(found, program=capture.program) == capture
"""


def test_processes_that_keep_the_same_thing_at_once_do_not_harm_it(
    make_capture: MakeCapture, cache: Cache
) -> None:
    cache.keep(make_capture(), "k")
    command = [sys.executable, "-c", KEEP_MANY, cache.folder]
    workers = [subprocess.Popen([*command, str(n)]) for n in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert [path.name for path in cache.folder.iterdir()] == ["k.hlo.hloscope"]


WAIT = """
import sys, time
from pathlib import Path
from hloscope.store import Cache
log = Path(sys.argv[2])
waited = []
with Cache(Path(sys.argv[1])).alone("kk", lambda: (waited.append(1), time.sleep(0.01))):
    assert not (log / "busy").exists()
    (log / "busy").touch()
    time.sleep(0.3)
    (log / "busy").unlink()
print(bool(waited))
"""


def test_one_process_at_a_time_compiles_the_same_thing(cache: Cache, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAIT, cache.folder, tmp_path]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other,
    ):
        assert {one.communicate()[0], other.communicate()[0]} == {"True\n", "False\n"}


def test_waiting_can_be_given_up(cache: Cache) -> None:
    with (
        cache.alone("kk", waiting=lambda: None),
        pytest.raises(ZeroDivisionError),
        cache.alone("kk", waiting=lambda: 1 // 0),
    ):
        pytest.fail("another has the block")


def test_a_cache_that_cannot_be_written_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Cache(tmp_path / "file").alone("k", waiting=lambda: 1 // 0):
        pass


def test_the_users_cache_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path))
    assert user_cache() == Cache(tmp_path)
    monkeypatch.delenv("HLOSCOPE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert user_cache() == Cache(tmp_path / "xdg" / "hloscope")
