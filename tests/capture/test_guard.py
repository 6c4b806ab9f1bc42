"""The guard and the compiler process, with a stand-in for the compiler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import terminal_signals

from hloscope.capture.child import Child, Event
from hloscope.errors import HloscopeError

ROOT = Path(__file__).parents[2]

# writes its and its own child's number where the test looks, then works for a long time
STAND_IN = """
import os, subprocess, sys, time
from hloscope.capture.worker import _die_with_guard
_die_with_guard()
helper = subprocess.Popen(["sleep", "600"])
with open(os.path.join(sys.argv[1], "part"), "w") as file:
    print(os.getpid(), helper.pid, file=file)
os.replace(os.path.join(sys.argv[1], "part"), os.path.join(sys.argv[1], "pids"))
n = 0
while True:
    with open(os.path.join(sys.argv[1], f"dump{n}"), "w") as file:
        file.write("x" * 1000)
    n += 1
    time.sleep(0.001)
"""

PARENT = f"""
import os, sys, time
from hloscope.capture.child import Child
with Child() as child:
    command = [sys.executable, "-c", {STAND_IN!r}, str(child.folder)]
    child.start(command, dict(os.environ))
    copy = 0
    print(child.folder, child._guard.pid, copy, flush=True)
    while True:
        child.events(timeout=0.05)
"""


def until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


class Running:
    """A parent process with its guard, compiler and compiler's own child."""

    def __init__(self, script: str) -> None:
        self.parent = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=terminal_signals.restore,
        )
        assert self.parent.stdout is not None
        with self.parent.stdout:
            folder, guard, copy = self.parent.stdout.readline().split()
        self.folder = Path(folder)
        assert until((self.folder / "pids").exists)
        compiler, helper = (self.folder / "pids").read_text().split()
        self.guard, self.compiler, self.helper = int(guard), int(compiler), int(helper)
        self.copy = int(copy)

    def all_gone(self) -> bool:
        pids = (self.guard, self.compiler, self.helper)
        return all(map(gone, pids)) and not self.folder.exists()


@pytest.fixture
def running(request: pytest.FixtureRequest, temporary: Path) -> Iterator[Running]:
    assert temporary.is_dir()
    script = PARENT.replace("copy = 0", getattr(request, "param", "copy = 0"))
    running = Running(script)
    yield running
    running.parent.kill()
    running.parent.wait()
    for pid in filter(None, (running.copy, running.compiler, running.helper)):
        if not gone(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_parent_that_is_killed_takes_everything_along(
    running: Running, temporary: Path, number: signal.Signals
) -> None:
    running.parent.send_signal(number)
    running.parent.wait()
    assert until(running.all_gone)
    assert list(temporary.iterdir()) == []


def test_an_interrupt_of_the_whole_process_group_does_too(
    running: Running, temporary: Path
) -> None:
    os.killpg(running.parent.pid, signal.SIGINT)
    running.parent.wait()
    assert until(running.all_gone)
    assert list(temporary.iterdir()) == []


# a fork holds the guard's pipe open, so that its end is never seen
FORK = """
    copy = os.fork()
    if copy == 0:
        time.sleep(60)
        os._exit(0)
"""


@pytest.mark.parametrize("running", [FORK], indirect=True, ids=["fork"])
def test_a_parent_whose_forked_copy_lives_on_takes_everything_along(running: Running) -> None:
    running.parent.kill()
    running.parent.wait()
    assert until(running.all_gone)
    assert not gone(running.copy)


def end_of(child: Child) -> Event:
    for _ in range(200):
        for event in child.events(timeout=0.1):
            return event
    raise AssertionError("the child says nothing")


def start(child: Child) -> tuple[int, int]:
    child.start([sys.executable, "-c", STAND_IN, str(child.folder)], dict(os.environ))
    assert until((child.folder / "pids").exists)
    compiler, helper = (child.folder / "pids").read_text().split()
    return int(compiler), int(helper)


def test_stopping_keeps_the_folder_until_the_block_is_left(temporary: Path) -> None:
    with Child() as child:
        compiler, helper = start(child)
        child.stop()
        event = end_of(child)
        assert (event["event"], event["code"]) == ("ended", -9)
        assert event["peak_memory"] > 1_000_000
        assert until(lambda: gone(compiler) and gone(helper))
        assert (child.folder / "dump0").exists()
    assert list(temporary.iterdir()) == []


def test_a_compiler_that_is_killed_is_reported(temporary: Path) -> None:
    with Child() as child:
        compiler, helper = start(child)
        os.kill(compiler, signal.SIGKILL)
        assert end_of(child)["code"] == -9
        assert until(lambda: gone(helper))
    assert list(temporary.iterdir()) == []


def test_a_guard_that_is_killed_takes_the_compiler_along(temporary: Path) -> None:
    with Child() as child:
        compiler, helper = start(child)
        child._guard.kill()
        assert end_of(child) == {"event": "guard lost"}
        assert until(lambda: gone(compiler))
        os.kill(helper, signal.SIGKILL)  # nobody is left who could have
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("temporary")
def test_what_the_compiler_prints_and_reads_goes_through() -> None:
    script = "import json; print(json.dumps({'event': input()}), flush=True); input()"
    with Child() as child:
        child.start([sys.executable, "-c", script], dict(os.environ))
        child.tell("go")
        assert end_of(child) == {"event": "go"}


def test_an_error_inside_the_block_cleans_up(temporary: Path) -> None:
    pids: list[int] = []
    with pytest.raises(ZeroDivisionError):
        _fail_inside(pids)
    assert all(map(gone, pids))
    assert list(temporary.iterdir()) == []


def _fail_inside(pids: list[int]) -> None:
    with Child() as child:
        pids += start(child)
        raise ZeroDivisionError


def test_no_room_for_a_folder_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hloscope.capture.child._GUARD", Path("/dev/null"))
    with pytest.raises(HloscopeError, match="cannot make a temporary folder: the guard"), Child():
        pass
