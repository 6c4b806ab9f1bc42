"""The probes' edits by name, in the order in which they are applied together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hloscope.capture.edits.barriers import barriers
from hloscope.capture.edits.constraints import constraints
from hloscope.capture.edits.donate import donate
from hloscope.capture.edits.drop_outputs import drop_outputs
from hloscope.capture.edits.dtypes import dtypes
from hloscope.capture.edits.flags import flags
from hloscope.capture.edits.program import Report, Sides
from hloscope.capture.edits.shardings import argument_shardings, output_shardings

Edit = Callable[[Sides], Report]

# donation comes after what changes types and shardings, which decide what can be aliased
EDITS: Mapping[str, Edit] = {
    "constraints": constraints,
    "barriers": barriers,
    "dtypes": dtypes,
    "argument-shardings": argument_shardings,
    "output-shardings": output_shardings,
    "donate": donate,
    "flags": flags,
    # last: it renumbers the outputs
    "drop-outputs": drop_outputs,
}
