"""Baselines: what a gate remembers of each program, beside the module that explains a failure."""

from __future__ import annotations

import io
import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture, PayloadName
from hloscope.model.gate import BASELINE_SCHEMA, Baseline
from hloscope.model.units import Bytes, Maybe, Missing
from hloscope.store.archive import is_capture, read, write_to
from hloscope.store.atomic import write_atomically
from hloscope.store.records import RecordError, from_json, to_json

if TYPE_CHECKING:
    from etils.epath import Path as EPath

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """A folder of baselines, here or behind a URL.

    Attributes:
      root: a path, or what `etils.epath` takes (`gs://bucket/folder`).
      series: a folder between, such as `jax-0.12`; empty for none.
    """

    root: str
    series: str = ""

    def folder(self, name: str, target: str) -> EPath:
        """Where one program's baseline on one target lies.

        Raises:
          HloscopeError: nothing is installed that reads the URL.
        """
        from etils import epath

        try:
            root = epath.Path(self.root)
        except ImportError as error:
            raise HloscopeError(
                f"cannot open baselines at '{self.root}': {error}",
                remedy="pip install 'etils[epath-gcs]', or what your file system needs",
            ) from None
        parts = (name, target, self.series)
        return root.joinpath(*(_NOT_IN_A_NAME.sub("-", part) for part in parts if part))

    def read(self, name: str, target: str) -> Baseline:
        """What is remembered.

        Raises:
          HloscopeError: nothing is, or it is damaged.
        """
        path = self.folder(name, target) / RECORD
        if not path.exists():
            raise HloscopeError(
                "no baseline", where=str(path), remedy=f"hloscope gate --update {name}"
            )
        try:
            found = from_json(Baseline, json.loads(path.read_text()))
        except (RecordError, ValueError) as error:
            raise HloscopeError(
                f"the baseline is damaged: {error}",
                where=str(path),
                remedy=f"restore it, or hloscope gate --update {name}",
            ) from None
        if found.schema > BASELINE_SCHEMA:
            raise HloscopeError(
                f"baseline of schema {found.schema}; this hloscope reads up to {BASELINE_SCHEMA}",
                where=str(path),
                remedy="pip install --upgrade hloscope",
            )
        return found

    def read_module(self, name: str, target: str) -> Capture:
        """The capture that a baseline was made from, without what can be made again.

        Raises:
          HloscopeError: it is not there, or it is damaged.
        """
        path = self.folder(name, target) / MODULE
        if not path.exists():
            raise HloscopeError(
                "the baseline has no module", where=str(path),
                remedy=f"restore it, or hloscope gate --update {name}",
            )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="hloscope-") as folder:
            local = Path(folder) / MODULE
            local.write_bytes(path.read_bytes())
            if not is_capture(local):
                raise HloscopeError(
                    "the baseline's module is no capture", where=str(path),
                    remedy=f"restore it, or hloscope gate --update {name}",
                )  # fmt: skip
            capture = read(local)
            return replace(capture, payloads=dict(capture.payloads))

    def write(self, name: str, baseline: Baseline, capture: Capture) -> None:
        """Keeps a baseline; the same program gives the same bytes.

        Raises:
          HloscopeError: the folder cannot be written.
        """
        folder = self.folder(name, baseline.target)
        module = io.BytesIO()
        write_to(_slim(capture), module, small=True)
        record = json.dumps(to_json(baseline), indent=1, ensure_ascii=False) + "\n"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise HloscopeError(f"cannot make folder '{folder}': {reason}",
                                remedy="another place for baselines") from None  # fmt: skip
        # the record last: without it there is no baseline, with it there is a whole one
        for file, data in ((MODULE, module.getvalue()), (RECORD, record.encode())):
            _put(folder / file, data)


def _put(path: Any, data: bytes) -> None:
    """One file, atomically where it is local; a remote store's own writes are."""
    if "://" in str(path):
        path.write_bytes(data)
        return
    write_atomically(Path(path), lambda file: file.write(data))


def _slim(capture: Capture) -> Capture:
    """Without times, which are never the same twice, and without what can be made again."""
    payloads = {name: capture.payloads[name] for name in _KEPT if name in capture.payloads}
    unkept: Maybe[Bytes] = Missing("a baseline does not keep it")
    provenance = replace(capture.provenance, seconds={}, peak_memory=unkept)
    return replace(capture, payloads=payloads, provenance=provenance)
