"""Which compilers are installed, found without importing JAX."""

from __future__ import annotations

import platform as machine
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from types import MappingProxyType

from hloscope.errors import HloscopeError

# one of these makes a GPU toolchain; 13 came with jax 0.7.2
_CUDA_MAJORS = ("12", "13")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """The compiler of one platform as installed here.

    Attributes:
      platform: `tpu`, `gpu` or `cpu`.
      versions: package to version; empty where it is not installed.
      problem: why programs cannot be compiled for this platform here, `None` where they can.
      remedy: what to type for it.
    """

    platform: str
    versions: Mapping[str, str]
    problem: str | None = None
    remedy: str | None = None


def toolchain(platform: str) -> Toolchain:
    """The compiler for `tpu`, `gpu` or `cpu` targets, from package metadata alone."""
    if _version("jaxlib") is None:
        return _missing(platform, "jaxlib is not installed", "pip install jax")
    match platform:
        case "tpu":
            return _tpu()
        case "gpu":
            return _gpu()
        case _:
            return Toolchain(platform="cpu", versions=_versions("jaxlib"))


def require_toolchain(platform: str, spec: str) -> Toolchain:
    """The compiler that a target needs.

    Raises:
      HloscopeError: it is not installed; says what to install, or what to do where nothing can be.
    """
    found = toolchain(platform)
    if found.problem:
        raise HloscopeError(f"cannot compile for '{spec}': {found.problem}", remedy=found.remedy)
    return found


def _tpu() -> Toolchain:
    versions = _versions("libtpu")
    if versions:
        return Toolchain(platform="tpu", versions=versions)
    system, processor = machine.system(), machine.machine()
    if (system, processor) != ("Linux", "x86_64"):
        return _missing(
            "tpu",
            f"libtpu has no wheel for {system} {processor}, only for Linux x86_64",
            "--target cpu:8",
        )
    return _missing("tpu", "libtpu is not installed", "pip install 'hloscope[tpu]'")


def _gpu() -> Toolchain:
    system = machine.system()
    for major in _CUDA_MAJORS:
        names = (f"jax-cuda{major}-pjrt", f"jax-cuda{major}-plugin")
        versions = _versions(*names)
        if len(versions) == len(names):
            return _matching(names, versions)
    if system != "Linux":
        return _missing(
            "gpu", f"the CUDA plugin has no wheel for {system}, only for Linux", "--target cpu:8"
        )
    return _missing("gpu", "the CUDA plugin is not installed", "pip install 'hloscope[gpu]'")


def _matching(names: tuple[str, ...], versions: Mapping[str, str]) -> Toolchain:
    """The plugin, as long as it is the one of this very jaxlib."""
    jaxlib = _version("jaxlib") or ""
    release = ".".join(jaxlib.split(".")[:3])
    for name in names:
        if ".".join(versions[name].split(".")[:3]) != release:
            pins = " ".join(f"'{each}=={release}.*'" for each in names)
            return Toolchain(
                platform="gpu",
                versions=versions,
                problem=f"{name} {versions[name]} is not of jaxlib {jaxlib}",
                remedy=f"pip install {pins}",
            )
    return Toolchain(platform="gpu", versions=versions)


def _missing(platform: str, problem: str, remedy: str) -> Toolchain:
    return Toolchain(
        platform=platform, versions=MappingProxyType({}), problem=problem, remedy=remedy
    )


def _versions(*names: str) -> Mapping[str, str]:
    found = {name: version for name in names if (version := _version(name)) is not None}
    return MappingProxyType(found)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
