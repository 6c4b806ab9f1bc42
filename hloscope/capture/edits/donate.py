"""Donating what lhs donates."""

from __future__ import annotations

from hloscope.capture.edits.aliasing import alias_with, can_alias, donated, offer, output_of
from hloscope.capture.edits.program import Report, Sides


def donate(sides: Sides) -> Report:
    """Gives rhs's arguments the donation that their counterparts have on lhs."""
    report = Report()
    lhs = sides.lhs.attributes("arg_attrs")
    rhs = sides.rhs.attributes("arg_attrs")
    taken = {output_of(held) for held in rhs}
    outputs = {pair.lhs: pair.rhs for pair in sides.plan.outputs}
    for pair in sides.plan.arguments:
        if not donated(lhs[pair.lhs]) or donated(rhs[pair.rhs]):
            continue
        output = outputs.get(output_of(lhs[pair.lhs]))
        if output is None or output in taken or not can_alias(sides.rhs, pair.rhs, output):
            # XLA looks for an output of the same size itself
            offer(rhs[pair.rhs])
            report.done.append(f"{pair.name} donated, to whichever output fits")
        else:
            taken.add(output)
            alias_with(rhs[pair.rhs], output)
            report.done.append(f"{pair.name} donated to output {output}")
        report.arguments.append(pair)
    if report.done:
        sides.rhs.set_attributes("arg_attrs", rhs)
    return report
