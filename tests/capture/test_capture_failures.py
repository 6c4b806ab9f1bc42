"""Captures that fail: one clear message, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from hloscope.capture import capture_spec
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.capture.conftest import Desk


def nothing_left(desk: Desk) -> None:
    """No temporary folder, no output file, and no process that knows of the desk."""
    assert list(desk.temporary.iterdir()) == []
    assert sorted(path.name for path in desk.folder.iterdir() if path.name != "reached") in (
        ["mine.py"],
        ["__pycache__", "mine.py"],
    )
    assert processes_of(desk) == []


def processes_of(desk: Desk) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == desk.environment["HOME"]:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def until_nothing_left(desk: Desk) -> None:
    for _ in range(200):
        if not processes_of(desk) and not list(desk.temporary.iterdir()):
            break
        time.sleep(0.05)
    nothing_left(desk)


@pytest.mark.compile
@pytest.mark.parametrize(
    ("spec", "problem", "where"),
    [
        ("mine:raising", "the factory raised ValueError: no such optimizer: 'adamm'", "mine.py:"),
        ("mine:leaving", "the factory raised SystemExit: the factory leaves", "mine.py:"),
        ("mine:number", "the factory returned 'int', not a hloscope.Program", "mine:number"),
        ("mine:nothing", "module 'mine' has no 'nothing'", "mine:nothing"),
        ("mine:build?m=3", "the factory cannot be called with", "mine:build?m=3"),
        ("mine:untraceable", "tracing the program raised TypeError: ", "mine.py:"),
        ("nowhere:build", "no module 'nowhere'", "nowhere:build"),
        ("mine:killed", "the compiler process was killed by signal SIGKILL after using ", ""),
        ("mine:aborted", "F0000 the last words", ""),
    ],
)
def test_a_program_at_fault_says_what_and_where(
    desk: Desk, spec: str, problem: str, where: str
) -> None:
    done = desk.run("capture", spec, "-t", "cpu:4", "-o", "out.hloscope")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert problem in done.stderr
    if where:
        assert where in done.stderr.split("  at: ")[1]
    nothing_left(desk)


@pytest.mark.compile
@pytest.mark.parametrize(
    ("flag", "problem"),
    [
        ("xla_such_a_flag=1", "unknown XLA flag 'xla_such_a_flag'"),
        ("xla_backend_optimization_level=high", "'high' is no int32, which the XLA flag"),
    ],
)
def test_a_wrong_flag_is_named(desk: Desk, flag: str, problem: str) -> None:
    arguments = ("capture", "mine:build", "-t", "cpu:4", "-o", "o.hloscope", "--xla-flag", flag)
    done = desk.run(*arguments)
    assert (done.returncode, done.stderr[: len(problem) + 7]) == (2, f"error: {problem}")
    nothing_left(desk)


@pytest.mark.compile
def test_a_wrong_flag_of_the_environment_is_named(desk: Desk) -> None:
    arguments = ("capture", "mine:build", "-t", "cpu:4", "-o", "o.hloscope")
    done = desk.run(*arguments, XLA_FLAGS="--xla_such_a_flag=1")
    assert done.returncode == 2
    assert "Unknown flag in XLA_FLAGS: --xla_such_a_flag=1" in done.stderr
    assert done.stderr.endswith("try: correct the environment variable XLA_FLAGS\n")
    nothing_left(desk)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("mine:build", "-t", "tpu:v5p:9x9"), "unknown topology 'v5p:9x9'"),
        (("mine:build", "-t", "apu:8"), "apu"),
        (("gpt3-6:nnx", "-t", "cpu:8"), "unknown program 'gpt3-6'"),
        (("gpt3-tiny", "-t", "cpu:8"), "program 'gpt3-tiny' names no stack"),
        (("mine:build", "-t", "cpu:4", "--xla-flag", "x"), "'x' is not NAME=VALUE"),
        (("mine:build", "-t", "cpu:4", "--xla-flag", "xla_dump_to=/x"), "hloscope's own to set"),
        (("mine:build", "-t", "cpu:4", "-o", "no/x"), "no folder 'no' to write 'x' in"),
        (("mine:build", "-t", "cpu:4", "-o", "."), "'.' is a folder"),
        (("mine:build?a", "-t", "cpu:4"), "option 'a' is not name=value"),
    ],
)
def test_a_wrong_request_is_refused_before_anything_is_loaded(
    desk: Desk, arguments: tuple[str, ...], problem: str
) -> None:
    began = time.monotonic()
    done = desk.run("capture", *arguments)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert time.monotonic() - began < 20
    nothing_left(desk)


def test_a_missing_libtpu_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    # the package has a function of the module's name
    module = sys.modules["hloscope.capture.targets.toolchain"]
    monkeypatch.setattr(module, "_versions", lambda *_: {})
    with pytest.raises(HloscopeError) as caught:
        capture_spec("gpt3-tiny:nnx", "tpu:v5e:2x2")
    assert "libtpu" in caught.value.problem
    assert caught.value.remedy is not None


@pytest.mark.compile
def test_a_timeout_says_where_it_was(desk: Desk) -> None:
    arguments = ("capture", "mine:slow", "-t", "cpu:4", "-o", "out", "--timeout", "12")
    done = desk.run(*arguments)
    assert done.returncode == 2
    assert "capture took longer than 12 s; it was in the step" in done.stderr
    until_nothing_left(desk)


def reached(desk: Desk) -> subprocess.Popen[str]:
    """A capture that has come as far as its slow factory."""
    process = desk.start("capture", "mine:slow", "-t", "cpu:4", "-o", "out.hloscope")
    for _ in range(1200):
        if (desk.folder / "reached").exists():
            return process
        time.sleep(0.05)
    process.kill()
    raise AssertionError("the factory was not reached")


@pytest.mark.compile
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_signal_to_the_capture_leaves_nothing(desk: Desk, number: signal.Signals) -> None:
    process = reached(desk)
    process.send_signal(number)
    _, err = process.communicate()
    if number is signal.SIGINT:
        assert (process.returncode, err.strip()) == (130, "interrupted")
    until_nothing_left(desk)


@pytest.mark.compile
def test_ctrl_c_to_the_process_group_leaves_nothing(desk: Desk) -> None:
    process = reached(desk)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert (process.returncode, err.strip()) == (130, "interrupted")
    until_nothing_left(desk)


@pytest.mark.compile
def test_a_full_disk_is_said_and_leaves_nothing(desk: Desk) -> None:
    # one limit for every process and file stands in for a disk that is full
    limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
    script = f"{limit} sys.argv[0] = 'hloscope'; from hloscope.cli import main; main()"
    process = subprocess.run(
        [sys.executable, "-c", script, "capture", "mine:build", "-t", "cpu:4", "-o", "out"],
        cwd=desk.folder,
        env=dict(desk.environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2, process.stderr
    assert "Traceback" not in process.stderr
    assert "file too large" in process.stderr or "no whole optimized HLO" in process.stderr
    nothing_left(desk)


@pytest.fixture
def full_disk(desk: Desk) -> Path:
    """The desk's temporary folder, on a disk of 48 KiB."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(desk.temporary)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting needs a privileged user")
    return desk.temporary


@pytest.mark.compile
def test_a_full_temporary_disk_is_said_and_leaves_nothing(desk: Desk, full_disk: Path) -> None:
    try:
        done = desk.run("capture", "mine:build", "-t", "cpu:4", "-o", "out.hloscope")
        assert done.returncode == 2
        assert "no space left" in done.stderr
        assert "Traceback" not in done.stderr
        nothing_left(desk)
    finally:
        subprocess.run(["umount", str(full_disk)], check=True)
