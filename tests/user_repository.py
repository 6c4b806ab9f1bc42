"""A user's repository with a program in it, and a way to run the command line there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import terminal_signals

ROOT = Path(__file__).parents[1]

PROGRAM = """
import os
import time

import jax
import jax.numpy as jnp

import hloscope
from pkg.size import SIZE


def step(devices, n=SIZE):
    x = jax.ShapeDtypeStruct((n, n), jnp.float32)
    return hloscope.Program(function=lambda x: jnp.sin(x) @ x, args=(x,))


def slow(devices):
    open(os.environ["REACHED"], "w").close()
    time.sleep(600)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A repository with the package `pkg`, in its top folder or another.

    Attributes:
      temporary: empty, unless something is left behind.
    """

    folder: Path
    package: Path
    temporary: Path
    environment: Mapping[str, str]

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        """Writes `NAME.py` files of the package; the commit's hash."""
        self.write(**files)
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def write(self, **files: str) -> None:
        self.package.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (self.package / f"{name}.py").write_text(text)

    def state(self) -> tuple[str, ...]:
        """What must not change: checkout, index, branches, worktrees, files of git's own."""
        index = (self.folder / ".git/index").read_bytes().hex()
        top = sorted(path.name for path in (self.folder / ".git").iterdir())
        said = (("status", "--porcelain"), ("worktree", "list"), ("for-each-ref",), ("diff",))
        return (index, *top, *(self.git(*command) for command in said))

    def start(self, *arguments: str, **changes: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            terminal_signals.restored([sys.executable, "-m", "hloscope", *arguments]),
            cwd=self.folder,
            env={**self.environment, **changes},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **changes)
        out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def make_desk(folder: Path, package: str = "pkg") -> Desk:
    work, temporary = folder / "work", folder / "temporary"
    work.mkdir(parents=True)
    temporary.mkdir()
    environment = {
        **os.environ,
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(ROOT),
        "HLOSCOPE_CACHE_DIR": str(folder / "cache"),
        "COLUMNS": "200",
    }
    desk = Desk(folder=work, package=work / package, temporary=temporary, environment=environment)
    desk.git("init", "--quiet", "--initial-branch", "main")
    desk.commit("first", __init__="", size="SIZE = 64\n", train=PROGRAM)
    return desk
