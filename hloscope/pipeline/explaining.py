"""Explains a comparison with the analyzers that are installed."""

from __future__ import annotations

from hloscope.explain import explain, installed
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Explanation


class Explainer:
    """What `Comparison.explanation` asks: runs the analyzers once, on first asking."""

    def __init__(self) -> None:
        self._of: Comparison | None = None
        self._explanation: Explanation | None = None

    def __call__(self, comparison: Comparison) -> Explanation:
        """Why the sides differ."""
        if self._explanation is None or self._of is not comparison:
            found = installed()
            self._explanation = explain(comparison, found.analyzers, found.crashes)
            self._of = comparison
        return self._explanation
