"""A comparison as plain data; the schema is versioned by `FORMAT`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from hloscope.model.comparison import Comparison
from hloscope.model.source import Source
from hloscope.report.comparison import differs, overall
from hloscope.report.figures_table import memory_total
from hloscope.report.plain import plain

# raised whenever a field is renamed or changes its meaning
FORMAT = 1
# the modules and payloads are the inputs, not the result; `explain` makes the explanation
LEFT_OUT = frozenset({"lhs", "rhs", "pairing", "explain"})


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Everything that was found, under the records' own field names; deltas are rhs - lhs."""
    worst = overall(comparison)
    found = {
        field.name: plain(getattr(comparison, field.name))
        for field in fields(comparison)
        if field.name not in LEFT_OUT
    }
    pairing = comparison.pairing
    return {
        "format": FORMAT,
        "verdict": worst.value if worst else None,
        "differs": differs(comparison),
        "lhs": _side(comparison.lhs),
        "rhs": _side(comparison.rhs),
        **found,
        "explanation": plain(comparison.explanation),
        "pairing": {
            "pairs": len(pairing.pairs),
            "groups": plain(pairing.groups),
            "lhs_only": plain(pairing.lhs_only),
            "rhs_only": plain(pairing.rhs_only),
            "ambiguous": plain(pairing.ambiguous),
            "notes": list(pairing.notes),
        },
    }


def _side(source: Source) -> dict[str, Any]:
    capture = source.capture
    side = {
        "label": source.label,
        "kind": source.kind.value,
        "module": source.module.name,
        "instructions": source.module.instruction_count,
        "notes": [*source.notes, *source.module.notes],
    }
    if capture is None:
        return side
    total, unknown = memory_total(capture.memory)
    return side | {
        "program": capture.program,
        "target": capture.target,
        "depth": capture.depth.value,
        "memory": plain(capture.memory) | {"total": total, "total_without": list(unknown)},
        "cost": plain(capture.cost),
        "out_of_memory": plain(capture.out_of_memory),
        "provenance": plain(capture.provenance),
    }
