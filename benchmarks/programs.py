"""Small programs of many kinds, compiled once, whose modules the benchmarks work on."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import platformdirs

# the worker's own text is part of the key: another list of programs is another pool
_WORKER = Path(__file__).with_name("program_worker.py")


def compiled_modules(
    platforms: tuple[str, ...] = ("cpu", "tpu"), programs: tuple[str, ...] = ()
) -> dict[str, Path]:
    """HLO protos by name, compiled in a child process where the cache has none.

    Args:
      platforms: what to compile for.
      programs: names from `program_worker`; all of them by default.

    Raises:
      RuntimeError: if a program does not compile, or the platform's compiler is not installed.
    """
    modules: dict[str, Path] = {}
    for platform in platforms:
        folder = _cache_folder(platform, programs)
        if not (folder / "complete").exists():
            _compile(platform, folder, programs)
        modules.update((path.name.removesuffix(".hlo.pb"), path) for path in folder.glob("*.pb"))
    # before optimization a module does not depend on where it is compiled for
    for name in [name for name in modules if name.endswith(".tpu.before")]:
        if name.replace(".tpu.", ".cpu.") in modules:
            del modules[name]
    return dict(sorted(modules.items()))


def _cache_folder(platform: str, programs: tuple[str, ...]) -> Path:
    content = _WORKER.read_bytes() + repr(programs).encode()
    key = hashlib.blake2b(content, digest_size=6).hexdigest()
    root = Path(platformdirs.user_cache_dir("hloscope")) / "benchmark-modules"
    return root / f"{platform}-jax{version('jax')}-{key}"


def _compile(platform: str, folder: Path, programs: tuple[str, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "TPU_SKIP_MDS_QUERY": "1",
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    }
    command = [sys.executable, str(_WORKER), platform, str(folder), *programs]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"compiling for {platform} failed:\n{run.stderr[-2000:]}")
    (folder / "complete").touch()
