"""The HTML report: one file that fetches nothing, in which no name is markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from comparisons import LHS, RHS, compared

from hloscope.cli import cli
from hloscope.errors import HloscopeError
from hloscope.model.canonical import Ref
from hloscope.model.changes import Instance
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Explanation
from hloscope.model.ledger import TimelinePoint
from hloscope.report.html import comparison_html
from hloscope.report.html.charts import thinned
from hloscope.report.html.layout import layered
from hloscope.report.html.listing import Status, listing
from hloscope.report.html.marking import marks
from hloscope.report.html.modules import module_tree
from hloscope.report.html.neighbourhood import STEPS, neighbourhood
from hloscope.report.html.sides import Sides

EVIL = "</script><img src=x onerror=alert(1)>\"'&"


def _unexplained(_: Comparison) -> Explanation:
    return Explanation(findings=(), crashes=(), analyzers=(), accounts={})


class Page(HTMLParser):
    """Tags with their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._inside: dict[str, str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs) if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.scripts.append((self._inside, data))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's signature
        self._inside = None

    def data(self, name: str) -> object:
        found = [text for attrs, text in self.scripts if attrs.get("id") == f"data-{name}"]
        return json.loads("".join(found))


@pytest.fixture(scope="module")
def text() -> str:
    return comparison_html(compared())


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_nothing_is_fetched(page: Page) -> None:
    for tag, attrs in page.tags:
        assert tag not in {"link", "iframe", "object", "embed", "base"}
        for name in ("src", "action", "srcset", "poster", "data", "background"):
            assert name not in attrs, (tag, attrs)
        assert (attrs.get("href") or "#").startswith("#")
        assert not [name for name in attrs if name.startswith("on")]


def test_the_policy_names_the_scripts_that_are_there(page: Page) -> None:
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    code = [body for attrs, body in page.scripts if attrs.get("type") != "application/json"]
    hashes = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in code]
    assert sorted(re.findall(r"'sha256-([^']+)'", policy)) == sorted(hashes)
    assert "unsafe-inline" not in policy.split("style-src")[0]
    assert "unsafe-eval" not in policy


def test_no_name_is_markup() -> None:
    name = re.sub(r"[^\w.<>/()=&'\"-]", "", EVIL)
    lhs = LHS.replace("params['w']", EVIL.replace('"', '\\"')).replace(
        "train.py", f"{name[:12]}.py"
    )
    rhs = RHS.replace("params['w']", EVIL.replace('"', '\\"'))
    text = comparison_html(compared(lhs, rhs, labels=(EVIL, f"{EVIL} 2")))
    page = Page(text)
    assert not [attrs for tag, attrs in page.tags if tag == "img"]
    assert "onerror=alert" in text  # it is there, as text
    assert "<img" not in re.sub(r"<script>.*", "", text, flags=re.DOTALL)
    assert [tag for tag, _ in page.tags].count("script") == 5


def test_it_says_what_the_terminal_says(text: str) -> None:
    for part in ("NOT THE SAME PROGRAM: lhs against rhs", "+3.00 MiB", "DON001", "structural",
                 "train.py:12 (step)", "hloscope prove lhs rhs --probe donate",
                 "Not known: whether the caller reads it again.",
                 "hloscope diff lhs rhs --html report.html"):  # fmt: skip
        assert part in text, part


def test_the_same_comparison_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    for name, hlo in (("lhs", LHS), ("rhs", RHS)):
        (tmp_path / f"{name}.hlo").write_text(hlo)
    code = "from hloscope.cli import cli; cli(['diff','lhs.hlo','rhs.hlo','--html','{}.html'])"
    reports = []
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", code.format(seed)],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""},
        )
        reports.append((tmp_path / f"{seed}.html").read_bytes())
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("place", "says"), [("gone/report.html", "no folder 'gone'"), (".", "'.' is a folder")]
)
def test_a_place_that_cannot_be_is_refused_before_anything_is_done(
    place: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HloscopeError, match=says):
        cli(["diff", "not.hlo", "there.hlo", "--html", place], standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def test_texts_stand_beside_each_other() -> None:
    found = listing(Sides(compared()))
    assert found.whole
    assert found.left_out == 0
    by_name = {listed.lhs: listed for listed in found.computations}
    assert set(by_name) == {"main", "body"}
    body = [(str(line.status), line.lhs[:9], line.rhs[:9]) for line in by_name["body"].lines]
    assert body == [
        (" ", "%carry.1 ", "%carry.1 "),
        (" ", "%step.2 =", "%step.2 ="),
        (" ", "%one.3 = ", "%one.3 = "),
        (" ", "%next.4 =", "%next.4 ="),
        (" ", "%state.5 ", "%state.5 "),
        (" ", "%dot.6 = ", "%dot.6 = "),
        ("+", "", "%copy.20 "),
        (" ", "%tuple.7 ", "%tuple.7 "),
    ]
    (changed,) = (line for line in by_name["main"].lines if line.rhs.startswith("%sum.14"))
    assert changed.status is Status.CHANGED
    assert [changed.lhs[a:b] for a, b in changed.lhs_marks] == ["add"]
    assert [changed.rhs[a:b] for a, b in changed.rhs_marks] == ["subtract"]


def test_only_what_differs_is_marked() -> None:
    lhs = "%a.1 = f32[8]{0} add(%b.2, %c.3), dims={0}"
    rhs = "%z.9 = f32[16]{0} add(%y.8, %x.7), dims={1}"
    partner = {"b.2": "y.8"}
    left, right = marks(lhs, rhs, lambda name: partner.get(name, name))
    assert [lhs[a:b] for a, b in left] == ["8", "%c.3", "0"]
    assert [rhs[a:b] for a, b in right] == ["16", "%x.7", "1"]


def test_the_graph_around_a_change_holds_both_sides() -> None:
    sides = Sides(compared())
    (copy,) = (
        Ref(number, place)
        for number, computation in enumerate(sides.rhs.module.computations)
        for place, instruction in enumerate(computation.instructions)
        if instruction.opcode == "copy"
    )
    around = neighbourhood(sides, Instance(None, copy))
    named = [
        (n.distance, n.lhs and sides.lhs.instruction(n.lhs).name,
         n.rhs and sides.rhs.instruction(n.rhs).name) for n in around.nodes
    ]  # fmt: skip
    assert named == [
        (0, None, "copy.20"),
        (1, "dot.6", "dot.6"),
        (1, "tuple.7", "tuple.7"),
        (2, "carry.1", "carry.1"),
    ]
    edges = {(e.source, e.user): (e.lhs, e.rhs) for e in around.edges}
    assert edges == {(0, 2): (False, True), (1, 0): (False, True), (1, 2): (True, False),
                     (3, 1): (True, True)}  # fmt: skip


def test_a_neighbourhood_is_never_a_hairball() -> None:
    wide = "HloModule m\n\nENTRY %e (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
    wide += "".join(f"  %n.{i} = f32[4]{{0}} negate(%p)\n" for i in range(300))
    wide += "  %s.0 = f32[4]{0} add(%n.0, %n.1)\n"
    wide += "".join(f"  %s.{i} = f32[4]{{0}} add(%s.{i - 1}, %n.{i})\n" for i in range(2, 300))
    lhs = wide + "  ROOT %r = f32[4]{0} copy(%s.299)\n}\n"
    sides = Sides(compared(lhs, lhs.replace("copy(", "exponential(")))
    around = neighbourhood(sides, Instance(Ref(0, 0), Ref(0, 0)))
    assert len(around.nodes) <= 40
    assert max(node.distance for node in around.nodes) <= STEPS
    assert around.hidden[0] == (295, 295)


def test_a_drawing_keeps_sources_above_users() -> None:
    edges = [(0, 1), (1, 2), (0, 2), (3, 2), (4, 5)]
    drawing = layered(7, edges)
    assert all(drawing.nodes[a][1] < drawing.nodes[b][1] for a, b in edges)
    assert len(set(drawing.nodes)) == 7
    assert set(drawing.bends) == {(0, 2)}


def test_modules_add_up() -> None:
    comparison = compared()
    tree = module_tree(comparison)
    for column in tree["columns"]:
        for number in range(len(tree["labels"])):
            inside = [n for n, parent in enumerate(tree["parents"]) if parent == number]
            assert sum(column["size"][n] for n in inside) <= column["size"][number]
    moved = {c["show"]: c["balance"][0] for c in tree["columns"] if c["quantity"] == "moved"}
    assert moved["rhs"] - moved["lhs"] == moved["delta"] == comparison.cost.bytes.known


def test_the_report_stays_small(text: str) -> None:
    # all but the charts' library, which is the same for every report
    assert len(text.encode()) - 4_900_000 < 100_000


def test_a_long_schedule_keeps_its_peaks() -> None:
    sizes = [number % 7 for number in range(40_000)]
    sizes[12_345], sizes[23_456] = 1_000, -1_000
    points = [TimelinePoint("entry", f"i.{number}", size) for number, size in enumerate(sizes)]
    kept = list(thinned(points))
    assert len(kept) <= 3_000
    assert {12_345, 23_456} <= set(kept)
    assert kept == sorted(set(kept))
    assert list(thinned(points[:3_000])) == list(range(3_000))


def test_endless_text_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hloscope.report.html.listing._WHOLE", 0)
    monkeypatch.setattr("hloscope.report.html.listing._BUDGET", 150)
    found = listing(Sides(compared()))
    assert not found.whole
    assert [listed.lhs for listed in found.computations] == ["main"]
    assert found.left_out == 1
    assert found.computations[0].lines[-1].status is Status.CUT


def test_a_table_without_end_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hloscope.report.html.change_rows.MOST", 1)
    text = comparison_html(compared())
    assert "1 changes, and 2 more that are not in this file" in text


def test_equal_sides_have_nothing_to_show() -> None:
    text = comparison_html(replace(compared(LHS, LHS), explain=_unexplained))
    for part in ("Nothing to explain.", "Nothing differs in the graph.", "No line differs."):
        assert part in text
