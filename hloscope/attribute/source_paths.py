"""The module paths of one side as it was read."""

from __future__ import annotations

from hloscope.attribute.module_path import ModulePaths
from hloscope.model.source import Source


def source_paths(source: Source) -> ModulePaths:
    """Module paths of a side's instructions; a capture gives the tree paths of its inputs.

    What asks for more than one ledger of a side works them out once and hands them to each.
    """
    inputs = source.capture.inputs if source.capture else ()
    given = {leaf.parameter: leaf.path for leaf in inputs if leaf.parameter is not None}
    return ModulePaths(source.module, given)
