"""Sweeps of real captures, with workers that are killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from hloscope.cli import cli
from hloscope.model.sweep import Cell, Row
from hloscope.sweep import Results, Settings, local, read_plan, run_sweep

pytestmark = pytest.mark.compile

PROGRAM = """
from pathlib import Path

import jax
import jax.numpy as jnp
from hloscope import Program

LOG = Path(__file__).with_name("log")

def make(devices, width):
    with LOG.open("a") as log:
        log.write(f"{width}\\n")
    x = jax.ShapeDtypeStruct((8, int(width)), jnp.float32)
    return Program(function=jnp.tanh, args=(x,))
"""

FILE = """
[matrix]
programs = ["{module}:make"]
targets = ["cpu:1"]
options.width = [8, 16, 24]
[contrast]
axis = "width"
lhs = 8
rhs = 24
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    module = f"swept_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(PROGRAM)
    path = tmp_path / "sweep.toml"
    path.write_text(FILE.format(module=module))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{os.environ.get('PYTHONPATH', '')}:{tmp_path}")
    return path


def _made(file: Path) -> list[str]:
    return sorted((file.parent / "log").read_text().split())


def test_a_sweep_does_all_once_and_then_nothing(file: Path) -> None:
    for _ in range(2):
        result = CliRunner().invoke(cli, ["sweep", str(file)], standalone_mode=False)
        assert (result.exception, result.return_value) == (None, 0)
        assert result.output.startswith("4 of 4 done, 0 failed")
        # the contrast traces its two sides again, and takes the captures from the cache
        assert _made(file) == ["16", "24", "24", "8", "8"]
    rows = Results(file.with_suffix(".parquet")).rows.values()
    contrast = next(row for row in rows if row.kind == "contrast")
    assert contrast.figures["hbm-arguments"] == 8 * 16 * 4


def test_a_sweep_goes_on_where_it_stopped(file: Path) -> None:
    plan = read_plan(file.read_text(), str(file))
    results = Results(Path(plan.output))

    def stop(_: Row) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(plan, results, Settings(jobs=1), stop)
    assert len(Results(Path(plan.output)).rows) == 1
    again = Results(Path(plan.output))
    told: list[str] = []
    run_sweep(plan, again, Settings(jobs=1), lambda row: told.append(row.task))
    assert len(told) == 3
    assert sorted(again.rows) == sorted(task.name for task in plan.tasks)


def test_a_failing_cell_has_its_reason(file: Path) -> None:
    text = file.read_text()
    file.write_text(
        text.replace("[8, 16, 24]", '[8, "wide", 24]').replace("rhs = 24", 'rhs = "wide"')
    )
    result = CliRunner().invoke(cli, ["sweep", str(file)], standalone_mode=False)
    assert result.return_value == 1
    rows = Results(file.with_suffix(".parquet")).rows.values()
    failed = [row for row in rows if row.reason]
    assert [row.kind for row in failed] == ["capture", "contrast"]
    assert all("'wide'" in row.reason for row in failed)


@pytest.mark.parametrize(("deaths", "reason"), [(1, ""), (2, "its worker died 2 times")])
def test_a_killed_worker_is_tried_once_more(
    file: Path, monkeypatch: pytest.MonkeyPatch, deaths: int, reason: str
) -> None:
    (cell, *_) = read_plan(file.read_text(), str(file)).cells
    started = 0
    start = local._start

    def start_and_kill(task: Cell, running: dict[object, object], *rest: object) -> None:
        nonlocal started
        start(task, running, *rest)  # type: ignore[arg-type]
        started += 1
        if started <= deaths:
            (each,) = running.values()
            os.kill(each.process.pid, signal.SIGKILL)  # type: ignore[attr-defined]

    monkeypatch.setattr(local, "_start", start_and_kill)
    rows = list(local.run_local([cell], jobs=1, peaks={}, timeout=None))
    assert [(row.task, row.reason) for row in rows] == [(cell.name, reason)]
    assert started == 2


def test_memory_bounds_how_many_run() -> None:
    cell = Cell(spec="a:b", target="cpu:1", axes={})
    much = {cell.name: 1 << 60}
    process = type("Process", (), {"pid": os.getpid()})()
    running = {object(): local._Running(cell, process, 1)}
    assert local._fits(cell, {}, much)  # the first one always runs
    assert not local._fits(cell, running, much)  # type: ignore[arg-type]
    assert local._fits(cell, running, {cell.name: 1})  # type: ignore[arg-type]


def test_a_cluster_loses_nothing_with_a_worker(file: Path) -> None:
    distributed = pytest.importorskip("distributed")
    plan = read_plan(file.read_text(), str(file))
    results = Results(Path(plan.output))
    arguments = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=True, **arguments) as cluster:
        pids = [worker.process.pid for worker in cluster.workers.values()]
        told: list[str] = []

        def kill_one(row: Row) -> None:
            if not told:
                os.kill(pids[0], signal.SIGKILL)
            told.append(row.task)

        run_sweep(plan, results, Settings(cluster=cluster.scheduler_address), kill_one)
    assert sorted(told) == sorted(task.name for task in plan.tasks)
    assert not [row.reason for row in results.rows.values() if row.reason]
