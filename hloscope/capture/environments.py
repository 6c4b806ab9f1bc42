"""Environments with other packages, for a capture by other tools: `--with jax==0.11.2`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from hloscope.capture.child import Child
from hloscope.capture.failures import folder_trouble
from hloscope.errors import HloscopeError

_SCRIPT = Path(__file__).with_name("environment_script.py")
_POLL_SECONDS = 0.1
_MOST_LINES = 8  # of what uv or pip says at the end

# the compilers that go with a release of jax, as its own extras name them
_EXTRAS = {"tpu": "tpu", "gpu": "cuda12-local"}
_COMPILERS = {"tpu": "libtpu", "gpu": "jax-cuda12-plugin"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Packages that lie over those of this environment.

    Attributes:
      asked: the requirements, as the user wrote them.
      python: the interpreter.
      site: its folder of packages.
      packages: name to version of what it adds or changes.
      conflicts: what packages of this environment say against it, one sentence each.
    """

    asked: tuple[str, ...]
    python: str
    site: str
    packages: Mapping[str, str]
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """How environments are made.

    Attributes:
      folder: where they are kept.
      progress: told each step's name as it begins.
      cancelled: once set, making one is given up.
    """

    folder: Path
    progress: Callable[[str], None]
    cancelled: threading.Event


def make_environment(asked: Sequence[str], platform_name: str, making: Making) -> Environment:
    """The environment with these packages, made where there is none yet.

    Args:
      asked: requirements as pip takes them, `jax==0.11.2`.
      platform_name: `tpu`, `gpu` or `cpu`; a release of jax brings that platform's compiler.
      making: where and how.

    Raises:
      HloscopeError: a requirement cannot be read, or uv or pip cannot fulfil it.
    """
    requirements = _with_compiler([_parse(text) for text in asked], platform_name)
    texts = sorted(str(requirement) for requirement in requirements)
    key = _key(texts) if all(map(_is_pinned, requirements)) else None
    if key is None or not (making.folder / key).is_dir():
        key = _build(texts, key, making)
    return _opened(tuple(asked), making.folder / key)


def _parse(text: str) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).strip().partition("\n")[0]
        raise HloscopeError(
            f"'{text}' is no requirement: {reason}",
            where="--with, --lhs-with or --rhs-with",
            remedy="a package as pip takes it: jax==0.11.2",
        ) from error


def _with_compiler(requirements: Sequence[Requirement], platform_name: str) -> list[Requirement]:
    """With jax comes the compiler of its own release, unless one is asked for."""
    named = {canonicalize_name(requirement.name) for requirement in requirements}
    if platform_name in _EXTRAS and _COMPILERS[platform_name] not in named:
        for requirement in requirements:
            if canonicalize_name(requirement.name) == "jax" and requirement.url is None:
                requirement.extras.add(_EXTRAS[platform_name])
    return list(requirements)


def _is_pinned(requirement: Requirement) -> bool:
    specifiers = list(requirement.specifier)
    return requirement.url is None and any(
        one.operator in ("==", "===") and "*" not in one.version for one in specifiers
    )


def _key(lines: Sequence[str]) -> str:
    """Of an environment: what is in it, the interpreter, and what it lies over."""
    here = sorted((d.name, d.version) for d in metadata.distributions() if d.name)
    parts = (list(lines), platform.python_version(), sys.prefix, here)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _build(texts: list[str], key: str | None, making: Making) -> str:
    part = making.folder / f"{uuid.uuid4().hex}.part"
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        with Child() as child:
            job = {"environment": str(part), "uv": _uv(), "requirements": texts}
            (child.folder / "environment.json").write_text(json.dumps(job))
            command = [sys.executable, str(_SCRIPT), str(child.folder)]
            child.start(command, dict(os.environ), remove=(part,))
            _await(child, texts, making)
            if key is None:
                added = json.loads((part / "packages.json").read_text())
                key = _key([f"{name}=={version}" for name, version in sorted(added.items())])
            # another process may have been quicker
            with contextlib.suppress(OSError):
                part.rename(making.folder / key)
    except OSError as error:
        raise folder_trouble(error) from error
    return key


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")


def _await(child: Child, texts: list[str], making: Making) -> None:
    making.progress("environment")
    while True:
        for event in child.events(timeout=_POLL_SECONDS):
            match event:
                case {"event": "phase", "name": str(name)}:
                    making.progress(name)
                case {"event": "ended", "code": 0}:
                    return
                case {"event": "ended"} | {"event": "guard lost"}:
                    raise _refusal(child.folder, texts)
        if making.cancelled.is_set():
            raise HloscopeError("making the environment was cancelled")


def _refusal(folder: Path, texts: list[str]) -> HloscopeError:
    path = folder / "stderr.txt"
    said = path.read_text(errors="replace") if path.is_file() else ""
    said = re.sub(r"\x1b\[[0-9;]*m", "", said)
    lines = [line.rstrip() for line in said.splitlines() if line.strip()][-_MOST_LINES:]
    return HloscopeError(
        "\n    ".join([f"no environment with {', '.join(texts)}:", *lines]),
        where=f"Python {platform.python_version()}",
        remedy="a version that exists for this Python; the package index is the one of uv's or "
        "pip's own configuration",
    )


def _opened(asked: tuple[str, ...], folder: Path) -> Environment:
    packages = json.loads((folder / "packages.json").read_text())
    (site,) = (folder / "lib").glob("python*/site-packages")
    return Environment(
        asked=asked,
        python=str(folder / "bin" / "python"),
        site=str(site),
        packages=packages,
        conflicts=tuple(_conflicts(packages)),
    )


def _conflicts(packages: Mapping[str, str]) -> list[str]:
    changed = {canonicalize_name(name): version for name, version in packages.items()}
    found = set()
    for distribution in metadata.distributions():
        if canonicalize_name(distribution.name) in changed:
            continue
        for text in distribution.requires or ():
            wanted = Requirement(text)
            version = changed.get(canonicalize_name(wanted.name))
            if version is None or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
                continue
            if not wanted.specifier.contains(version, prereleases=True):
                found.add(
                    f"{distribution.name} {distribution.version} wants {wanted.name}"
                    f"{wanted.specifier}, and gets {version}"
                )
    return sorted(found)


def laid_over(path: Sequence[str], site: str, installed: Sequence[str]) -> tuple[str, ...]:
    """The import path with an environment's packages before all others that are installed.

    Args:
      path: the import path of this process.
      site: the environment's folder of packages.
      installed: this environment's folders of packages.
    """
    first = next((n for n, entry in enumerate(path) if entry in installed), len(path))
    return (*path[:first], site, *path[first:])
