"""The formats that sides can be exported to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from hloscope.errors import HloscopeError
from hloscope.export.files import Files
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format.

    Attributes:
      what: one line of help.
      module: where its writer is, loaded only when it is used.
      writer: a function of a side, or of a comparison where it takes pairs, that gives `Files`.
      pairs: whether it takes two sides.
      folder: whether it is a folder rather than one file.
    """

    what: str
    module: str
    writer: str
    pairs: bool
    folder: bool


FORMATS: Mapping[str, Format] = {
    "xprof": Format(
        what="log folder for `xprof --logdir`: memory viewer and graph viewer",
        module="xprof", writer="xprof", pairs=False, folder=True,
    ),
    "model-explorer": Format(
        what="graphs, and the pairing of their nodes, for Model Explorer side by side",
        module="model_explorer", writer="model_explorer", pairs=True, folder=True,
    ),
    "perfetto": Format(
        what="memory over the schedule as a trace for ui.perfetto.dev",
        module="perfetto", writer="perfetto", pairs=True, folder=False,
    ),
    "dot": Format(
        what="the graph for Graphviz",
        module="dot", writer="dot", pairs=False, folder=False,
    ),
    "hlo": Format(
        what="HLO text that XLA reads again",
        module="text", writer="text", pairs=False, folder=False,
    ),
    "csv": Format(
        what="every table, one .csv each",
        module="tables", writer="csv", pairs=True, folder=True,
    ),
    "parquet": Format(
        what="every table, one .parquet each",
        module="tables", writer="parquet", pairs=True, folder=True,
    ),
}  # fmt: skip


def export(name: str, subject: Source | Comparison) -> Files:
    """Writes one side, or two that were compared, in a format.

    Args:
      name: of the format, one of `FORMATS`.
      subject: what is exported.

    Raises:
      HloscopeError: there is no such format, it does not take two sides, or a side lacks what it
        needs.
    """
    if name not in FORMATS:
        raise HloscopeError(f"unknown format '{name}'", remedy=f"one of {', '.join(FORMATS)}")
    chosen = FORMATS[name]
    if isinstance(subject, Comparison) and not chosen.pairs:
        raise HloscopeError(
            f"format '{name}' takes one side, not two", remedy="export each side by itself"
        )
    module = import_module(f"hloscope.export.{chosen.module}")
    writer: Callable[[Source | Comparison], Files] = getattr(module, chosen.writer)
    return writer(subject)
