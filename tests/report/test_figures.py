"""Figures say what the ledgers say, and can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text

import hloscope
from hloscope import figures
from hloscope.cli import cli
from hloscope.errors import HloscopeError
from hloscope.hlo import read_text
from hloscope.model.canonical import Ref
from hloscope.model.capture import MemoryFigures
from hloscope.model.cost import CostDelta, CostLedger
from hloscope.model.hlo import Shape
from hloscope.model.ledger import (
    Category,
    DeltaEntry,
    DeltaKind,
    Instant,
    LedgerDelta,
    LedgerEntry,
    MemoryLedger,
    Part,
    TimelinePoint,
    Value,
)
from hloscope.model.source import Source, SourceKind
from hloscope.model.units import Bytes, Measured, Missing
from hloscope.report.figures.labels import cut, cut_path, shape_label, side_names
from hloscope.report.figures.style import LHS, RHS

MIB = 1 << 20
UNKNOWN = Missing("not compiled to the end")
LONG = "a_very_long_instruction_name_that_no_figure_can_hold.clone.clone.1234567"


def entry(name: str, size: int, *path: str, category: Category = Category.TEMPORARY) -> LedgerEntry:
    return LedgerEntry(
        category=category,
        name=name,
        size=Bytes(size),
        unpadded=Bytes(size),
        value=Value(Ref(0, 0), ()),
        shape=Shape("bf16", (8, 128)),
        shape_text="bf16[8,128]{1,0}",
        opcode="fusion",
        path=path,
    )


def ledger(sizes: Sequence[int], *entries: LedgerEntry, peak: str = "fusion.1") -> MemoryLedger:
    top = max(sizes, default=0)
    return MemoryLedger(
        space=0,
        instant=Instant("main", peak),
        at_peak=True,
        entries=entries,
        figures=MemoryFigures(
            argument=Measured(Bytes(0)),
            output=Measured(Bytes(0)),
            alias=Measured(Bytes(0)),
            temp=Measured(Bytes(top)),
            code=UNKNOWN,
            source="buffer assignment",
        ),
        values={},
        timeline=tuple(
            TimelinePoint("main", peak if size == top else f"add.{number}", size)
            for number, size in enumerate(sizes)
        ),
    )


def delta_of(*pairs: tuple[LedgerEntry | None, LedgerEntry | None]) -> LedgerDelta:
    """A delta in which each pair is one entry."""
    entries = []
    for lhs, rhs in pairs:
        size = Bytes((rhs.size if rhs else 0) - (lhs.size if lhs else 0))
        kind = (
            DeltaKind.RESIZED if lhs and rhs else DeltaKind.ONLY_RHS if rhs else DeltaKind.ONLY_LHS
        )
        parts = ((Part.SHAPE, size),) if lhs and rhs else ()
        entries.append(DeltaEntry(kind=kind, size=size, lhs=lhs, rhs=rhs, parts=parts))
    left = ledger([MIB], *(lhs for lhs, _ in pairs if lhs))
    right = ledger([MIB], *(rhs for _, rhs in pairs if rhs))
    return LedgerDelta(lhs=left, rhs=right, entries=tuple(entries), unchanged=7)


def texts(ax: Axes) -> list[Text]:
    """Every text that is to be seen."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    ticks = {*ax.get_xticklabels(), *ax.get_yticklabels()}
    low, high = ax.get_xlim()
    bottom, top = sorted(ax.get_ylim())
    inside = {t for t in ax.get_xticklabels() if low <= t.get_position()[0] <= high}
    inside |= {t for t in ax.get_yticklabels() if bottom <= t.get_position()[1] <= top}
    if not ax.axison:
        inside.clear()
    found = [t for t in figure.findobj(Text) if isinstance(t, Text)]
    return [
        t for t in found if t.get_visible() and t.get_text() and (t not in ticks or t in inside)
    ]


def assert_readable(ax: Axes) -> None:
    """No text lies over another, or reaches out of the figure."""
    shown = texts(ax)
    figure = ax.get_figure(root=True)
    assert figure is not None
    boxes = []
    for text in shown:
        # of an annotation the text alone, without its box and arrow
        extent = Text.get_window_extent(text)
        assert figure.bbox.x0 - 1 <= extent.x0, text.get_text()
        assert extent.x1 <= figure.bbox.x1 + 1, text.get_text()
        assert figure.bbox.y0 - 1 <= extent.y0, text.get_text()
        assert extent.y1 <= figure.bbox.y1 + 1, text.get_text()
        boxes.append((text.get_text(), extent))
    for (one, first), (other, second) in combinations(boxes, 2):
        assert not first.overlaps(second), f"{one!r} over {other!r}"


def notes(ax: Axes) -> list[str]:
    return [child.get_text() for child in ax.get_children() if isinstance(child, Annotation)]


def rows(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def spans(ax: Axes) -> list[tuple[float, float]]:
    """From where to where each bar reaches."""
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    ends = [(float(bar.get_x()), float(bar.get_x() + bar.get_width())) for bar in bars]
    return [(min(pair), max(pair)) for pair in ends]


def widths(ax: Axes) -> list[float]:
    return [high - low for low, high in spans(ax)]


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


@pytest.mark.parametrize("peaks", [(1, 1), (1, 8), (8, 1), (4, 5), (5, 4), (0, 9), (9, 0), (2, 7)])
def test_peaks_are_marked_side_by_side(peaks: tuple[int, int]) -> None:
    sides = []
    for peak, top in zip(peaks, (40, 41), strict=True):
        sizes = [10 * MIB] * 10
        sizes[peak] = top * MIB
        sides.append(ledger(sizes, entry("a", top * MIB), peak=LONG))
    ax = figures.memory_over_schedule(
        sides[0], sides[1], labels=("x/linen.hloscope", "x/nnx.hloscope")
    )
    assert_readable(ax)
    assert sorted(notes(ax)) == [
        f"peak 40.00 MiB at {cut(LONG, 36)}",
        f"peak 41.00 MiB at {cut(LONG, 36)}",
    ]
    dots = {line.get_color(): points(line)[0] for line in ax.lines if line.get_marker() == "o"}
    assert dots[LHS] == pytest.approx((100 * peaks[0] / 9, 40))
    assert dots[RHS] == pytest.approx((100 * peaks[1] / 9, 41))


def test_the_line_follows_the_heap() -> None:
    ax = figures.memory_over_schedule(ledger([0, 3 * MIB, MIB], entry("a", 3 * MIB)))
    assert points(ax.lines[0]) == [(0, 0), (50, 3), (100, 1), (100, 1)]
    assert ax.lines[0].get_drawstyle() == "steps-post"  # held until the next event
    assert ax.get_ylabel() == "live, MiB"


def test_a_side_without_a_heap_is_a_level_line() -> None:
    constant = ledger([], entry("a", 2 * MIB, category=Category.ARGUMENT))
    ax = figures.memory_over_schedule(constant, ledger([MIB, 4 * MIB], entry("a", 4 * MIB)))
    assert_readable(ax)
    assert "peak 2.00 MiB throughout" in notes(ax)
    assert points(ax.lines[0]) == [(0, 2), (100, 2)]


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


@pytest.mark.parametrize(
    ("limit", "text"),
    [(5, "the device has 5.00 MiB"), (500, "the device has 500.00 MiB (beyond this figure)")],
)
def test_the_capacity_is_drawn_where_it_does_not_flatten_the_lines(limit: int, text: str) -> None:
    side = ledger(
        [MIB, 4 * MIB], entry("a", 3 * MIB), entry("holes", MIB, category=Category.FRAGMENTATION)
    )
    ax = figures.memory_over_schedule(side, capacity=Measured(Bytes(limit * MIB)))
    assert_readable(ax)
    assert legend(ax) == ["lhs: 4.00 MiB held at the peak, 1.00 MiB of it fragmentation", text]
    assert bool(ax.get_ylim()[1] > limit) is (limit == 5)


def test_a_waterfall_ends_at_the_gap() -> None:
    delta = delta_of(
        (None, entry("fusion.1", 5 * MIB, "decoder", "layers", "mlp")),
        (entry("copy.2", 2 * MIB, "decoder"), None),
        (entry(LONG, MIB, *["deep"] * 30), entry(LONG, 3 * MIB, *["deep"] * 30)),
    )
    ax = figures.memory_waterfall(delta, labels=("linen", "nnx"))
    assert_readable(ax)
    assert spans(ax) == [(0, 0), (0, 5), (5, 7), (5, 7), (0, 5)]
    assert notes(ax) == [
        "3.00 MiB", "+5.00 MiB", "+2.00 MiB", "-2.00 MiB", "8.00 MiB (+5.00 MiB)",
    ]  # fmt: skip
    assert rows(ax)[1] == "only in rhs: bf16[8,128]\nfusion.1  decoder/layers/mlp"
    assert rows(ax)[2].startswith("grown (shape): bf16[8,128]\na_very_long_instruction_name_…  …/")
    assert rows(ax)[3:] == ["only in lhs: bf16[8,128]\ncopy.2  decoder", "nnx"]
    assert max(len(line) for row in rows(ax) for line in row.splitlines()) <= 54


def test_what_is_not_shown_is_one_row() -> None:
    delta = delta_of(*((None, entry(f"f.{n}", (n + 1) * MIB, f"m{n}x{'y' * n}")) for n in range(9)))
    ax = figures.memory_waterfall(delta, top=2)
    assert_readable(ax)
    assert rows(ax)[-2] == "7 others together"
    assert sum(widths(ax)[1:-1]) == widths(ax)[-1] == 45


def test_no_difference_is_a_sentence() -> None:
    ax = figures.memory_waterfall(delta_of())
    assert "every buffer that lives at peak is on both sides" in [t.get_text() for t in texts(ax)]
    assert_readable(ax)


MATMULS = """HloModule m
ENTRY e {
  a = f32[64,64] parameter(0)
  b = f32[64,64] parameter(1)
  d = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    metadata={op_name="jit(f)/Decoder/mlp/dot_general"}
  e = f32[64,64] dot(d, b), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    metadata={op_name="jit(f)/Decoder/attention/dot_general"}
  c = f32[64,64] custom-call(e), custom_call_target="unheard_of",
    metadata={op_name="jit(f)/Decoder/attention/kernel"}
  ROOT r = f32[64,64] add(c, d), metadata={op_name="jit(f)/Decoder/add"}
}
"""


def side(text: str, label: str = "side") -> Source:
    (module,) = read_text(text)
    return Source(label=label, kind=SourceKind.TEXT, module=module)


def test_modules_have_their_flops_and_what_is_unknown_is_said() -> None:
    ax = figures.cost_by_module(hloscope.cost(side(MATMULS, "a/b.hlo")), "flops")
    assert_readable(ax)
    assert rows(ax) == ["Decoder/attention", "Decoder/mlp", "Decoder"]
    assert [round(w * 1000) for w in widths(ax)] == [2 * 64**3, 2 * 64**3, 64**2]
    assert notes(ax) == ["524.29 k + ?", "524.29 k", "4.10 k"]
    assert "not counted (?): 1 instruction; custom call 'unheard_of'" in ax.get_xlabel()
    assert ax.get_title(loc="left") == "1.05 M FLOPs in one step\nb.hlo"


def test_a_cost_difference_has_bars_to_both_sides() -> None:
    less = MATMULS.replace("dot(d, b), lhs", "dot(a, b), lhs").replace(
        "b = f32[64,64] parameter(1)", "b = f32[64,64] parameter(1)\n  n = f32[64,64] tanh(b)"
    )
    found = hloscope.compare(side(less, "one"), side(MATMULS, "two")).cost
    ax = figures.cost_by_module(found, "transcendentals")
    assert_readable(ax)
    assert ax.get_title(loc="left").endswith("two against one")
    assert [note.partition(" +")[0] for note in notes(ax)] == ["-4.10 k"]


def test_no_cost_difference_is_a_sentence() -> None:
    cost = hloscope.compare(side(MATMULS), side(MATMULS)).cost
    assert isinstance(cost, CostDelta)
    ax = figures.cost_by_module(cost)
    assert any(text.get_text().startswith("no module differs") for text in texts(ax))


def test_an_unknown_quantity_is_refused() -> None:
    cost = hloscope.cost(side(MATMULS))
    assert isinstance(cost, CostLedger)
    with pytest.raises(HloscopeError, match="unknown quantity 'watts'"):
        figures.cost_by_module(cost, "watts")


COLLECTIVES = """HloModule m, num_partitions=8
add { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y) }
ENTRY e {
  a = f32[64,64] parameter(0)
  g = f32[64,512] all-gather(a), dimensions={1}, replica_groups=[1,8]<=[8], channel_id=1
  r = f32[64,64] all-reduce(a), to_apply=add, replica_groups=[1,8]<=[8], channel_id=2
  h = f32[64,512] all-gather(r), dimensions={1}, replica_groups=[1,8]<=[8], channel_id=3
  ROOT t = (f32[64,512], f32[64,64], f32[64,512]) tuple(g, r, h)
}
"""


def test_bytes_sent_are_stacked_by_kind() -> None:
    fewer = COLLECTIVES.replace(
        "all-reduce(a), to_apply=add, replica_groups=[1,8]<=[8], channel_id=2", "negate(a)"
    )
    found = hloscope.compare(side(fewer, "x/one.hlo"), side(COLLECTIVES, "x/two.hlo")).communication
    ax = figures.communication_by_axis(found)
    assert_readable(ax)
    # KiB in a ring of 8: each gathers 7 shards of 16 KiB, twice; reducing sends 2 * 7/8 of 16 KiB
    assert spans(ax) == [(0, 224), (0, 224), (224, 224), (224, 252)]
    assert ax.get_title(loc="left") == "+28.00 KiB sent by one device in one step"
    assert [row.partition(": ")[2] for row in rows(ax)] == ["one.hlo", "two.hlo"]


def test_a_comparison_has_the_figures_it_has_data_for() -> None:
    drawn = figures.comparison_figures(hloscope.compare(side(MATMULS), side(MATMULS)))
    assert list(drawn) == ["cost_bytes_by_module", "cost_flops_by_module"]


@pytest.mark.parametrize(
    ("image", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_the_same_figure_has_the_same_bytes(image: str, start: bytes) -> None:
    def content() -> bytes:
        ax = figures.memory_waterfall(delta_of((None, entry("fusion.1", MIB, "decoder"))))
        figure = ax.get_figure(root=True)
        assert figure is not None
        return figures.figure_bytes(figure, image)

    first = content()
    assert first.startswith(start)
    assert content() == first


def test_axes_of_ones_own_are_drawn_on() -> None:
    figure = Figure(figsize=(16, 5))
    left, right = figure.subplots(1, 2)
    delta = delta_of((None, entry("fusion.1", MIB, "decoder")))
    assert figures.memory_over_schedule(delta.lhs, delta.rhs, left) is left
    assert figures.memory_waterfall(delta, ax=right) is right


def test_texts_are_cut_where_they_say_least() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut_path(["decoder", "layers", "mlp"], 12) == "…/layers/mlp"
    assert cut_path(["abcdefghij"], 5) == "…ghij"
    assert cut_path(["a", "b"], 3) == "a/b"
    tuples = Shape("tuple", elements=(Shape("f32"), Shape("s32", (2,)), Shape("pred")))
    assert shape_label(tuples) == "(f32[], s32[2], …)"


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("/a/linen.hlo", "/b/nnx.hlo"), ("linen.hlo", "nnx.hlo")),
        (("/a/x.hlo", "/b/x.hlo"), ("a/x.hlo", "b/x.hlo")),
        (("/a/x.hlo", "/a/x.hlo"), ("x.hlo", "x.hlo")),
        (("m:g?a=1&b=2", "m:g?a=1&b=3"), ("m:g?b=2&…", "m:g?b=3&…")),
        (("m:g?a=1", "m:h?a=1"), ("m:g?…", "m:h?…")),
        (("gpt3-tiny:linen", "gpt3-tiny:nnx"), ("gpt3-tiny:linen", "gpt3-tiny:nnx")),
        (("/", "m:f?a=1"), ("/", "m:f?a=1")),
    ],
)
def test_sides_are_named_by_what_tells_them_apart(
    labels: tuple[str, str], names: tuple[str, str]
) -> None:
    assert side_names(labels) == names
    assert side_names(labels[::-1]) == names[::-1]


def test_the_waterfall_of_a_real_pair_adds_up(corpus: Path) -> None:
    names = ("gpt3-52k.linen", "gpt3-52k.nnx")
    found = hloscope.compare(*(corpus / "maxtext_aot" / name for name in names))
    drawn = figures.comparison_figures(found)
    for figure in drawn.values():
        assert_readable(figure.axes[0])
    ax = drawn["memory_waterfall"].axes[0]
    assert rows(ax)[0] == "gpt3-52k.linen"
    assert widths(ax) == [0, *[0.5] * 10, 10, 15]  # KiB: thirty rng keys and counts
    assert all(re.search(r"^argument added: u32.*\n.*/rngs/", row) for row in rows(ax)[1:11])
    assert rows(ax)[-2:] == ["20 others together", "gpt3-52k.nnx"]


def every_figure() -> Iterator[Axes]:
    yield figures.memory_over_schedule(ledger([MIB], entry("a", MIB)))
    yield figures.memory_waterfall(delta_of((None, entry("a", 1))))
    yield figures.cost_by_module(hloscope.cost(side(MATMULS)))
    yield figures.communication_by_axis(hloscope.communication(side(COLLECTIVES)))


def test_no_pyplot_state_is_left() -> None:
    from matplotlib import pyplot as plt

    drawn = list(every_figure())
    assert len(drawn) == 4
    assert plt.get_fignums() == []


def diff_into(folder: Path, sides: Path) -> object:
    for name in ("one", "two"):
        (sides / f"{name}.hlo").write_text(COLLECTIVES)
    arguments = ["diff", str(sides / "one.hlo"), str(sides / "two.hlo"), "--figures", str(folder)]
    return cli([*arguments, "--figure-format", "svg"], standalone_mode=False)


def test_the_diff_verb_writes_figures(tmp_path: Path) -> None:
    assert diff_into(tmp_path / "new" / "folder", tmp_path) == 0
    written = sorted((tmp_path / "new" / "folder").iterdir())
    assert [path.name for path in written] == [
        "communication_by_axis.svg", "cost_bytes_by_module.svg", "cost_flops_by_module.svg",
    ]  # fmt: skip
    assert all(b"</svg>" in path.read_bytes() for path in written)


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HloscopeError, match="cannot make folder"):
        diff_into(tmp_path / "one.hlo" / "folder", tmp_path)
