"""What this machine can compute: the compiler of CPU programs asks for it."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
# Extensions that XLA chooses kernels or types by, the most capable first.
_EXTENSIONS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2", "avx", "sse4_2")


@cache
def instruction_set(cpuinfo: Path = _CPUINFO) -> str:
    """Architecture and, on x86, the most capable extension: `x86_64 avx2`.

    Args:
      cpuinfo: where Linux says it; where there is no such file, the architecture is all.
    """
    architecture = platform.machine()
    try:
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
    except OSError:
        return architecture
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    best = next((name for name in _EXTENSIONS if name in flags), None)
    return architecture if best is None else f"{architecture} {best}"
