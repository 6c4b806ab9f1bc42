"""A small project with a gate, that edits are made in: a language model's training and serving."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

CONFIG = """
target = "{target}"
forbid = ["ATT*", "CON*", "COLL*", "DON*", "DUS*", "INP*", "KV*", "LOG*", "LOOP00[1-6]", "OUT*",
          "PRE*", "REM*", "SHARD*"]

[programs.train]
program = "project.train:train"

[programs.serve]
program = "project.serve:serve"
"""

MODEL = """
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS, WIDTH, HIDDEN, HEADS, VOCAB = 4, 256, 1024, 4, 4096
CHUNKS = 4


def attend(x, w):
    query, key, value = (jnp.einsum("btd,dhk->bthk", x, w[name]) for name in ("q", "k", "v"))
    scores = jnp.einsum("bqhk,bthk->bhqt", query, key) * (WIDTH // HEADS) ** -0.5
    time = jnp.arange(x.shape[1])
    scores = jnp.where(time[:, None] >= time, scores, -1e9)
    return jnp.einsum("bhqt,bthk,hkd->bqd", jax.nn.softmax(scores), value, w["o"])


def feed_forward(x, w):
    hidden = jnp.tanh(x @ w["up"])
    return hidden @ w["down"]


def block(x, w):
    x = x + attend(x, w)
    return x + feed_forward(x, w)


def forward(params, tokens, mesh):
    x = params["embed"][tokens]
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(("data", "fsdp"))))
    body = jax.checkpoint(block)
    x, _ = jax.lax.scan(lambda x, w: (body(x, w), None), x, params["layers"])
    return x


def loss(params, batch, mesh):
    x = forward(params, batch["tokens"], mesh)

    def chunk(total, part):
        rows, targets = part
        logits = (rows @ params["head"]).astype(jnp.float32)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1)
        return total - picked.mean(), None

    def cut(array):
        return jnp.moveaxis(array.reshape(array.shape[0], CHUNKS, -1, *array.shape[2:]), 1, 0)

    total, _ = jax.lax.scan(jax.checkpoint(chunk), 0.0, (cut(x), cut(batch["targets"])))
    return total
"""

TRAIN = """
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from hloscope import Program
from project.model import HEADS, HIDDEN, LAYERS, VOCAB, WIDTH, loss

DTYPE = jnp.bfloat16
STEPS, ROWS, TIME = 2, 16, 256


def update(params, momentum, batch, mesh):
    def one(total, part):
        grads = jax.grad(loss)(params, part, mesh)
        return jax.tree.map(jnp.add, total, grads), None

    zeros = jax.tree.map(jnp.zeros_like, params)
    grads, _ = jax.lax.scan(one, zeros, batch)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum)
    return params, momentum


def train(devices):
    mesh = Mesh(np.array(devices).reshape(2, -1), ("data", "fsdp"))

    def array(shape, *axes, dtype=DTYPE):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*axes)))

    params = {
        "embed": array((VOCAB, WIDTH), "fsdp", None),
        "layers": {
            "q": array((LAYERS, WIDTH, HEADS, WIDTH // HEADS), None, "fsdp"),
            "k": array((LAYERS, WIDTH, HEADS, WIDTH // HEADS), None, "fsdp"),
            "v": array((LAYERS, WIDTH, HEADS, WIDTH // HEADS), None, "fsdp"),
            "o": array((LAYERS, HEADS, WIDTH // HEADS, WIDTH), None, None, None, "fsdp"),
            "up": array((LAYERS, WIDTH, HIDDEN), None, "fsdp", None),
            "down": array((LAYERS, HIDDEN, WIDTH), None, None, "fsdp"),
        },
        "head": array((WIDTH, VOCAB), "fsdp", None),
    }
    momentum = jax.tree.map(lambda leaf: leaf, params)
    rows = functools.partial(array, (STEPS, ROWS, TIME), None, ("data", "fsdp"), dtype=jnp.int32)
    batch = {"tokens": rows(), "targets": rows()}
    kept = jax.tree.map(lambda leaf: leaf.sharding, (params, momentum))
    options = {"donate_argnums": (0, 1), "out_shardings": kept}
    step = functools.partial(update, mesh=mesh)
    return Program(function=step, args=(params, momentum, batch), jit_options=options)
"""

SERVE = """
import jax
import jax.numpy as jnp

from hloscope import Program

LAYERS, ROWS, TIME, HEADS, SIZE = 2, 8, 512, 4, 64
WIDTH = HEADS * SIZE


def write(cache, row, position):
    return jax.lax.dynamic_update_slice(cache, row, (0, position, 0, 0))


def attend(query, keys, values, position):
    scores = jnp.einsum("bqhk,bthk->bhqt", query, keys) * SIZE**-0.5
    scores = jnp.where(jnp.arange(TIME) <= position, scores, -1e9)
    return jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(scores), values)


def decode(params, cache, x, position):
    new = []
    for weights, (keys, values) in zip(params, cache, strict=True):
        query, key, value = (jnp.einsum("btd,dhk->bthk", x, weights[n]) for n in ("q", "k", "v"))
        keys, values = write(keys, key, position), write(values, value, position)
        new.append((keys, values))
        x = x + attend(query, keys, values, position).reshape(x.shape)
    return x, new


def serve(devices):
    def array(*shape, dtype=jnp.bfloat16):
        return jax.ShapeDtypeStruct(shape, dtype)

    params = [{name: array(WIDTH, HEADS, SIZE) for name in ("q", "k", "v")} for _ in range(LAYERS)]
    cache = [(array(ROWS, TIME, HEADS, SIZE), array(ROWS, TIME, HEADS, SIZE))] * LAYERS
    args = (params, cache, array(ROWS, 1, WIDTH), array(dtype=jnp.int32))
    return Program(function=decode, args=args, jit_options={"donate_argnums": (1,)})
"""
FILES = {"model.py": MODEL, "train.py": TRAIN, "serve.py": SERVE, "__init__.py": ""}


class Edit(NamedTuple):
    """Texts to replace in a project.

    Attributes:
      changes: file, old text (all that are there) and new text; without an old text the file is
        moved to the new one and everything is imported from there.
      codes: how the codes of findings begin that name the regression's cause, or words that say it
        where no finding has a name for it; none for a harmless edit.
      platforms: where it is a regression.
    """

    name: str
    changes: tuple[tuple[str, str, str], ...]
    codes: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ("cpu", "tpu")

    def only(self, *platforms: str) -> Edit:
        """The same edit, on some platforms alone."""
        return self._replace(platforms=platforms)

    def is_judged_well(self, code: int, line: str) -> bool:
        """Whether a gate that ended with this code and first line was right about it."""
        if not self.codes:
            return code == 0
        first = re.findall(r"\b[A-Z]{2,5}\d{3}\b", line)[:1]
        named = any(each.startswith(self.codes) for each in first)
        return code == 1 and (named or any(" " in words and words in line for words in self.codes))


def edit(name: str, file: str, old: str, new: str, *codes: str) -> Edit:
    """An edit of one place."""
    return Edit(name, ((file, old, new),), codes)


class Project:
    """A folder with the package, its configuration and its baselines."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder, self.cache = folder, cache

    def write(self, target: str) -> None:
        """Makes the files, without baselines."""
        package = self.folder / "project"
        package.mkdir(parents=True)
        for name, text in FILES.items():
            (package / name).write_text(text)
        (self.folder / "hloscope.toml").write_text(CONFIG.format(target=target))

    def gate(self, *arguments: str) -> tuple[int, str]:
        """Exit code, and the first line of what the gate says."""
        done = subprocess.run(
            [sys.executable, "-m", "hloscope", "gate", *arguments],
            cwd=self.folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HLOSCOPE_CACHE_DIR": str(self.cache)},
        )  # fmt: skip
        return done.returncode, (done.stdout or done.stderr).partition("\n")[0]

    def copy(self, folder: Path) -> Project:
        """The same project elsewhere, its baselines included."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return Project(folder, self.cache)

    def change(self, made: Edit) -> None:
        """Makes an edit."""
        for file, old, new in made.changes:
            path = self.folder / "project" / file
            if not old:
                path.rename(path.with_name(new))
                path.write_text(f"from project.{Path(new).stem} import *\n")
                continue
            text = path.read_text()
            assert old in text, (made.name, old)
            path.write_text(text.replace(old, new))
