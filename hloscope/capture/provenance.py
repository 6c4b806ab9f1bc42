"""What surrounds a compile and may steer it; runs in the compiler process."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

from hloscope.capture.revisions import git_environment
from hloscope.capture.targets.toolchain import toolchain

# Set by hloscope itself, the same for every capture.
_OURS = frozenset(
    {
        "jax_enable_compilation_cache",
        "jax_hlo_source_file_canonicalization_regex",
        "jax_num_cpu_devices",
        "jax_platforms",
    }
)
# say nothing about the program: where caches, logs and profiles go
_NOT_STEERING = frozenset({"jax_compilation_cache_dir", "jax_logging_level"})

# distribution -> module whose being loaded makes it part of the program
_LIBRARIES = {
    "flax": "flax",
    "optax": "optax",
    "orbax-checkpoint": "orbax.checkpoint",
    "maxtext": "maxtext",  # from 0.2.1 on
    "equinox": "equinox",
    "dm-haiku": "haiku",
}
_ALWAYS = ("jax", "jaxlib", "numpy")

_GIT_SECONDS = 10.0


def versions(platform_name: str) -> dict[str, str]:
    """Versions of all that takes part in a compile for `tpu`, `gpu` or `cpu`."""
    loaded = tuple(name for name, module in _LIBRARIES.items() if module in sys.modules)
    found = {"python": platform.python_version()} | installed((*_ALWAYS, *loaded))
    return {**found, **toolchain(platform_name).versions}


def installed(distributions: tuple[str, ...]) -> dict[str, str]:
    """Versions of those distributions that are installed."""
    found = {}
    for name in sorted(distributions):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def config_changes(now: Mapping[str, object], start: Mapping[str, object]) -> dict[str, str]:
    """JAX configuration values that somebody changed, by code or by environment.

    Args:
      now: every value while tracing.
      start: every value right after JAX was imported; the environment is in it already.
    """
    return {
        name: str(value)
        for name, value in sorted(now.items())
        if name not in _OURS | _NOT_STEERING
        and (value != start.get(name) or name.upper() in os.environ)
    }


def axis_rules() -> tuple[tuple[str, str], ...]:
    """Flax's logical axis rules that are current; none where Flax is not loaded."""
    rules: list[tuple[object, object]] = []
    for module, name in (
        ("flax.linen", "get_logical_axis_rules"),
        ("flax.core.spmd", "get_logical_axis_rules"),
    ):
        get: Callable[[], object] | None = getattr(sys.modules.get(module), name, None)
        current = get() if get is not None else ()
        if isinstance(current, list | tuple):
            rules += [pair for pair in current if pair not in rules]
    return tuple((str(logical), _axes(axes)) for logical, axes in rules)


def _axes(axes: object) -> str:
    if isinstance(axes, list | tuple):
        return ",".join(str(axis) for axis in axes)
    return str(axes)


def git_state(source: Path | None) -> tuple[str | None, bool | None]:
    """Revision of the repository that tracks `source`, and whether tracked files differ from it.

    `(None, None)` where no repository does, a virtual environment inside one included.
    """
    if source is None or _git(source, "ls-files", "--error-unmatch", source.name) is None:
        return None, None
    revision = _git(source, "rev-parse", "HEAD")
    changes = _git(source, "status", "--porcelain", "--untracked-files=no")
    return revision, None if changes is None else bool(changes)


def _git(source: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(source.parent), *arguments],  # noqa: S607 - the user's git
            capture_output=True,
            text=True,
            check=False,
            timeout=_GIT_SECONDS,
            env=git_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
