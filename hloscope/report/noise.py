"""What varies between compiles of one program, as a report."""

from __future__ import annotations

from hloscope.model.gate import Noise
from hloscope.report.document import Document, Note, Section, Table, Tone
from hloscope.report.gate import amount_text


def noise_document(noise: Noise, label: str) -> Document:
    """The report of an A/A run."""
    if not noise.figures and noise.graphs == 1:
        text = f"NOTHING VARIES: {noise.runs} compiles of {label} gave the same module and figures"
        return Document(headline=Note(text=text, tone=Tone.GOOD), lead=(), sections=())
    text = f"VARIES: {noise.runs} compiles of {label} gave {noise.graphs} modules"
    table = Table(
        columns=("metric", ">least", ">most"),
        rows=tuple(
            (name, amount_text(spread.least, name), amount_text(spread.most, name))
            for name, spread in noise.figures.items()
        ),
        tones=(Tone.PLAIN,) * len(noise.figures),
    )
    sections = [Section(title="metrics that vary", blocks=(table,))] if noise.figures else []
    if noise.parts:
        notes = tuple(Note(text=part) for part in noise.parts)
        sections.append(Section(title="parts of the graph that vary", blocks=notes))
    return Document(headline=Note(text=text, tone=Tone.BAD), lead=(), sections=tuple(sections))
