"""XProf's own server, opened on an export."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import hloscope
from hloscope.cli.export import write
from hloscope.export import export
from hloscope.model.source import Source

pytestmark = pytest.mark.compile

MIB = 1 << 20
RUN = "jit_step"
PATIENCE = 60.0  # seconds for the server to start


class Server:
    """A running XProf."""

    def __init__(self, port: int) -> None:
        self.root = f"http://localhost:{port}/data/plugin/profile"

    def get(self, what: str, **query: str) -> Any:
        """Tool data as JSON."""
        url = f"{self.root}/{what}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - http, our own server
            data = answer.read()
        text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()
        return json.loads(text) if text.startswith(("{", "[")) else text

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        """Until it answers."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert process.poll() is None, "the server ended"
            try:
                self.get("runs")
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
            else:
                return
        pytest.fail("the server did not start")


@pytest.fixture(scope="module")
def server(
    sides: tuple[Source, Source], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    pytest.importorskip("xprof")
    folder = tmp_path_factory.mktemp("xprof")
    write(export("xprof", sides[0]), folder)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-c", "from xprof.server import main; main()",
               "--logdir", str(folder), "--port", str(port)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        found = Server(port)
        found.wait(process)
        yield found
    finally:
        process.kill()
        process.wait()


def test_the_run_offers_both_viewers(server: Server) -> None:
    assert server.get("runs") == [RUN]
    assert {"memory_viewer", "graph_viewer"} <= set(server.get("run_tools", run=RUN))


def test_the_memory_viewer_has_the_ledgers_peak(
    server: Server, sides: tuple[Source, Source]
) -> None:
    server.get("run_tools", run=RUN)
    module = server.get("module_list", run=RUN)
    assert module == f"{RUN}(1)"
    seen = server.get("data", run=RUN, tag="memory_viewer", host="hloscope", module_name=module,
                      memory_space="0")  # fmt: skip
    most = max(point.size for point in hloscope.memory(sides[0]).timeline)
    assert round(seen["peakHeapMib"] * MIB) == most


def test_the_graph_viewer_finds_instructions(server: Server, sides: tuple[Source, Source]) -> None:
    module = sides[0].module
    name = next(i.name for c in module.computations for i in c.instructions if i.opcode == "while")
    server.get("run_tools", run=RUN)
    text = server.get("data", run=RUN, tag="graph_viewer", host="hloscope",
                      module_name=f"{RUN}(1)", type="short_txt")  # fmt: skip
    assert f"{name} = " in text
