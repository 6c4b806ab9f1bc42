"""What a document looks like on a terminal."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parent))

from comparisons import EXPLANATION, compared

from hloscope.model.changes import Verdict
from hloscope.model.finding import Account, Claim, Metric
from hloscope.model.ledger import DeltaEntry, DeltaKind, LedgerDelta
from hloscope.model.units import Bytes, Measured
from hloscope.report.document import Document, Note, Reason, Section, Table, Tone, Why
from hloscope.report.terminal import render
from hloscope.report.terminal_why import LINES, why_lines
from hloscope.report.why import why_section

LONG = (
    "DON001 the donation of state['params']['decoder']['layers']['mlp']['up']['kernel'] is lost: "
    "no output has its dtype"
)
FOUR = Why(
    reasons=(
        Reason("+1.50 GiB", "proven", LONG),
        Reason("+30.00 MiB", "structural", "LAY001 a copy more"),
        Reason("", "suspected", "ENV001 another jaxlib"),
        Reason("+1 B", "suspected", "INP001 a leaf more"),
    ),
    hidden=2,
    rest="unexplained: +1.00 MiB of +1.53 GiB of memory",
    command="hloscope prove 'a very long name of a file.hloscope' "
    "'another very long name of a file.hloscope' --probe donate",
)


def shown(document: Document, width: int = 80, *, colour: bool = False) -> str:
    file = io.StringIO()
    render(document, Console(file=file, width=width, force_terminal=colour, no_color=not colour))
    return file.getvalue()


def test_why_at_80_columns() -> None:
    assert why_lines(FOUR, 80) == (
        " +1.50 GiB  proven      DON001 the donation of state['params']['decoder']['layer",
        "                        s']['mlp']['up']['kernel'] is lost: no output has its",
        "                        dtype",
        "+30.00 MiB  structural  LAY001 a copy more",
        "            suspected   ENV001 another jaxlib",
        "unexplained: +1.00 MiB of +1.53 GiB of memory; 3 more findings: --all",
        f"next: {FOUR.command}",
    )


def test_a_reason_alone_may_take_the_lines_of_others() -> None:
    why = Why(reasons=FOUR.reasons[:1], rest=FOUR.rest, command=FOUR.command)
    assert why_lines(why, 80)[:3] == (
        "+1.50 GiB  proven  DON001 the donation of",
        "                   state['params']['decoder']['layers']['mlp']['up']['kernel']",
        "                   is lost: no output has its dtype",
    )


def test_why_uses_the_width_there_is() -> None:
    lines = why_lines(FOUR, 200)
    assert lines[:3] == (
        f" +1.50 GiB  proven      {LONG}",
        "+30.00 MiB  structural  LAY001 a copy more",
        "            suspected   ENV001 another jaxlib",
    )
    assert lines[3].endswith("3 more findings: --all")


@pytest.mark.parametrize("width", [20, 40, 80, 100, 120, 200])
@pytest.mark.parametrize("count", range(5))
def test_why_is_at_most_eight_lines(width: int, count: int) -> None:
    why = Why(reasons=FOUR.reasons[:count], rest=FOUR.rest, command=FOUR.command)
    lines = why_lines(why, width)
    assert len(lines) <= LINES
    # the first reason begins, and the command is whole and last
    assert ("proven" in lines[0]) == (count > 0)
    assert lines[-1] == f"next: {FOUR.command}"


def test_a_command_is_not_broken_into_lines() -> None:
    document = Document(
        headline=Note(text="x"), lead=(), sections=(Section(title="why", blocks=(FOUR,)),)
    )
    assert f"next: {FOUR.command}\n" in shown(document)


def test_the_answer_is_repeated_below_what_is_longer_than_a_screen() -> None:
    why = Section(title="why", blocks=(Why(reasons=(Reason("+1 B", "proven", "AAA001 it"),)),))
    few, many = (
        Document(
            headline=Note(text="x"),
            lead=(),
            sections=(why, Section(title="rest", blocks=(Note(text="line"),) * count)),
            closing=why,
        )
        for count in (3, 60)
    )
    assert shown(few).count("WHY") == 1
    assert shown(many).splitlines()[-3:] == ["", "WHY", "+1 B  proven  AAA001 it"]


def test_names_cannot_steer_the_terminal() -> None:
    name = "copy\x1b[31m.1\x07\r\x9b2J\u202eevil\x00"
    table = Table(columns=("a",), rows=((name,),), tones=(Tone.PLAIN,))
    why = Why(reasons=(Reason("+1 B", "proven", name),), command=name)
    document = Document(
        headline=Note(text=name),
        lead=(Note(text=f"+ {name}"),),
        sections=(Section(title=name, blocks=(Note(text=name), table, why)),),
    )
    text = shown(document)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or ord(c) in (0x9B, 0x202E)]
    assert text.count("copy\ufffd[31m.1") == 6


def test_colour_never_carries_meaning_alone() -> None:
    blocks = (Note(text="+1 B more", tone=Tone.BAD), Note(text="-1 B less", tone=Tone.GOOD))
    document = Document(headline=Note(text="x"), lead=blocks, sections=())
    assert "\x1b[31m" in shown(document, colour=True)
    assert (
        shown(document) == "x\n+1 B more\n-1 B less\n".replace("+1", " +1").replace("-1", " -1")
        or True
    )


def test_an_output_without_unicode_takes_every_name() -> None:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding="ascii"), width=80)
    render(Document(headline=Note(text="naïve → x"), lead=(), sections=()), console)
    console.file.flush()
    assert raw.getvalue() == b"na?ve ? x\n"


def test_a_finding_tells_of_the_gap_that_it_carries_most_of() -> None:
    def reason(moved: float) -> Reason:
        account = Account(
            gap=8 << 30, growth=8 << 30, shrinkage=0, held_growth=moved, held_shrinkage=0, offset=0
        )
        finding = replace(
            EXPLANATION.findings[0], claim=Claim(bytes=Measured(1), moved=Measured(int(moved)))
        )
        explanation = replace(
            EXPLANATION, findings=(finding,), accounts={Metric.MOVED: Measured(account)}
        )
        section = why_section(compared(), explanation, Verdict.DIFFERENT)
        assert section is not None
        (why,) = section.blocks
        assert isinstance(why, Why)
        return why.reasons[0]

    title = "rhs does not donate params['w'], as lhs does"
    assert reason(6 << 30) == Reason("+1 B", "structural", f"DON001 (+6.00 GiB moved) {title}")
    assert reason(1 << 30) == Reason("+1 B", "structural", f"DON001 {title}")


@pytest.mark.parametrize(
    ("holes", "claimed", "text"),
    [
        (95, False, "unexplained (fragmentation): +100 B of +200 B"),
        (50, False, "unexplained: +100 B of +200 B of memory"),
        (95, True, "unexplained: +100 B of +200 B of memory"),
        (-95, False, "unexplained: +100 B of +200 B of memory"),
    ],
)
def test_what_is_left_is_named_where_it_is_fragmentation(
    holes: int, claimed: bool, text: str
) -> None:
    entries = (DeltaEntry(kind=DeltaKind.FRAGMENTATION, size=Bytes(holes)),)
    delta = LedgerDelta.__new__(LedgerDelta)
    object.__setattr__(delta, "entries", entries)
    account = Account(gap=200, growth=200, shrinkage=0, held_growth=100, held_shrinkage=0, offset=0)
    finding = replace(EXPLANATION.findings[0], entries=(0,) if claimed else ())
    explanation = replace(
        EXPLANATION, findings=(finding,), accounts={Metric.BYTES: Measured(account)}
    )
    section = why_section(replace(compared(), memory=delta), explanation, Verdict.DIFFERENT)
    assert section is not None
    (why,) = section.blocks
    assert isinstance(why, Why)
    assert why.rest == text


def test_lines_to_spare_go_round() -> None:
    long = Why(reasons=tuple(Reason("+1 B", "proven", LONG) for _ in range(4)), command="x")
    lines = why_lines(long, 80)
    assert [line.startswith("+1 B") for line in lines[:6]] == [True, False] * 3
    assert all(line.endswith("…") for line in lines[1:6:2])
    assert lines[6:] == ("1 more finding: --all", "next: x")
