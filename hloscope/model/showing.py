"""Shows records in a notebook as small tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from hloscope.model.number_text import bytes_text, count_text
from hloscope.model.units import Maybe, Measured, Missing, T

if TYPE_CHECKING:
    import pandas as pd

_ROWS = 12  # of a table; its `frame()` has all
_WIDTH = 72  # characters of a cell
_CAPTION = "caption-side: top; text-align: left; font-weight: bold"


class Shown:
    """A record that shows itself in a notebook, with what `frame()` has.

    Attributes:
      shown_columns: those of `frame()` that a small table shows; all where none are named.
      shown_largest: the column whose largest figures come first; `""` keeps the order.
    """

    __slots__ = ()
    shown_columns: ClassVar[tuple[str, ...]] = ()
    shown_largest: ClassVar[str] = ""

    def frame(self) -> pd.DataFrame:
        """One row per field.

        Columns: `field`, `value` (short text; what is large is counted).
        """
        import pandas as pd

        rows = [(field.name, _short(getattr(self, field.name))) for field in fields(self)]  # type: ignore[arg-type]  # records are dataclasses
        return pd.DataFrame(rows, columns=["field", "value"])

    def shown_title(self) -> str:
        """What stands above the table."""
        return type(self).__name__

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The tables to show, each with its title."""
        frame = self.frame()
        if self.shown_largest:
            frame = frame.sort_values(self.shown_largest, ascending=False, kind="stable")
        columns = [name for name in self.shown_columns if name in frame.columns]
        yield self.shown_title(), frame[columns] if columns else frame

    def _repr_html_(self) -> str:
        """Small tables; every text is escaped."""
        return "\n".join(table_html(title, frame) for title, frame in self.shown_tables())


def table_html(title: str, frame: pd.DataFrame) -> str:
    """The first rows of a table, bytes and counts as people read them."""
    import pandas as pd

    left = len(frame) - _ROWS
    more = f" (the first {_ROWS} of {len(frame)} rows)" if left > 0 else ""
    with pd.option_context("display.max_colwidth", _WIDTH):
        html: str = frame.head(_ROWS).to_html(
            index=False, border=0, na_rep="", formatters=_formatters(frame), escape=True
        )
    caption = f'<caption style="{_CAPTION}">{escape(title + more)}</caption>'
    return html.replace("<thead>", f"{caption}\n  <thead>", 1)


def _formatters(frame: pd.DataFrame) -> dict[str, Callable[[Any], str]]:
    return {str(name): _known(_text_of(str(name))) for name in frame.columns}


def _text_of(column: str) -> Callable[[Any], str]:
    """How a column's figures are written, by its name."""
    if "bytes" in column or column in ("moved", "sent"):
        return bytes_text
    if "flops" in column or column == "transcendentals":
        return count_text
    return lambda value: f"{value:.4g}" if isinstance(value, float) else str(value)


def _known(text: Callable[[Any], str]) -> Callable[[Any], str]:
    """Nothing is written where a figure is missing."""
    import pandas as pd

    return lambda value: "" if pd.isna(value) else text(value)


def amount_text(value: float | None, unit: object) -> str:
    """A figure as people read it, by its unit (`B`, `FLOP`, `s`, or empty for a count)."""
    import pandas as pd

    if pd.isna(value):
        return ""
    if unit == "s":
        return f"{value:.3g} s"
    return bytes_text(value) if unit == "B" else count_text(value, str(unit))


def with_units(
    frame: pd.DataFrame, columns: Sequence[str], units: Sequence[object]
) -> pd.DataFrame:
    """Some columns as text, each row in its unit."""
    texts = {
        name: [amount_text(v, u) for v, u in zip(frame[name], units, strict=True)]
        for name in columns
    }
    return frame.assign(**texts)


def known(figure: Maybe[T] | None) -> T | None:
    """A figure, `None` where it is missing."""
    return figure.value if isinstance(figure, Measured) else None


def reason(figure: Maybe[Any] | None) -> str:
    """Why a figure is missing, empty where it is not."""
    return figure.reason if isinstance(figure, Missing) else ""


def _short(value: object) -> str:
    """A field in one line; what has many parts is counted."""
    match value:
        case Measured(inner):
            return _short(inner)
        case Missing(reason):
            return f"unknown: {reason}"
        case None | str() | int() | float():
            return "" if value is None else str(value)
        case Shown():
            return value.shown_title()
        case bytes():
            return bytes_text(len(value))
        case Mapping():
            return _listed(
                [f"{key}={_short(item)}" for key, item in sorted(value.items(), key=str)]
            )
        case tuple():
            return _listed([_short(item) for item in value])
    return str(getattr(value, "__qualname__", type(value).__name__))


def _listed(parts: list[str]) -> str:
    text = ", ".join(parts)
    return text if len(text) <= _WIDTH else f"{len(parts)} entries"
