"""How large the HTML report of a pair is, and how soon a browser shows it.

Usage: python benchmarks/open_report.py [--pair LHS RHS] [--target TARGET] [--runs 5]
       python benchmarks/open_report.py --file report.html

The pair is a reference decoder in Linen against the same in NNX, unrolled, about 100,000
instructions each; it is compiled once and cached. The report is opened in headless Chromium (Debian
packages `chromium` and `chromium-driver`), in a browser of its own each time so that nothing is
cached. Times are seconds from the start of the navigation:

- `load`: the document is read, and the first screen is there
- `first`: the chart that a reader sees who goes to the charts at once is drawn
- `charts`: all charts are drawn, those that nobody looks at yet too
- `idle`: the end of the last task that took more than 50 ms
- `cpu`: seconds of processor time that the page took, up to then
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hloscope
from hloscope.report.html import comparison_html

PAIR = ("gpt3-6b:linen?layers=32&scan=false", "gpt3-6b:nnx?layers=32&scan=false")
TARGET = "tpu:v5p:2x2x2"
LIMIT_BYTES, LIMIT_SECONDS = 15_000_000, 3.0
QUIET_SECONDS = 1.5  # without a long task, after which a page is at rest
WATCH = """
window.longTaskEnd = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longTaskEnd = task.startTime + task.duration;
}).observe({ type: "longtask", buffered: true });
addEventListener("load", () => document.querySelector(".chart").scrollIntoView());
"""
TIMES = """
const page = performance.getEntriesByType("navigation")[0];
const at = (name) => (performance.getEntriesByName(name)[0] || { startTime: 0 }).startTime;
return [page.loadEventEnd, at("chart"), at("charts"), window.longTaskEnd, performance.now()];
"""
COLUMNS = ("load", "first", "charts", "idle", "cpu")


@contextmanager
def browser() -> Iterator[Any]:
    """A new headless Chromium."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                     "--window-size=1280,900"):  # fmt: skip
        options.add_argument(argument)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def opened(page: str) -> tuple[float, ...]:
    """The times of one opening, in the order of `COLUMNS`."""
    with browser() as driver:
        driver.execute_cdp_cmd("Performance.enable", {})
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        driver.get(page)
        while True:
            load, first, charts, idle, now = driver.execute_script(TIMES)
            if charts and now - max(idle, charts) > 1000 * QUIET_SECONDS:
                break
            time.sleep(0.1)
        metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    figures = {metric["name"]: metric["value"] for metric in metrics}
    moments = (load, first, charts, max(idle, charts))
    return (*(moment / 1000 for moment in moments), figures["TaskDuration"])


def write(pair: tuple[str, str], target: str, path: Path) -> None:
    """Compares a pair and writes its report."""
    begun = time.process_time()
    comparison = hloscope.compare(*pair, target=target)
    compared = time.process_time()
    path.write_text(comparison_html(comparison))
    for side in (comparison.lhs, comparison.rhs):
        print(f"{side.module.instruction_count:>9,} instructions  {side.label}")
    written = time.process_time()
    print(f"compared in {compared - begun:.1f} s, written in {written - compared:.1f} s")


def measure(path: Path, runs: int) -> bool:
    """Prints size and times; whether they are within the limits."""
    size = path.stat().st_size
    print(f"{size:,} bytes\n{'':8}" + "".join(f"{name:>8}" for name in COLUMNS))
    rows = [opened(path.as_uri()) for _ in range(runs)]
    for number, row in enumerate(rows, 1):
        print(f"run {number:<4}" + "".join(f"{value:>8.2f}" for value in row), flush=True)
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    print("median  " + "".join(f"{value:>8.2f}" for value in medians))
    return size < LIMIT_BYTES and medians[COLUMNS.index("charts")] < LIMIT_SECONDS


def main() -> int:
    """Parses the command line; exit code 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pair", nargs=2, default=PAIR, metavar=("LHS", "RHS"))
    parser.add_argument("--target", default=TARGET)
    parser.add_argument("--file", type=Path, help="a report that is there already")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if options.file is not None:
        return 0 if measure(options.file.resolve(), options.runs) else 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write(tuple(options.pair), options.target, path)
        return 0 if measure(path, options.runs) else 1


if __name__ == "__main__":
    sys.exit(main())
