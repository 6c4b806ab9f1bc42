"""A gate's report as JUnit XML, which every CI shows."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hloscope.model.gate import GateReport, Judgement, Status
from hloscope.report.gate import headline, said_in_full
from hloscope.report.xml_text import allowed


def junit(report: GateReport) -> str:
    """One test case for each program on each target; one that cannot be decided is an error."""
    suite = ET.Element("testsuite", name="hloscope gate", tests=str(len(report.judgements)))
    for status, name in ((Status.REGRESSED, "failures"), (Status.UNDECIDED, "errors")):
        suite.set(name, str(sum(j.status is status for j in report.judgements)))
    for judgement in report.judgements:
        suite.append(_case(judgement))
    for note in report.notes:
        ET.SubElement(suite, "system-out").text = allowed(note)
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(judgement: Judgement) -> ET.Element:
    case = ET.Element(
        "testcase",
        classname=allowed(judgement.gated.name),
        name=allowed(judgement.gated.target),
        time=f"{judgement.seconds or 0:.3f}",
    )
    tags = {Status.REGRESSED: "failure", Status.UNDECIDED: "error"}
    if judgement.status in tags:
        said = ET.SubElement(case, tags[judgement.status], message=allowed(headline(judgement)))
        said.text = allowed(
            "\n".join(said_in_full(c) for c in judgement.checks if c.status in tags)
        )
    return case
