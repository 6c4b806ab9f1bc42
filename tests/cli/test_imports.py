"""What loads when: the command line must answer before anything heavy is imported."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("jax", "jaxlib", "flax", "numpy", "pandas", "scipy", "matplotlib", "rich", "jinja2")


def _loaded_after(code: str) -> list[str]:
    probe = f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    modules = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    return sorted(modules & set(HEAVY))


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert _loaded_after("import hloscope") == []


def test_help_loads_nothing_heavy() -> None:
    assert (
        _loaded_after("from hloscope.cli import cli; cli(['--help'], standalone_mode=False)") == []
    )


@pytest.mark.parametrize(
    "room", ["pipeline", "sources", "store", "normalize", "match", "diff", "explain"]
)
def test_reading_and_diffing_load_no_jax(room: str) -> None:
    assert set(_loaded_after(f"import hloscope.{room}")).isdisjoint({"jax", "jaxlib", "flax"})
