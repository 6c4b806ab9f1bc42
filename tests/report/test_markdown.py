"""A comment for a pull request: within GitHub's limit, and nothing in a name is markup."""

from __future__ import annotations

import pytest

from hloscope.report.document import Document, Note, Reason, Section, Table, Tone, Why
from hloscope.report.markdown import LIMIT, markdown

GITHUB = 65_536


def _table(rows: int, width: int = 20) -> Table:
    cells = tuple((f"+{n} B", f"{n} " + "ß" * width) for n in range(rows))
    return Table(columns=(">bytes", "what"), rows=cells, tones=(Tone.PLAIN,) * rows)


def _document(*sections: Section) -> Document:
    return Document(headline=Note(text="NOT THE SAME PROGRAM"), lead=(), sections=sections)


@pytest.mark.parametrize("rows", [10, 3_000, 10_000])
def test_the_longest_parts_are_cut_to_fit(rows: int) -> None:
    why = Section(title="why", blocks=(Why(reasons=(Reason("+1 B", "proven", "AAA001 it"),)),))
    text = markdown(
        _document(
            why,
            Section(title="short", blocks=(_table(5),)),
            Section(title="long", blocks=(_table(rows),)),
            Section(title="longer", blocks=(_table(2 * rows, 60),)),
        )
    )
    assert len(text.encode()) <= LIMIT < GITHUB
    assert text.count("<details>") == text.count("</details>") == 3
    assert text.count("cut to fit") == (0 if rows == 10 else 2)
    assert "1. **+1 B** AAA001 it (proven)" in text
    assert text.count("| +4 B | 4 ") == 3


def test_even_a_head_without_end_fits() -> None:
    text = markdown(_document(Section(title="gap", blocks=(_table(5_000),))))
    assert len(text.encode()) <= LIMIT


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("copy.356 bf16[8,128]", "copy.356 `bf16[8,128]`"),
        ("<img src=x onerror=alert(1)>", "`<img` src=x onerror=alert(1)>"),
        ("</details> @everyone #12", "`</details> @everyone #12`"),
        ("a|b `c` ``d``", "``` a\\|b `c` ``d`` ```"),
        ("[x](http://evil)", "`[x](http://evil)`"),
        ("https://evil www.evil", "`https://evil www.evil`"),
        ("deadbeef :tada: a~~b~~c", "`deadbeef :tada: a~~b~~c`"),
        ("+1.00 MiB -> -3", "+1.00 MiB -> -3"),
        ("\\| x", "`\\\\|` x"),
    ],
)
def test_what_could_be_markup_is_code(name: str, shown: str) -> None:
    table = Table(columns=("what",), rows=((name,),), tones=(Tone.PLAIN,))
    text = markdown(_document(Section(title="rest", blocks=(table,))))
    assert f"| {shown} |\n" in text


def test_parts_fold_and_the_answer_does_not() -> None:
    text = markdown(
        _document(
            Section(title="gap", blocks=(_table(1),)),
            Section(
                title="why",
                blocks=(
                    Why(
                        reasons=(Reason("+1 B", "proven", "AAA001 it"),),
                        hidden=3,
                        rest="unexplained: +2 B",
                        command="hloscope explain AAA001",
                    ),
                ),
            ),
            Section(title="rest", blocks=(Note(text="a"), Note(text="  b", tone=Tone.BAD))),
        )
    )
    assert text == (
        "### NOT THE SAME PROGRAM\n\n"
        "**Gap**\n\n| bytes | what |\n| ---: | --- |\n| +0 B | 0 `ßßßßßßßßßßßßßßßßßßßß` |\n\n"
        "**Why**\n\n1. **+1 B** AAA001 it (proven)\n\nunexplained: +2 B; 3 more findings\n\n"
        "next: `hloscope explain AAA001`\n\n"
        "<details><summary>rest</summary>\n\n- a\n  - **b**\n\n</details>\n"
    )
