"""What a compiler process says on standard error, sorted into noise, warnings and the rest."""

from __future__ import annotations

import re

# a glog line: severity and date, time, thread, file and line
_LOG = re.compile(r"^(?P<severity>[IWEF])\d{4} [\d:.]+ +\d+ (?P<file>[\w./-]+):\d+\] (?P<text>.*)$")

# lines that libtpu and XLA print where nothing is wrong: no TPU here, no GPU here, slow machine
_NOISE = re.compile(
    "|".join(
        (
            r"could not determine TPU",
            r"unexpected worker hostname",
            r"Failed to find host bounds",
            r"before absl::InitializeLog\(\)",
            r"[Ll]ogging before InitGoogle",
            r"=== Source Location Trace",
            r"^learning/\w+/tfrc/",
            r"Could not find cuda drivers",
            r"cuInit|CUDA_ERROR_NO_DEVICE|cuda_diagnostics|cudart_stub",
            r"TPU_(WORKER_HOSTNAMES|ACCELERATOR_TYPE|SKIP_MDS_QUERY)",
            r"slow_operation_alarm|Very slow compile|The operation took",
            r"Constant folding an instruction",
            r"libtpu\.so|transparent hugepages",
            r"cpu_feature_guard|rebuild TensorFlow",
        )
    )
)

_TAIL_LINES = 12
_MOST_WARNINGS = 50


def compiler_warnings(text: str) -> tuple[str, ...]:
    """XLA's warnings as `file: message`, each once, without times and threads."""
    seen: dict[str, None] = {}
    for line in text.splitlines():
        found = _LOG.match(line)
        if found and found["severity"] in "WE" and not _NOISE.search(line):
            seen.setdefault(f"{found['file'].rpartition('/')[2]}: {found['text']}")
    return tuple(seen)[:_MOST_WARNINGS]


def tail(text: str) -> str:
    """The last lines that are no noise: what a process that died has to say."""
    lines = [line for line in text.splitlines() if line.strip() and not _NOISE.search(line)]
    return "\n".join(lines[-_TAIL_LINES:])
