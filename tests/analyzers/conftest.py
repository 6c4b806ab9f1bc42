"""Pairs of small programs, compiled in one batch for each target."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pairs import Pair

from hloscope import open as open_side
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source
from hloscope.pipeline import compare

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Batch:
    """Captures of every program that the collected tests ask for, by target."""

    def __init__(self, session: pytest.Session, folder: Path) -> None:
        self.folder = folder
        self.wanted: dict[str, dict[str, None]] = {}
        self.taken: dict[str, dict[str, Path]] = {}
        self.failures: dict[str, str] = {}
        self.comparisons: dict[Pair, Comparison] = {}
        for item in session.items:
            spec = getattr(item, "callspec", None)
            for value in spec.params.values() if spec else ():
                if isinstance(value, Pair):
                    self.wanted.setdefault(value.target, {}).update(
                        {value.lhs: None, value.rhs: None}
                    )

    def source(self, spec: str, target: str) -> Source:
        if target not in self.taken:
            self._compile(target)
        if spec in self.failures:
            pytest.fail(f"{spec}: {self.failures[spec]}")
        return open_side(self.taken[target][spec])

    def compare(self, pair: Pair) -> Comparison:
        if pair not in self.comparisons:
            sides = (self.source(spec, pair.target) for spec in (pair.lhs, pair.rhs))
            self.comparisons[pair] = compare(*sides)
        return self.comparisons[pair]

    def _compile(self, target: str) -> None:
        folder = self.folder / target.replace(":", "-")
        folder.mkdir(exist_ok=True)
        specs = list(self.wanted[target])
        path = os.pathsep.join(
            (str(ROOT), str(HERE / "programs"), os.environ.get("PYTHONPATH", ""))
        )
        done = subprocess.run(
            [sys.executable, str(HERE / "compile_batch.py"), target, str(folder), *specs],
            env={**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu",
                 "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "TPU_SKIP_MDS_QUERY": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]
        self.failures.update(json.loads((folder / "failures.json").read_text()))
        self.taken[target] = {spec: folder / f"{n}.hloscope" for n, spec in enumerate(specs)}


@pytest.fixture(scope="session")
def batch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Batch:
    return Batch(request.session, tmp_path_factory.mktemp("pairs"))


@pytest.fixture
def compared(batch: Batch) -> Callable[[Pair], Comparison]:
    """A pair's comparison, compiled together with all other programs of the collected tests."""
    return batch.compare
