"""The tree of an Orbax checkpoint, without reading an array; called in the child process."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import jax

from hloscope.errors import HloscopeError
from hloscope.model.capture import Leaf

_METADATA = "_METADATA"


def checkpoint_leaves(folder: str) -> tuple[Leaf, ...]:
    """The arrays of a checkpoint, in the order of their paths.

    Args:
      folder: of the checkpoint, or of a step of a `CheckpointManager` that has one item.

    Raises:
      HloscopeError: Orbax is not installed, or the folder holds no checkpoint that it can read.
    """
    try:
        orbax: Any = importlib.import_module("orbax.checkpoint")
    except ImportError as error:
        raise HloscopeError(
            f"'{folder}' is a folder, and reading a checkpoint needs Orbax",
            where=folder,
            remedy="pip install orbax-checkpoint",
        ) from error
    item = _item(Path(folder))
    try:
        with orbax.PyTreeCheckpointer() as checkpointer:
            metadata = checkpointer.metadata(item.resolve())
    except Exception as error:  # whatever Orbax and its storage raise
        lines = f"{type(error).__name__}: {error}".splitlines()
        raise HloscopeError(
            f"orbax cannot read the checkpoint: {lines[0]}", where=folder
        ) from error
    tree = getattr(metadata, "item_metadata", metadata)
    tree = getattr(tree, "tree", tree)
    flat = jax.tree_util.tree_leaves_with_path(tree, is_leaf=_is_array)
    found = tuple(_leaf(path, array) for path, array in flat if _is_array(array))
    if not found:
        raise HloscopeError("the checkpoint has no arrays", where=folder)
    return found


def _item(folder: Path) -> Path:
    if (folder / _METADATA).exists():
        return folder
    items = sorted(path.parent for path in folder.glob(f"*/{_METADATA}"))
    if len(items) == 1:
        return items[0]
    if items:
        names = ", ".join(path.name for path in items)
        raise HloscopeError(
            f"the checkpoint has {len(items)} items: {names}",
            where=str(folder),
            remedy=f"one of them, {items[0]}",
        )
    raise HloscopeError(
        f"'{folder}' holds no Orbax checkpoint: there is no {_METADATA}",
        where=str(folder),
        remedy="the folder of one step, such as checkpoints/1000",
    )


def _is_array(value: Any) -> bool:
    return getattr(value, "shape", None) is not None and getattr(value, "dtype", None) is not None


def _leaf(path: Any, array: Any) -> Leaf:
    axes, mesh = _sharding(getattr(array, "sharding", None), len(array.shape))
    return Leaf(
        path=jax.tree_util.keystr(path),
        shape=tuple(int(extent) for extent in array.shape),
        dtype=str(array.dtype),
        weak_type=False,
        sharding=axes,
        mesh=mesh,
        memory_kind=None,
        layout=None,
        donated=False,
        parameter=None,
    )


def _sharding(sharding: Any, rank: int) -> tuple[str | None, dict[str, int] | None]:
    """As `capture.leaves` writes a sharding; a checkpoint has the spec and the mesh as saved."""
    spec = getattr(sharding, "partition_spec", None)
    if spec is None:
        return None, None
    entries = [tuple(entry) if isinstance(entry, list) else entry for entry in spec]
    entries += [None] * (rank - len(entries))
    mesh = {
        str(name): int(extent)
        for name, extent in zip(sharding.axis_names, sharding.shape, strict=True)
    }
    return f"PartitionSpec({', '.join(map(repr, entries))})", mesh
