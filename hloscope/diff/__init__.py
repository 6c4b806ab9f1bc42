"""From a pairing to what differs: changes by cause, verdicts, inputs, environment."""

from hloscope.diff.compare import compare
from hloscope.diff.environment import compare_environments
from hloscope.diff.leaves import compare_leaves, pair_leaves
from hloscope.diff.mirror import mirrored
from hloscope.diff.verdict import buffers_verdict, hlo_verdict, inputs_verdict, module_verdict

__all__ = [
    "buffers_verdict",
    "compare",
    "compare_environments",
    "compare_leaves",
    "hlo_verdict",
    "inputs_verdict",
    "mirrored",
    "module_verdict",
    "pair_leaves",
]
