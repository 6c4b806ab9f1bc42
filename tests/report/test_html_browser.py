"""The HTML report in a real browser: what a reader clicks does what it says."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import chromium
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from comparisons import LHS, RHS, compared

import hloscope
from hloscope.report.html import comparison_html

pytestmark = chromium.marks
webdriver = pytest.importorskip("selenium.webdriver")
By = pytest.importorskip("selenium.webdriver.common.by").By
# of each graph, the boxes that lines lead from and to
EDGES = """
return Array.from(document.querySelectorAll("tr.detail .graph svg")).map((svg) => {
  const boxes = Array.from(svg.querySelectorAll("g:not(.absent)")).map((group) => {
    const at = (name) => Number(group.querySelector("rect").getAttribute(name));
    return { name: group.querySelector("text").textContent, middle: at("x") + at("width") / 2,
             top: at("y"), bottom: at("y") + at("height") };
  });
  const near = (x, y, edge) =>
    boxes.find((box) => Math.abs(box.middle - x) < 1 && Math.abs(box[edge] - y) < 8);
  return Array.from(svg.querySelectorAll("path:not(.head)")).map((path) => {
    const numbers = path.getAttribute("d").match(/-?[0-9.]+/g).map(Number);
    const from = near(numbers[0], numbers[1], "bottom");
    const to = near(numbers[numbers.length - 2], numbers[numbers.length - 1], "top");
    return [from && from.name, to && to.name];
  }).sort();
});
"""
EVIL = "<img src=x onerror=document.title=1>"


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium.chromium() as driver:
        yield driver


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    rhs = RHS.replace("params['w']", EVIL)
    path.write_text(comparison_html(compared(LHS.replace("params['w']", EVIL), rhs)))
    return path.as_uri()


@pytest.fixture
def page(browser: webdriver.Chrome, report: str) -> Iterator[webdriver.Chrome]:
    browser.execute_cdp_cmd("Network.enable", {})
    browser.get(report)
    _until(lambda: browser.execute_script("return document.documentElement.dataset.ready") == "yes")
    yield browser
    assert browser.get_log("browser") == []


def _until(holds: object) -> None:
    assert callable(holds)
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def _visible(page: webdriver.Chrome) -> list[str]:
    script = (
        "return Array.from(document.querySelectorAll('#rows tbody tr:not(.detail)'))"
        ".filter(row => !row.hidden).map(row => row.querySelector('.what').textContent)"
    )
    found: list[str] = page.execute_script(script)
    return found


def test_it_fetches_nothing_and_runs_no_name(page: webdriver.Chrome) -> None:
    names = page.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert [name for name in names if not name.startswith(("blob:", "data:"))] == []
    assert page.title == "NOT THE SAME PROGRAM: lhs against rhs"
    assert not page.find_elements(By.CSS_SELECTOR, "img[src=x]")


def test_the_page_is_there_before_the_charts_and_all_of_them_come(page: webdriver.Chrome) -> None:
    loaded, drawn, scrolled = page.execute_script(
        "return [performance.getEntriesByType('navigation')[0].loadEventEnd,"
        " performance.getEntriesByName('charts')[0].startTime, scrollY]"
    )
    assert 0 < loaded < drawn
    assert scrolled == 0
    assert not page.find_elements(By.ID, "plotly")
    assert page.find_elements(By.CSS_SELECTOR, "#icicle .slice")


def test_the_table_filters(page: webdriver.Chrome) -> None:
    assert len(_visible(page)) == 2
    page.find_element(By.ID, "filter").send_keys("COPY")
    assert _visible(page) == ["added copy f32[8,8] copy.20"]
    assert page.find_element(By.ID, "shown").text.startswith("1 of ")
    page.find_element(By.ID, "filter").clear()
    page.find_element(By.ID, "filter").send_keys(" ")
    page.execute_script(
        "const s = document.getElementById('class'); s.value = 'opcode';"
        "s.dispatchEvent(new Event('input'))"
    )
    assert [what.partition(":")[0] for what in _visible(page)] == ["subtract sum.14"]


def test_the_table_sorts(page: webdriver.Chrome) -> None:
    before = _visible(page)
    button = page.find_element(By.CSS_SELECTOR, "button[data-sort=what]")
    button.click()
    assert _visible(page) == sorted(before)
    header = page.find_element(By.CSS_SELECTOR, "th:has(> button[data-sort=what])")
    assert header.get_attribute("aria-sort") == "ascending"
    button.click()
    assert _visible(page) == sorted(before, reverse=True)
    assert header.get_attribute("aria-sort") == "descending"
    page.find_element(By.CSS_SELECTOR, "button[data-sort=moved]").click()
    assert _visible(page)[0] == "added copy f32[8,8] copy.20"


def test_a_change_opens_into_text_and_graphs(page: webdriver.Chrome) -> None:
    page.find_element(By.CSS_SELECTOR, "button[data-sort=moved]").click()
    opener = page.find_element(By.CSS_SELECTOR, "#rows button.open")
    opener.click()
    assert opener.get_attribute("aria-expanded") == "true"
    detail = page.find_element(By.CSS_SELECTOR, "tr.detail")
    texts = [pre.text for pre in detail.find_elements(By.TAG_NAME, "pre")]
    assert texts == ["(not on this side)", "%copy.20 = f32[8,8]{1,0} copy(%dot.6)"]
    labels = _labels(page)
    assert labels == ["lhs: dot.6, tuple.7", "rhs: copy.20, dot.6, tuple.7"]
    assert page.execute_script(EDGES) == [
        [["dot.6", "tuple.7"]],
        [["+ copy.20", "tuple.7"], ["dot.6", "+ copy.20"]],
    ]
    more = detail.find_element(By.XPATH, ".//button[text()='more neighbours']")
    more.click()
    assert _labels(page) == [f"{label}, carry.1" for label in labels]
    # the two of a pair stand at the same place
    places = [
        {t: (r.get_attribute("x"), r.get_attribute("y")) for t, r in _boxes(panel)}
        for panel in detail.find_elements(By.CSS_SELECTOR, ".graph svg")
    ]
    assert places[0].keys() < places[1].keys()
    assert all(places[1][name] == place for name, place in places[0].items())
    opener.click()
    assert not detail.is_displayed()


def _labels(page: webdriver.Chrome) -> list[str | None]:
    graphs = page.find_elements(By.CSS_SELECTOR, "tr.detail .graph svg")
    return [graph.get_attribute("aria-label") for graph in graphs]


def _boxes(panel: object) -> list[tuple[str, object]]:
    found = panel.find_elements(By.CSS_SELECTOR, "g:not(.absent)")  # type: ignore[attr-defined]
    return [
        (box.find_element(By.TAG_NAME, "text").get_attribute("textContent"),
         box.find_element(By.TAG_NAME, "rect")) for box in found
    ]  # fmt: skip


def test_the_modules_switch(page: webdriver.Chrome) -> None:
    def shown() -> list[str]:
        script = (
            "return Array.from(document.querySelectorAll('#icicle .slicetext'))"
            ".map(text => text.textContent)"
        )
        return list(page.execute_script(script))

    def choose(name: str, value: str) -> None:
        page.find_element(By.CSS_SELECTOR, f"input[name={name}][value={value}]").click()

    choose("show", "lhs")
    _until(lambda: any(text.startswith("all") for text in shown()))
    moved = shown()
    assert any("10.00 KiB" in text for text in moved)
    choose("quantity", "flops")
    _until(lambda: any("12.38 kFLOP" in text for text in shown()))
    choose("show", "delta")
    _until(lambda: page.find_element(By.ID, "icicle-empty").is_displayed())


def test_the_text_opens_with_what_differs_marked(page: webdriver.Chrome) -> None:
    for summary in page.find_elements(By.CSS_SELECTOR, "details.listing > summary"):
        summary.click()
    _until(lambda: len(page.find_elements(By.CSS_SELECTOR, "table.lines")) == 2)
    marked = [mark.text for mark in page.find_elements(By.CSS_SELECTOR, "table.lines mark")]
    assert marked == ["add", "subtract"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colours_follow_the_theme(page: webdriver.Chrome, theme: str) -> None:
    page.execute_script(
        "const s = document.getElementById('theme'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('change'))",
        theme,
    )
    papers = {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}
    colour = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert colour == papers[theme]


def test_a_narrow_page_does_not_scroll_sideways(page: webdriver.Chrome) -> None:
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.refresh()
    try:
        page.find_element(By.CSS_SELECTOR, "#rows button.open").click()
        assert page.execute_script("return document.documentElement.scrollWidth") == 390
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_everything_is_reached_by_keyboard(page: webdriver.Chrome) -> None:
    script = (
        "return Array.from(document.querySelectorAll('.open, .graph, .scroll, th button'))"
        ".filter(e => e.tabIndex < 0).map(e => e.outerHTML)"
    )
    assert page.execute_script(script) == []
    unlabelled = (
        "return Array.from(document.querySelectorAll('input, select'))"
        ".filter(e => !e.labels.length).map(e => e.id)"
    )
    assert page.execute_script(unlabelled) == []


@pytest.mark.compile
def test_the_charts_of_memory(browser: webdriver.Chrome, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    sides = ("gpt3-tiny:linen", "gpt3-tiny:nnx")
    path.write_text(comparison_html(hloscope.compare(*sides, target="cpu:1")))
    browser.get(path.as_uri())
    _until(lambda: browser.execute_script("return document.documentElement.dataset.ready") == "yes")
    steps = browser.find_elements(By.CSS_SELECTOR, "#waterfall .point")
    rows = browser.find_elements(By.CSS_SELECTOR, "#waterfall-table tbody tr")
    assert len(steps) == len(rows) > 2
    lines = browser.find_elements(By.CSS_SELECTOR, "#timeline .lines path.js-line")
    assert len(lines) == 2
    zoom = browser.find_element(By.CSS_SELECTOR, "#timeline [data-attr=zoom][data-val=in]")
    before = browser.execute_script("return document.getElementById('timeline').layout.xaxis.range")
    browser.execute_script("arguments[0].scrollIntoView()", zoom)
    zoom.click()
    shown = "const r = document.getElementById('timeline').layout.xaxis.range; return r[1] - r[0]"
    _until(lambda: browser.execute_script(shown) < before[1] - before[0])
    browser.execute_script("document.getElementById('icicle').scrollIntoView()")
    assert browser.find_elements(By.CSS_SELECTOR, "#icicle .slice")
    assert browser.get_log("browser") == []
