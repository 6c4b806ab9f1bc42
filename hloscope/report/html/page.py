"""The report as one file of HTML that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hloscope import __version__
from hloscope.model.changes import Verdict
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Finding, Metric
from hloscope.report.commands import command
from hloscope.report.comparison import comparison_document, overall
from hloscope.report.document import Note, Table, Why
from hloscope.report.html.change_rows import MOST, change_rows
from hloscope.report.html.charts import timeline, waterfall
from hloscope.report.html.listing import Listing, listing
from hloscope.report.html.modules import module_tree
from hloscope.report.html.rerun import origins, reruns
from hloscope.report.html.sides import Sides
from hloscope.report.why import frame_text, metric_text

_FIRST = 5  # findings that are not folded away
_SCRIPTS = ("charts.js", "table.js", "graph.js", "listing.js", "main.js")
# shown in places of their own, or not folded away
_TOLD = frozenset({"gap", "why", "findings"})
# nothing is fetched, sent or framed; scripts are those of this file alone. Charts set their
# elements' styles, which a hash cannot cover
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def comparison_html(comparison: Comparison) -> str:
    """The report, with all that it shows inside; the same comparison gives the same text."""
    explanation = comparison.explanation
    sides = Sides(comparison)
    document = comparison_document(comparison)
    rows, details = change_rows(comparison, explanation, sides)
    count = sum(len(r.heads) + len(r.followers) for r in comparison.changes.regions)
    texts = listing(sides)
    plotly, script = _plotly(), _script()
    verdict = overall(comparison)
    page: str = _environment().get_template("report.html.j2").render(
        policy=_POLICY.format(scripts=" ".join(_hash(text) for text in (plotly, script))),
        version=__version__,
        document=document,
        good=verdict is not None and verdict is not Verdict.DIFFERENT,
        sections={section.title: section for section in document.sections},
        parts=[section for section in document.sections if section.title not in _TOLD],
        findings=[_finding(comparison, finding) for finding in explanation.findings],
        first_findings=_FIRST,
        crashes=explanation.crashes,
        rows=rows,
        classes=sorted({kind for row in rows for kind in row.classes}),
        unlisted=count - len(rows),
        most=MOST,
        listing=texts,
        origins=origins(comparison),
        reruns=reruns(comparison),
        style=Markup(_asset("report.css")),  # noqa: S704 - the file is ours
        plotly=Markup(plotly),  # noqa: S704 - the package's own file
        script=Markup(script),  # noqa: S704 - the files are ours
        data={
            "charts": _charts(comparison),
            "details": details,
            "listing": _lines(texts),
        },
    )  # fmt: skip
    return page


def _charts(comparison: Comparison) -> dict[str, Any]:
    memory = comparison.memory
    held: dict[str, Any] = {"waterfall": None, "timeline": None}
    if memory is not None:
        held = {"waterfall": waterfall(memory), "timeline": timeline(comparison, memory)}
    return {**held, "modules": module_tree(comparison)}


def _lines(texts: Listing) -> list[list[list[Any]]]:
    """Lines as short as they can be: equal texts once, marks where there are any."""
    return [[_line(*line) for line in listed.lines] for listed in texts.computations]


def _line(status: str, lhs: str, rhs: str, *marks: list[Any]) -> list[Any]:
    if lhs == rhs:
        return [str(status), lhs]
    return [str(status), lhs, rhs, *marks] if any(marks) else [str(status), lhs, rhs]


def _finding(comparison: Comparison, finding: Finding) -> dict[str, Any]:
    return {
        "finding": finding,
        "claims": [
            metric_text(metric, finding.claim.known(metric))
            for metric in Metric
            if finding.claim.known(metric)
        ],
        "remedies": [
            (text, command("prove", comparison, "--probe", probe) if probe else "")
            for text, probe in finding.remedies
        ],
        "frames": [
            (side, [frame_text(frame) for frame in frames])
            for side, frames in (("lhs", finding.lhs_frames), ("rhs", finding.rhs_frames))
            if frames
        ],
    }


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hloscope.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # numbers and lists are shown in fewer characters than with spaces between
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters["capitalize_first"] = lambda text: text[:1].upper() + text[1:]
    environment.tests["note"] = lambda block: isinstance(block, Note)
    environment.tests["table"] = lambda block: isinstance(block, Table)
    environment.tests["why"] = lambda block: isinstance(block, Why)
    return environment


def _asset(name: str) -> str:
    return (files("hloscope.report.html") / "templates" / name).read_text("utf-8")


def _script() -> str:
    return "\n".join(_asset(name) for name in _SCRIPTS)


def _plotly() -> str:
    """The whole library: no smaller bundle has both waterfalls and icicles."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")


def _hash(script: str) -> str:
    """What a policy knows an inline script by."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
