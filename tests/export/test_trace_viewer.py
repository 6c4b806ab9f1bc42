"""Trace Viewer, as XProf ships it, opened on an export."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest

import hloscope
from hloscope.export import export
from hloscope.model.source import Source

pytestmark = [pytest.mark.compile, *chromium.marks]

# the viewer's own reader, and its view, as its page does it with a file that is dropped on it
OPEN = """
const [text, done] = arguments;
Array.from(document.body.children).forEach((e) => { e.style.display = "none"; });
const model = new tr.Model();
new tr.importer.Import(model).importTraces([text]);
const view = document.createElement("tr-ui-timeline-view");
const inside = document.createElement("track-view-container");
inside.id = "track_view_container";
view.style.cssText = "display: flex; height: 850px";
Polymer.dom(view).appendChild(inside);
document.body.appendChild(view);
Polymer.dom.flush();
view.model = model;
const processes = Object.values(model.processes).map((process) => ({
  name: process.name,
  counters: Object.values(process.counters).map(
    (counter) => [counter.name, counter.series[0].samples.map((sample) => sample.value)]),
  lanes: Object.values(process.threads).filter((thread) => thread.sliceGroup.length)
    .map((thread) => [thread.name, thread.sliceGroup.slices.map((slice) => slice.args.bytes)]),
}));
const warnings = model.importWarnings.map((warning) => warning.message);
const drawn = () => (view.trackView ? done({ warnings, processes }) : setTimeout(drawn, 50));
drawn();
"""


@pytest.fixture(scope="module")
def viewer() -> Iterator[str]:
    xprof = pytest.importorskip("xprof")
    folder = Path(xprof.__file__).parent / "static"
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/trace_viewer_index.html"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_it_reads_and_draws_both_sides(viewer: str, sides: tuple[Source, Source]) -> None:
    comparison = hloscope.compare(*sides)
    text = export("perfetto", comparison).contents[""].decode()
    with chromium.chromium() as browser:
        browser.set_script_timeout(60)  # until it has drawn
        browser.get(viewer)
        found: dict[str, Any] = browser.execute_async_script(OPEN, text)
    assert found["warnings"] == []
    assert [(p["name"], p["counters"]) for p in found["processes"]] == [
        (side.label, [["device memory", [at.size for at in hloscope.memory(side).timeline]]])
        for side in sides
    ]
    for process in found["processes"]:
        names = [name for name, _ in process["lanes"]]
        assert names == sorted(names) != []
