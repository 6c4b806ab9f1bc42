"""How a comparison says which order it means."""

from __future__ import annotations


def canonical_comparison(attributes: dict[str, str], dtype: str) -> None:
    """Leaves `type=TOTALORDER` where a comparison of `dtype` means it, otherwise neither.

    XLA until 2026 says `type` (FLOAT, TOTALORDER, SIGNED, UNSIGNED), later ones `order` (TOTAL,
    PARTIAL). Whole numbers have one order only.
    """
    order = attributes.pop("order", "")
    kind = attributes.pop("type", "")
    whole = dtype.startswith(("s", "u", "pred"))
    if not whole and (kind == "TOTALORDER" or order == "TOTAL"):
        attributes["type"] = "TOTALORDER"
