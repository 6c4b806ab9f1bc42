"""Captures many small programs for one target in one process. Arguments: target, folder, specs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from hloscope.capture.messages import DUMP, Request
from hloscope.capture.targets import child_environment, parse_target
from hloscope.model.capture import Depth, PayloadName
from hloscope.model.units import Missing

target, folder, specs = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
os.environ.update(child_environment(parse_target(target), os.environ))

from hloscope import store  # noqa: E402
from hloscope.capture.assemble import assemble  # noqa: E402
from hloscope.capture.compiling import Compilation  # noqa: E402
from hloscope.capture.dump import Dump  # noqa: E402
from hloscope.capture.scrub import this_identity  # noqa: E402
from hloscope.capture.session import Outcome  # noqa: E402
from hloscope.capture.steps import Steps  # noqa: E402


def take(number: int, spec: str) -> None:
    place = folder / str(number)
    place.mkdir(exist_ok=True)
    request = Request(
        program=spec, pickled=False, target=target, depth=Depth.HLO, xla_flags={},
        path=tuple(sys.path), source_prefixes="",
    )  # fmt: skip
    compilation = Compilation(request, place, Steps(lambda _: None))
    lowered = compilation.lower()
    compiled = compilation.compile()
    payloads = Dump(place / DUMP, lowered.module).payloads()
    for name in (PayloadName.STABLEHLO, PayloadName.COMPILE_OPTIONS):
        payloads[name] = (place / name).read_bytes()
    outcome = Outcome(
        lowered=lowered, compiled=compiled, payloads=payloads, warnings=(),
        peak_memory=Missing("compiled with others"), seconds={},
    )  # fmt: skip
    capture = assemble(outcome, request, {}, this_identity(os.environ))
    store.write(capture, folder / f"{number}.hloscope")


failures = {}
for number, spec in enumerate(specs):
    try:
        take(number, spec)
    except Exception as error:
        failures[spec] = f"{type(error).__name__}: {error}"
(folder / "failures.json").write_text(json.dumps(failures))
sys.stdout.flush()
os._exit(0)
