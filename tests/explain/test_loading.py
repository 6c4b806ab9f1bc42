"""Analyzers of other packages, found and run as installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hloscope.explain import explain, installed, loading
from hloscope.hlo import read_text
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Confidence, Crash, Finding
from hloscope.model.source import Source, SourceKind
from hloscope.pipeline import compare
from hloscope.plugin import Analyzer

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "host-callbacks"

PLAIN = """HloModule step

ENTRY main {
  x = f32[8]{0} parameter(0)
  ROOT y = f32[8]{0} add(x, x)
}
"""
CALLING = """HloModule step

ENTRY main {
  x = f32[8]{0} parameter(0)
  c = f32[8]{0} custom-call(x), custom_call_target="xla_ffi_python_cpu_callback"
  ROOT y = f32[8]{0} add(c, x)
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example of the docs installed in it."""
    folder = tmp_path_factory.mktemp("site")
    package = folder / "package"
    shutil.copytree(EXAMPLE, package)
    command = ["pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", *command, "--target", str(folder / "site"), str(package)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line in an environment that has the example."""
    path = os.pathsep.join((str(ROOT), str(site)))
    (tmp_path / "lhs.txt").write_text(PLAIN)
    (tmp_path / "rhs.txt").write_text(CALLING)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hloscope", *arguments],
            env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def test_the_example_is_listed_explained_and_run(
    run: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    listed = json.loads(run("analyzers", "--json").stdout)
    assert {
        "entry_point": "host-callbacks",
        "name": "host callbacks",
        "package": "host-callbacks",
        "codes": {"HOST001": "the step calls back into Python"},
    } in listed["analyzers"]
    assert "HOST001" in run("analyzers").stdout
    page = run("explain", "HOST001").stdout.splitlines()
    assert page[:2] == [
        "HOST001: the step calls back into Python",
        "analyzer 'host callbacks' of host-callbacks",
    ]
    why = run("diff", "lhs.txt", "rhs.txt").stdout
    assert "HOST001 rhs calls back into Python 1 times a step, lhs 0 times" in why


def test_an_unknown_code_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hloscope", "explain", "DON01"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no analyzer has the code 'DON01'\n  try: hloscope ")


def compared() -> Comparison:
    left, right = (
        Source(label=name, kind=SourceKind.TEXT, module=read_text(text)[0])
        for name, text in (("lhs", PLAIN), ("rhs", CALLING))
    )
    return compare(left, right)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made(Analyzer):
    """Finds what it is told to find, or raises it."""

    name: ClassVar[str] = "made"
    codes: ClassVar[dict[str, str]] = {"MADE001": "made up"}
    found: tuple[Any, ...] = ()

    def analyze(self, comparison: Comparison) -> Iterable[Finding]:  # noqa: ARG002
        for each in self.found:
            if isinstance(each, Exception):
                raise each
            yield each


GOOD = Finding(code="MADE001", title="good", confidence=Confidence.SUSPECTED)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ((GOOD, ValueError("no such thing")), "ValueError: no such thing (test_loading.py:"),
        (
            (Finding(code="OTHER", title="", confidence=Confidence.PROVEN),),
            "ValueError: code 'OTHER' is not among the analyzer's codes",
        ),
        (
            (Finding(code="MADE001", title="", confidence=Confidence.PROVEN, cost_entries=(99,)),),
            "ValueError: MADE001 claims cost_entries 99, and there are ",
        ),
    ],
)
def test_a_crash_is_a_record_and_the_rest_go_on(found: tuple[Any, ...], message: str) -> None:
    explanation = explain(compared(), {"bad": Made(found=found), "good": Made(found=(GOOD,))})
    (crash,) = explanation.crashes
    assert crash.analyzer == "bad"
    assert crash.message.startswith(message)
    assert [finding.title for finding in explanation.findings] == ["good"]
    assert explanation.analyzers == ("bad", "good")


def test_what_cannot_be_loaded_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    group = loading.GROUP
    points = (
        EntryPoint("gone", "no_such_module:Thing", group),
        EntryPoint("donation", "analyzers.donation:Donation", group),
        EntryPoint("number", "math:floor", group),
        EntryPoint("same-codes", "analyzers.donation:Donation", group),
    )
    monkeypatch.setattr(loading, "entry_points", lambda **_: points)
    found = installed()
    assert list(found.analyzers) == ["donation"]
    assert found.crashes == (
        Crash("gone", "ModuleNotFoundError: No module named 'no_such_module'"),
        Crash("number", "TypeError: math.floor() takes exactly one argument (0 given)"),
        Crash("same-codes", "ValueError: code 'DON001' is taken by analyzer 'donation'"),
    )


def test_explaining_loads_no_jax() -> None:
    code = (
        "import sys, hloscope; from hloscope.explain import installed; found = installed(); "
        "assert found.analyzers and not found.crashes, found; "
        "print([m for m in ('jax', 'jaxlib', 'flax') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_analyzer_has_a_whole_page() -> None:
    for analyzer in installed().analyzers.values():
        page = type(analyzer).__doc__ or ""
        parts = ("What it sees:", "Why it costs:", "What it does not see:", "Example:")
        places = [page.find(part) for part in parts]
        assert -1 not in places, analyzer.name
        assert places == sorted(places), analyzer.name
