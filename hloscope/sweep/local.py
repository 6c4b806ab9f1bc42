"""Tasks in worker processes of this machine, as many as memory allows."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import NamedTuple

import psutil

from hloscope.model.sweep import Row, Task
from hloscope.sweep.work import failed, work

UNMEASURED = 4 << 30  # bytes that a compile of an unknown program is given
_ATTEMPTS = 2  # a worker that was killed is not the task's fault, once


class _Running(NamedTuple):
    task: Task
    process: BaseProcess
    need: int


def run_local(
    tasks: Sequence[Task],
    *,
    jobs: int,
    peaks: Mapping[str, int],
    timeout: float | None,
) -> Iterator[Row]:
    """Rows in the order in which they are done; a worker that dies is tried once more.

    Args:
      tasks: what to do.
      jobs: workers at once at most.
      peaks: task to the bytes that its compile held at most when it was last measured.
      timeout: seconds that one compile may take.
    """
    waiting = list(reversed(tasks))
    deaths: dict[str, int] = {}
    running: dict[Connection, _Running] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs and _fits(waiting[-1], running, peaks):
                _start(waiting.pop(), running, peaks, timeout)
            for ready in multiprocessing.connection.wait(list(running)):
                assert isinstance(ready, Connection)  # noqa: S101 - nothing else was waited for
                done = running.pop(ready)
                row = _received(ready, done)
                deaths[done.task.name] = deaths.get(done.task.name, 0) + (row is None)
                if row is not None:
                    yield row
                elif deaths[done.task.name] < _ATTEMPTS:
                    waiting.append(done.task)
                else:
                    yield failed(done.task, f"its worker died {_ATTEMPTS} times")
    finally:
        _stop(running)


def _fits(task: Task, running: Mapping[Connection, _Running], peaks: Mapping[str, int]) -> bool:
    """Whether there is memory for one more; the first one always runs."""
    if not running:
        return True
    # what runs may not have taken its memory yet
    pledged = sum(each.need for each in running.values())
    free = psutil.virtual_memory().available
    return pledged + peaks.get(task.name, UNMEASURED) <= max(free, 0) + _taken(running)


def _taken(running: Mapping[Connection, _Running]) -> int:
    """Bytes that workers and their children hold already."""
    total = 0
    for each in running.values():
        with contextlib.suppress(psutil.Error):
            worker = psutil.Process(each.process.pid)
            for process in (worker, *worker.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    total += process.memory_info().rss
    return total


def _start(
    task: Task,
    running: dict[Connection, _Running],
    peaks: Mapping[str, int],
    timeout: float | None,
) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, task, timeout), daemon=False)
    process.start()
    there.close()  # so that the worker's end closes with the worker
    running[here] = _Running(task, process, peaks.get(task.name, UNMEASURED))


def _work(connection: Connection, task: Task, timeout: float | None) -> None:
    """Runs in the worker."""
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C reaches the whole group; the parent tells
        connection.send(work(task, timeout))


def _received(connection: Connection, done: _Running) -> Row | None:
    """The worker's row; `None` where it died before it had one."""
    try:
        row: Row = connection.recv()
    except (EOFError, OSError):
        return None
    finally:
        connection.close()
        done.process.join()
    return row


def _stop(running: Mapping[Connection, _Running]) -> None:
    """Ends workers; their guards end the compilers that they have started."""
    for each in running.values():
        each.process.terminate()
    for connection, each in running.items():
        each.process.join()
        connection.close()
