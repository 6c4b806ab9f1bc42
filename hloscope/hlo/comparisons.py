"""How a comparison orders its operands where it does not say."""

from __future__ import annotations


def default_comparison(dtype: str) -> str:
    """The comparison type that XLA leaves unsaid (`Comparison::DefaultComparisonType`)."""
    if dtype.startswith(("u", "pred")):
        return "UNSIGNED"
    return "SIGNED" if dtype.startswith("s") else "FLOAT"
