"""Baselines: what a gate remembers of each program, beside the module that explains a failure."""

from __future__ import annotations

import io
import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture, PayloadName
from hloscope.model.gate import BASELINE_SCHEMA, Baseline
from hloscope.model.units import Bytes, Maybe, Missing
from hloscope.store.archive import is_capture, read, write_to
from hloscope.store.locations import locate
from hloscope.store.records import RecordError, from_json, to_json

RECORD = "baseline.json"
MODULE = "module.hloscope"
# what explains a failure and proves it; reports and passes can be made again
_KEPT = (
    PayloadName.OPTIMIZED,
    PayloadName.BEFORE_OPTIMIZATIONS,
    PayloadName.STABLEHLO,
    PayloadName.COMPILE_OPTIONS,
)
_NOT_IN_A_NAME = re.compile(r"[^\w.\-]+")


def folder_of(name: str, target: str) -> str:
    """The folder of one program's baselines on one target, below the root."""
    return "/".join(_NOT_IN_A_NAME.sub("-", part) for part in (name, target))


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """A folder of baselines, here or behind a URL.

    Attributes:
      root: a path, or a URL of any protocol that fsspec knows (`gs://bucket/folder`).
      series: a folder between, such as `jax-0.12`; empty for none.
    """

    root: str
    series: str = ""

    def read(self, name: str, target: str) -> Baseline:
        """What is remembered.

        Raises:
          HloscopeError: nothing is, it is damaged, or the place cannot be reached.
        """
        location, path = locate(self.root), self._path(name, target, RECORD)
        where = location.shown(path)
        data = location.read(path)
        if data is None:
            raise HloscopeError("no baseline", where=where, remedy=f"hloscope gate --update {name}")
        try:
            found = from_json(Baseline, json.loads(data))
        except (RecordError, ValueError, RecursionError) as error:
            raise HloscopeError(
                f"the baseline is damaged: {error}",
                where=where,
                remedy=f"restore it, or hloscope gate --update {name}",
            ) from None
        if found.schema > BASELINE_SCHEMA:
            raise HloscopeError(
                f"baseline of schema {found.schema}; this hloscope reads up to {BASELINE_SCHEMA}",
                where=where,
                remedy="pip install --upgrade hloscope",
            )
        return found

    def read_module(self, name: str, target: str) -> Capture:
        """The capture that a baseline was made from, without what can be made again.

        Raises:
          HloscopeError: it is not there, it is damaged, or the place cannot be reached.
        """
        location, path = locate(self.root), self._path(name, target, MODULE)
        remedy = f"restore it, or hloscope gate --update {name}"
        data = location.read(path)
        if data is None:
            raise HloscopeError(
                "the baseline has no module", where=location.shown(path), remedy=remedy
            )
        with tempfile.TemporaryDirectory(prefix="hloscope-") as folder:
            local = Path(folder) / MODULE
            local.write_bytes(data)
            if not is_capture(local):
                raise HloscopeError(
                    "the baseline's module is no capture", where=location.shown(path),
                    remedy=remedy,
                )  # fmt: skip
            try:
                capture = read(local)
            except HloscopeError as error:  # of the file that is gone by the time it is read
                raise HloscopeError(
                    f"the baseline's module: {error.problem}", where=location.shown(path),
                    remedy=remedy,
                ) from None  # fmt: skip
            return replace(capture, payloads=dict(capture.payloads))

    def write(self, name: str, baseline: Baseline, capture: Capture) -> None:
        """Keeps a baseline; the same program gives the same bytes.

        Raises:
          HloscopeError: the place cannot be written to.
        """
        location = locate(self.root)
        module = io.BytesIO()
        write_to(_slim(capture), module, small=True)
        record = json.dumps(to_json(baseline), indent=1, ensure_ascii=False) + "\n"
        # the record last: without it there is no baseline, with it there is a whole one
        for file, data in ((MODULE, module.getvalue()), (RECORD, record.encode())):
            location.write(self._path(name, baseline.target, file), data)

    def _path(self, name: str, target: str, file: str) -> str:
        return "/".join(part for part in (folder_of(name, target), self.series, file) if part)


def _slim(capture: Capture) -> Capture:
    """Without times, which are never the same twice, and without what can be made again."""
    payloads = {name: capture.payloads[name] for name in _KEPT if name in capture.payloads}
    unkept: Maybe[Bytes] = Missing("a baseline does not keep it")
    provenance = replace(capture.provenance, seconds={}, peak_memory=unkept)
    return replace(capture, payloads=payloads, provenance=provenance)
