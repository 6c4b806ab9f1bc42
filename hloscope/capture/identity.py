"""What makes two captures the same: keys for the cache."""

from __future__ import annotations

import hashlib
import json
import os
import platform as machine
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from hloscope.capture.messages import Lowered, Request
from hloscope.capture.provenance import installed
from hloscope.capture.revisions import Revision, outside_code, revision_path
from hloscope.capture.targets.toolchain import toolchain
from hloscope.model.capture import SCHEMA, Capture, Depth

_STEERING = ("XLA_", "JAX_", "LIBTPU_", "TPU_", "TF_XLA_", "NVIDIA_TF32", "CUDA_", "MEGASCALE_")
# where things go, not what they are
_NOT_STEERING = frozenset(
    {"JAX_COMPILATION_CACHE_DIR", "JAX_LOGGING_LEVEL", "TPU_LOG_DIR", "JAX_TRACEBACK_FILTERING"}
)
# all that takes part in making a reference program and its capture
_ROOMS = ("capture", "decoders", "hlo", "model")
# whose folder is our own source, part of every key
_OWN_FOLDER = Path(__file__).parents[2]
_PACKAGES = ("jax", "jaxlib", "numpy", "flax", "optax")


class CaptureCache(Protocol):
    """Keeps captures by key; `hloscope.store.Cache` is one."""

    def find(self, key: str, depth: Depth) -> Capture | None:
        """The capture under `key`, or under what it is an alias of, at least as deep."""

    def keep(self, capture: Capture, key: str) -> None:
        """Keeps a capture under `key`."""

    def alone(self, key: str, waiting: Callable[[], object]) -> AbstractContextManager[None]:
        """A block that one process at a time enters for `key`; `waiting` is called meanwhile."""

    def alias(self, alias: str, key: str) -> None:
        """Makes `alias` another name of `key`."""


def steering(overridden: Mapping[str, str]) -> dict[str, str]:
    """The user's environment variables that steer JAX or XLA.

    Args:
      overridden: variables that hloscope sets in the compiler process, whatever the user has.
    """
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if is_steering(name) and (name == "XLA_FLAGS" or name not in overridden)
    }


def is_steering(variable: str) -> bool:
    """Whether an environment variable steers JAX or XLA."""
    return variable.startswith(_STEERING) and variable not in _NOT_STEERING


def reference_key(
    request: Request, environment: Mapping[str, str], platform: str, packages: Mapping[str, str]
) -> str:
    """Key of a reference program, known before anything is traced.

    It holds for those alone: their source is ours, and reads nothing but what is in the key.

    Args:
      request: what to capture.
      environment: variables that steer JAX or XLA.
      platform: `tpu`, `gpu` or `cpu`.
      packages: versions of what is other than in this process.
    """
    return _digest(
        program=request.program,
        versions={
            "python": machine.python_version(),
            **installed(_PACKAGES),
            **toolchain(platform).versions,
            **packages,
        },
        **_circumstances(request, environment),
    )


def revision_key(
    request: Request,
    revision: Revision,
    environment: Mapping[str, str],
    platform: str,
    packages: Mapping[str, str],
) -> str | None:
    """Key of a program at a revision, known before anything is traced; `None` where there is none.

    It holds as far as the program is made of the revision's files and of installed packages; there
    is no key where the import path has other folders.
    """
    installed = _distributions(revision.repository.root)
    if installed is None or outside_code(revision.repository, request.path, _OWN_FOLDER):
        return None
    return _digest(
        program=request.program.partition("@")[0],
        commit=revision.commit,
        inside=str(revision.repository.inside),
        path=revision_path(revision.repository, Path("/"), request.path),
        versions={
            "python": machine.python_version(),
            **installed,
            **toolchain(platform).versions,
            **packages,
        },
        **_circumstances(request, environment),
    )


def traced_key(
    request: Request, lowered: Lowered, stablehlo: bytes, environment: Mapping[str, str]
) -> str:
    """Key of any program, once it is traced: whatever its factory read is in what it made.

    Source lines are part of the StableHLO, so that a capture never shows lines of older source.
    """
    return _digest(
        stablehlo=hashlib.sha256(stablehlo).hexdigest(),
        inputs=[asdict(leaf) for leaf in lowered.inputs],
        outputs=[asdict(leaf) for leaf in lowered.outputs],
        devices=lowered.devices,
        jit_options=lowered.jit_options,
        versions=lowered.versions,
        jax_config=lowered.jax_config,
        ambient_mesh=(lowered.ambient_mesh, lowered.ambient_mesh_from),
        axis_rules=lowered.axis_rules,
        **_circumstances(request, environment),
    )


def recompile_key(
    request: Request, lowered: Lowered, stablehlo: bytes, environment: Mapping[str, str]
) -> str:
    """Key of a compile of a module that is at hand."""
    assert request.recompile is not None  # noqa: S101 - what makes it one
    return _digest(
        options=hashlib.sha256(request.recompile.options).hexdigest(),
        traced=traced_key(request, lowered, stablehlo, environment),
    )


def _distributions(root: Path) -> dict[str, str] | None:
    """Versions of all that is installed; `None` where some of it may change without a new version.

    Args:
      root: of the repository whose own editable installs come from a revision.
    """
    found = {}
    for distribution in metadata.distributions():
        direct = json.loads(distribution.read_text("direct_url.json") or "{}")
        folder = Path(urlsplit(direct.get("url", "")).path)
        editable = direct.get("dir_info", {}).get("editable", False)
        if editable and folder != _OWN_FOLDER and not folder.is_relative_to(root):
            return None
        found[distribution.name] = distribution.version
    return dict(sorted(found.items()))


def _circumstances(request: Request, environment: Mapping[str, str]) -> dict[str, object]:
    return {
        "target": request.target,
        "xla_flags": dict(request.xla_flags),
        "environment": dict(environment),
        "hloscope": _own_source(),
        "schema": SCHEMA,
    }


def _digest(**parts: object) -> str:
    # `default` for the read-only mappings among the parts
    text = json.dumps(parts, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def _own_source() -> str:
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((package / room).rglob("*")):
            if path.suffix in {".py", ".toml"}:
                digest.update(path.relative_to(package).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()
