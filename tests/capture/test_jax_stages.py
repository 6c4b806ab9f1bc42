"""Private parts of JAX that captures rest on: which release of JAX breaks one shows here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.compile
def test_jax_still_has_what_captures_need(tmp_path: Path) -> None:
    # a process of its own: JAX reads its environment once, and keeps what it made
    script = Path(__file__).with_name("scripts") / "jax_stages_checks.py"
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
