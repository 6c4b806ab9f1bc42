"""Runs a plan: what an earlier run has done is kept, the rest is done and streamed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hloscope.model.sweep import Cell, Contrast, Plan, Row, Task
from hloscope.sweep.cluster import run_cluster
from hloscope.sweep.local import run_local
from hloscope.sweep.results import Results
from hloscope.sweep.work import failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a sweep runs.

    Attributes:
      jobs: local workers at once, `None` for one for each core.
      cluster: address of a Dask scheduler, `None` for local workers.
      retry: whether what failed before is tried again.
      timeout: seconds that one compile may take.
    """

    jobs: int | None = None
    cluster: str | None = None
    retry: bool = False
    timeout: float | None = None


def run_sweep(
    plan: Plan, results: Results, settings: Settings, tell: Callable[[Row], None]
) -> None:
    """Does what is not done yet: captures first, then contrasts of those that were captured.

    Args:
      plan: what to do.
      results: what is done; each row is kept as soon as it is there.
      settings: how to run.
      tell: called with each new row.

    Raises:
      HloscopeError: the cluster cannot be reached, or the table cannot be written.
    """
    for stage in (plan.cells, plan.contrasts):
        open_tasks = [task for task in stage if _is_open(task, results, settings)]
        for task in [t for t in open_tasks if _lacks(t, results)]:
            _keep(_blocked(task, results), results, tell)
        ready = [task for task in open_tasks if not _lacks(task, results)]
        for row in _rows(ready, results, settings):
            _keep(row, results, tell)


def _keep(row: Row, results: Results, tell: Callable[[Row], None]) -> None:
    results.add(row)
    tell(row)


def _is_open(task: Task, results: Results, settings: Settings) -> bool:
    row = results.rows.get(task.name)
    return row is None or (settings.retry and bool(row.reason))


def _lacks(task: Task, results: Results) -> list[Cell]:
    """Sides of a contrast that could not be captured."""
    if not isinstance(task, Contrast):
        return []
    return [side for side in (task.lhs, task.rhs) if results.rows[side.name].reason]


def _blocked(task: Task, results: Results) -> Row:
    side = _lacks(task, results)[0]
    return failed(task, f"{side.name}: {results.rows[side.name].reason}")


def _rows(tasks: Sequence[Task], results: Results, settings: Settings) -> Iterator[Row]:
    if not tasks:
        return iter(())
    if settings.cluster is not None:
        return run_cluster(tasks, settings.cluster, timeout=settings.timeout)
    jobs = settings.jobs or os.cpu_count() or 1
    return run_local(tasks, jobs=jobs, peaks=_peaks(results), timeout=settings.timeout)


def _peaks(results: Results) -> dict[str, int]:
    return {row.task: row.peak_memory for row in results.rows.values() if row.peak_memory}
