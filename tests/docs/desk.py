"""What the documentation's reader has: a repository with a package, captures, dumps, a gate."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# What the pages show, and what is run in its place: the same verbs and options on programs and
# targets that compile in a second.
_CAPTURES = "before.hloscope after.hloscope"
CHEAPER = (
    (r"\b(?:tpu|gpu):\w+:[0-9x]+", "cpu:8"),
    (r"\bgpt3-6b:", "gpt3-tiny:"),
    (r"\bgemma3-4b:nnx\?layers=7", "gpt3-tiny:nnx?layers=1"),
    (r"\bdeepseek-v3:nnx\?step=decode&cache=4096", "deepseek-tiny:nnx?step=decode&cache=64"),
    (r"\?batch=64\b", ""),
    (r"\b\w+-tiny:(linen|nnx)\?dtype=float32", r"mypackage.\1:step"),
    (r"'gpt3-tiny:nnx\?layers=1' 'gpt3-tiny:nnx\?layers=1&remat=none'", _CAPTURES),
    (r"'gpt3-tiny:nnx' 'gpt3-tiny:nnx\?donate=false'", _CAPTURES),
    (r'"gpt3-tiny", "llama2-tiny", (?=")', ""),
    (r', \["jax==0.11.2"\]', ""),
    (r'revisions = \["main", "v1.2"\]', 'revisions = ["main"]'),
    (r'targets = \["cpu:8", "cpu:8"\]', 'targets = ["cpu:8"]'),
    (r"scan = \[true, false\]", "scan = [true]"),
    (r'step = \["train", "decode"\]', 'step = ["train"]'),
    (r"--runs 5\b", "--runs 2"),
)
# What stands for something of the reader's in running text.
GIVEN = {
    "A": "before.hloscope", "X": "before.hloscope", "LHS": "before.hloscope",
    "B": "after.hloscope", "Y": "after.hloscope", "RHS": "after.hloscope",
    "P": "mypackage.train:step", "PROGRAM": "mypackage.train:step", "Q": "mypackage.nnx:step",
    "T": "cpu:8", "TARGET": "cpu:8", "CODE": "DON001", "PASS": "names", "FORMAT": "csv",
    "FILE": "report.html", "OUT": "out", "DIR": "figures", "FILE.toml": "small.toml",
    "--good REV": "--good v1.0", "--bad REV": "--bad main", "REV": "v1.0",
}  # fmt: skip

_STEP = """
import jax
import jax.numpy as jnp

import hloscope
from mypackage.size import SIZE

state = jax.ShapeDtypeStruct((SIZE, SIZE), jnp.float32)
batch = jax.ShapeDtypeStruct((8, SIZE), jnp.float32)


def train_step(state, batch):
    return state - 0.1 * (batch.T @ jnp.tanh(batch @ state))


def step(devices, layers=2, donate=True, stack="nnx", scan=True, step="train"):
    donated = {"donate_argnums": 0} if donate else {}
    return hloscope.Program(function=train_step, args=(state, batch), jit_options=donated)


make_step = step
"""
_GATE = """
[tool.hloscope.programs.train]
program = "mypackage.train:step"
targets = ["cpu:8"]
"""
_SWEEP = """
[matrix]
programs = ["mypackage.train:step"]
targets = ["cpu:8"]
"""
# version to the size of the program's state
_HISTORY = {"v1.0": 64, "v1.2": 64, "": 256}


def cheaper(text: str) -> str:
    """A page's text with what the tests can afford."""
    for shown, run in CHEAPER:
        text = re.sub(shown, run, text)
    return text


def filled_in(command: str) -> str:
    """A command of running text with its letters replaced, and its options given."""
    command = re.sub(r"(\w+)(?:\|\w+)+", r"\1", command.replace("[", "").replace("]", ""))
    for letter in sorted(GIVEN, key=len, reverse=True):
        command = re.sub(rf"(?<![\w.-]){re.escape(letter)}(?![\w.])", GIVEN[letter], command)
    return command


def environment(cache: Path, tools: Path) -> dict[str, str]:
    """Where `hloscope` is this checkout's, with the interpreter that runs the tests."""
    tools.mkdir(exist_ok=True)
    tool = tools / "hloscope"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m hloscope "$@"\n')
    tool.chmod(0o755)
    identity = {"NAME": "A", "EMAIL": "a@example.org"}
    return {
        **os.environ,
        **{f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in identity.items()},
        "PATH": f"{tools}:{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "HLOSCOPE_CACHE_DIR": str(cache),
    }


def run(command: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs one line of shell."""
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def furnish(folder: Path, env: dict[str, str]) -> None:
    """Puts everything on the desk."""
    package = folder / "mypackage"
    package.mkdir(parents=True)
    for name in ("train", "linen", "nnx"):
        (package / f"{name}.py").write_text(_STEP)
    (package / "__init__.py").touch()
    (folder / "pyproject.toml").write_text(_GATE)
    (folder / "small.toml").write_text(_SWEEP)
    (folder / ".gitignore").write_text("*.hloscope\n__pycache__\nxla_dump*\n")
    _done("git init -q --initial-branch main", folder, env)
    for tag, size in _HISTORY.items():
        (package / "size.py").write_text(f"SIZE = {size}\n")
        version = f" && git tag {tag}" if tag else ""
        _done(f"git add . && git commit -q --allow-empty -m size{version}", folder, env)
    take = "hloscope capture mypackage.train:step{} --target cpu:8 --depth passes -o {}.hloscope"
    _done(take.format("", "before"), folder, env)
    _done(take.format("?donate=false", "after"), folder, env)
    _done("hloscope gate --update", folder, env)
    for side in ("before", "after"):
        dump = folder / f"xla_dump_{side}"
        dump.mkdir()
        text = dump / "module_0001.jit_train_step.cpu_after_optimizations.txt"
        _done(f"hloscope export {side}.hloscope {text} --to hlo", folder, env)


def copy(folder: Path, to: Path) -> None:
    """A desk of one page's own."""
    shutil.copytree(folder, to, symlinks=True)


def _done(command: str, folder: Path, env: dict[str, str]) -> None:
    done = run(command, folder, env)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
