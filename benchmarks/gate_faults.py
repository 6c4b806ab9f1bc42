"""A small project with a gate: does every fault fail it by its name, and every harmless edit pass?

Usage: python benchmarks/gate_faults.py [--runs 20]

Each fault and each harmless edit is made alone in a fresh copy of the project, whose baseline was
written before. A fault counts as found when the gate ends with 1 and its first line has a code of
the expected kind; a harmless edit passes when it ends with 0. Then the unedited project is judged
`--runs` times, compiled anew each time. Prints a table; ends with 1 where anything failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

CONFIG = """
target = "cpu:8"
forbid = ["CON*", "COLL*", "DON*", "DUS*", "INP*", "LOOP00[1-5]", "PRE*", "REM*", "SHARD*"]

[programs.train]
program = "project.train:train"

[programs.serve]
program = "project.serve:serve"
"""

MODEL = """
import jax
import jax.numpy as jnp

LAYERS, WIDTH, HIDDEN = 4, 256, 1024


def block(x, weights):
    hidden = jnp.tanh(x @ weights["up"])
    return x + hidden @ weights["down"]


def forward(params, x):
    body = jax.checkpoint(block)
    x, _ = jax.lax.scan(lambda x, w: (body(x, w), None), x, params["layers"])
    return x @ params["out"]


def loss(params, batch):
    logits = forward(params, batch["x"])
    return jnp.mean((logits - batch["y"]) ** 2).astype(jnp.float32)
"""

TRAIN = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from hloscope import Program
from project.model import HIDDEN, LAYERS, WIDTH, loss

DTYPE = jnp.bfloat16
ROWS = 256


def update(params, batch):
    grads = jax.grad(loss)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def train(devices):
    mesh = Mesh(np.array(devices), ("fsdp",))

    def array(shape, *axes, dtype=DTYPE):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*axes)))

    params = {
        "layers": {
            "up": array((LAYERS, WIDTH, HIDDEN), None, "fsdp", None),
            "down": array((LAYERS, HIDDEN, WIDTH), None, "fsdp", None),
        },
        "out": array((WIDTH, WIDTH), "fsdp", None),
    }
    batch = {"x": array((ROWS, WIDTH), "fsdp", None), "y": array((ROWS, WIDTH), "fsdp", None)}
    out = jax.tree.map(lambda leaf: leaf.sharding, params)
    options = {"donate_argnums": (0,), "out_shardings": out}
    return Program(function=update, args=(params, batch), jit_options=options)
"""

SERVE = """
import jax
import jax.numpy as jnp

from hloscope import Program


def write(cache, rows, position):
    return jax.lax.dynamic_update_slice(cache, rows, (0, position, 0))


def serve(devices):
    cache = jax.ShapeDtypeStruct((8, 512, 128), jnp.bfloat16)
    rows = jax.ShapeDtypeStruct((8, 1, 128), jnp.bfloat16)
    position = jax.ShapeDtypeStruct((), jnp.int32)
    return Program(
        function=write, args=(cache, rows, position), jit_options={"donate_argnums": (0,)}
    )
"""
FILES = {"model.py": MODEL, "train.py": TRAIN, "serve.py": SERVE, "__init__.py": ""}


class Edit(NamedTuple):
    """Texts to replace in one file; `codes` are the kinds of finding that the gate has to name."""

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]
    codes: tuple[str, ...] = ()


def edit(name: str, file: str, old: str, new: str, *codes: str) -> Edit:
    """An edit of one place."""
    return Edit(name, file, ((old, new),), codes)


FAULTS = (
    edit("donation dropped", "train.py", '"donate_argnums": (0,), ', "", "DON"),
    edit("rematerialization removed", "model.py", "jax.checkpoint(block)", "block",
         "REM", "LOOP003"),
    edit("activations in f32", "model.py", 'jnp.tanh(x @ weights["up"])',
         'jnp.tanh((x.astype(jnp.float32) @ weights["up"].astype(jnp.float32))).astype(x.dtype)',
         "PRE"),
    edit("weights in f32", "train.py", "DTYPE = jnp.bfloat16", "DTYPE = jnp.float32",
         "INP003", "PRE"),
    edit("sharding of weights lost", "train.py",
         '"up": array((LAYERS, WIDTH, HIDDEN), None, "fsdp", None)',
         '"up": array((LAYERS, WIDTH, HIDDEN))', "SHARD"),
    edit("sharding of results lost", "train.py", "lambda leaf: leaf.sharding",
         "lambda leaf: NamedSharding(mesh, P())", "SHARD", "DON"),
    edit("an extra leaf", "train.py", '"out": array(',
         '"scale": array((WIDTH, WIDTH)),\n        "out": array(', "INP"),
    edit("a large constant captured", "model.py", "return x @ params[\"out\"]",
         "import numpy as np\n    table = jnp.asarray(np.random.RandomState(0).rand(WIDTH, WIDTH),"
         " x.dtype)\n    return x @ params[\"out\"] + x @ table", "CON"),
    edit("residual stream in f32", "model.py", "(body(x, w), None), x,",
         "(body(x, w), None), x.astype(jnp.float32),", "PRE"),
    edit("activations replicated", "model.py", "return x @ params[\"out\"]",
         "from jax.sharding import PartitionSpec\n    x = jax.lax.with_sharding_constraint("
         "x, jax.NamedSharding(jax.typeof(x).sharding.mesh, PartitionSpec()))"
         "\n    return x @ params[\"out\"]", "SHARD", "COLL"),
    edit("a larger batch", "train.py", "ROWS = 256", "ROWS = 512", "INP004"),
    edit("cache grown by concatenation", "serve.py",
         "return jax.lax.dynamic_update_slice(cache, rows, (0, position, 0))",
         "return jnp.concatenate([cache[:, 1:], rows], 1)", "KV", "INP", "DON"),
    edit("slice update become a scatter", "serve.py",
         "return jax.lax.dynamic_update_slice(cache, rows, (0, position, 0))",
         "at = jnp.full((8,), position)\n    return jax.vmap(lambda c, r, n: "
         "jax.lax.dynamic_update_slice(c, r, (n, 0)))(cache, rows, at)", "DUS", "DON", "KV"),
    edit("cache no longer donated", "serve.py", ', jit_options={"donate_argnums": (0,)}', "",
         "DON"),
)  # fmt: skip

HARMLESS = (
    edit("function renamed", "train.py", "update", "apply_gradients"),
    edit("variables renamed", "model.py", "hidden", "activations"),
    edit("comments added", "model.py", "def block", "# one layer of the model\n\n\ndef block"),
    edit("docstring added", "model.py", "def loss(params, batch):\n",
         'def loss(params, batch):\n    """Mean squared error."""\n'),
    edit("blank lines", "train.py", "\n\n", "\n\n\n"),
    edit("keys in another order", "train.py", 'batch = {"x": array((ROWS, WIDTH), "fsdp", None), '
         '"y": array((ROWS, WIDTH), "fsdp", None)}',
         'batch = {"y": array((ROWS, WIDTH), "fsdp", None), '
         '"x": array((ROWS, WIDTH), "fsdp", None)}'),
    edit("imports in another order", "train.py", "import jax\nimport jax.numpy as jnp\n",
         "import jax.numpy as jnp\nimport jax\n"),
    Edit("helper extracted", "model.py", (
        ('jnp.tanh(x @ weights["up"])', 'expand(x, weights["up"])'),
        ("def block(", "def expand(x, w):\n    return jnp.tanh(x @ w)\n\n\ndef block("),
    )),
    edit("lambda become a function", "train.py",
         "    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)",
         "    def new(p, g):\n        return p - 0.1 * g\n\n"
         "    return jax.tree.map(new, params, grads)"),
    edit("parentheses", "model.py", "return x + hidden @", "return (x) + (hidden) @"),
    edit("a name for a value", "model.py", 'return x @ params["out"]',
         'last = params["out"]\n    return x @ last'),
    edit("a partial instead of a call", "train.py", "jax.grad(loss)(params, batch)",
         "__import__('functools').partial(jax.grad(loss), params)(batch)"),
    Edit("a file moved", "model.py", ()),
)  # fmt: skip


class Project:
    """A folder with the package, its configuration and its baselines."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder, self.cache = folder, cache

    def write(self) -> None:
        """Makes the files, without baselines."""
        package = self.folder / "project"
        package.mkdir(parents=True)
        for name, text in FILES.items():
            (package / name).write_text(text)
        (self.folder / "hloscope.toml").write_text(CONFIG)

    def gate(self, *arguments: str) -> tuple[int, str]:
        """Exit code, and the headline without its line breaks."""
        done = subprocess.run(
            [sys.executable, "-m", "hloscope", "gate", *arguments],
            cwd=self.folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HLOSCOPE_CACHE_DIR": str(self.cache)},
        )  # fmt: skip
        first = (done.stdout or done.stderr).partition("\n\n")[0]
        return done.returncode, " ".join(first.split())

    def copy(self, folder: Path) -> Project:
        """The same project elsewhere, its baselines included."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return Project(folder, self.cache)

    def change(self, made: Edit) -> None:
        """Makes an edit."""
        path = self.folder / "project" / made.file
        if not made.changes:  # moved: the old name takes everything from the new place
            path.rename(path.with_name("moved.py"))
            path.write_text("from project.moved import *\n")
            return
        text = path.read_text()
        for old, new in made.changes:
            assert old in text, (made.name, old)
            text = text.replace(old, new)
        path.write_text(text)


def main() -> int:
    """Prints the table; 1 where anything was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = Project(folder / "base", folder / "cache")
        project.write()
        code, said = project.gate("--update")
        assert code == 0, said
        wrong = sum(_tried(project, folder / f"e{n}", e) for n, e in enumerate(FAULTS + HARMLESS))
        codes = [project.gate("--no-cache")[0] for _ in range(runs)]
    print(f"{runs} runs of the unedited project, each compiled anew: {codes.count(0)} passed")
    print(f"{len(FAULTS)} faults, {len(HARMLESS)} harmless edits: {wrong} judged wrongly")
    return int(bool(wrong or codes.count(0) != runs))


def _tried(project: Project, folder: Path, made: Edit) -> bool:
    """Makes one edit in a copy and prints its row; whether the gate judged it wrongly."""
    copy = project.copy(folder)
    copy.change(made)
    code, said = copy.gate()
    named = re.findall(r"\b[A-Z]{2,5}\d{3}\b", said)
    good = code == 0 if not made.codes else code == 1 and any(
        each.startswith(made.codes) for each in named
    )  # fmt: skip
    kind = "fault" if made.codes else "harmless"
    print(f"{'ok  ' if good else 'WRONG'} {kind:<9}{made.name:<34}{code}  {said[:150]}", flush=True)
    shutil.rmtree(folder)
    return not good


if __name__ == "__main__":
    sys.exit(main())
