"""How collectives are combined hides nothing of what is computed around them."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.diff import compare
from hloscope.hlo import read_text
from hloscope.match import match
from hloscope.model.canonical import CanonicalModule
from hloscope.model.pairing import Rule
from hloscope.normalize import normalize

COUNT = 12
SUM = "%sum { %a = f32[] parameter(0) %b = f32[] parameter(1) ROOT %s = f32[] add(%a, %b) }"


def grouped(groups: Sequence[Sequence[int]]) -> CanonicalModule:
    """Equal chains, each through its own element of one of several collectives."""
    lines = [
        f"  %p{k} = f32[4] parameter({k}), metadata={{op_name=\"params['w{k}']\"}}"
        for k in range(COUNT)
    ]
    lines += [f"  %before{k} = f32[4] negate(%p{k})" for k in range(COUNT)]
    for number, group in enumerate(groups):
        shape = ", ".join("f32[4]" for _ in group)
        operands = ", ".join(f"%before{k}" for k in group)
        lines.append(f"  %c{number} = ({shape}) all-reduce({operands}), to_apply=%sum")
        for place, k in enumerate(group):
            lines.append(f"  %e{k} = f32[4] get-tuple-element(%c{number}), index={place}")
            lines.append(f"  %behind{k} = f32[4] tanh(%e{k})")
            lines.append(f"  %far{k} = f32[4] subtract(%behind{k}, %p{(k + 1) % COUNT})")
    results = ", ".join(f"%far{k}" for k in range(COUNT))
    lines.append(f"  ROOT %out = ({', '.join(['f32[4]'] * COUNT)}) tuple({results})")
    (module,) = read_text("\n".join(["HloModule m", SUM, "ENTRY %main {", *lines, "}"]))
    return normalize(module)


LEFT = grouped([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]])
RIGHT = grouped([[9, 0, 8, 2, 4, 6, 1, 3], [11, 5, 10, 7]])


def test_all_around_is_paired_by_class() -> None:
    pairing = match(LEFT, RIGHT)
    pairs = {
        LEFT.instruction(p.lhs).name: (RIGHT.instruction(p.rhs).name, p.rule) for p in pairing.pairs
    }
    for kind in ("before", "behind", "far"):
        for k in range(COUNT):
            assert pairs[f"{kind}{k}"] == (f"{kind}{k}", Rule.SAME_CLASS)
    assert pairs["c0"][0] == "c0"
    assert pairs["c1"][0] == "c1"
    assert (pairing.lhs_only, pairing.rhs_only) == ((), ())


def test_the_collectives_alone_are_named() -> None:
    found = compare(LEFT, RIGHT, match(LEFT, RIGHT))
    changes = [c for region in found.regions for c in (*region.heads, *region.followers)]
    names = {LEFT.instruction(i.lhs).name for c in changes for i in c.instances if i.lhs}
    assert names == {"c0", "c1"}


def test_exchanging_the_sides_mirrors_the_pairing() -> None:
    assert match(LEFT, RIGHT) == match(RIGHT, LEFT).mirrored()


def test_an_element_that_is_made_and_read_otherwise_has_its_partner() -> None:
    base = """HloModule m
{SUM}
ENTRY %main {{
  %p = f32[4] parameter(0), metadata={{op_name="params['p']"}}
  %q = f32[4] parameter(1), metadata={{op_name="params['q']"}}
  %c = (f32[4], f32[4]) all-reduce({operands}), to_apply=%sum
  %e = f32[4] get-tuple-element(%c), index=0
  %f = f32[4] get-tuple-element(%c), index=1
  %n = f32[4] {reader}(%e)
  %t = f32[4] tanh(%f)
  ROOT %out = (f32[4], f32[4]) tuple(%n, %t)
}}"""
    (one,) = read_text(base.format(SUM=SUM, operands="%p, %q", reader="negate"))
    text = base.format(SUM=SUM, operands="%sqrt, %q", reader="cosine")
    (two,) = read_text(text.replace("  %c =", "  %sqrt = f32[4] sqrt(%p)\n  %c ="))
    lhs, rhs = normalize(one), normalize(two)
    pairing = match(lhs, rhs)
    elements = [list(range(m.count, len(m.flow.sources))) for m in (lhs, rhs)]
    assert sorted(pairing.partners[n] for n in elements[0]) == elements[1]
