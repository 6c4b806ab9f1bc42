"""Small modules as text, for pairing."""

from __future__ import annotations

from hloscope.hlo import read_text
from hloscope.model.canonical import CanonicalModule
from hloscope.model.pairing import Pairing
from hloscope.normalize import normalize


def canonical(text: str) -> CanonicalModule:
    (module,) = read_text(text)
    return normalize(module)


def layers(*bodies: str, dtype: str = "f32") -> str:
    """An entry of one line per layer; `{x}` is the layer before, `{n}` the layer's number."""
    lines = [f"  %v0 = {dtype}[8]{{0}} parameter(0)", f"  %c = {dtype}[8]{{0}} parameter(1)"]
    lines += [body.format(x=f"%v{n}", n=n + 1) for n, body in enumerate(bodies)]
    lines.append(f"  ROOT %out = ({dtype}[8]{{0}}) tuple(%v{len(bodies)})")
    return "HloModule m\n\nENTRY %main {\n" + "\n".join(lines) + "\n}\n"


LAYER = "  %v{n} = f32[8]{{0}} subtract({x}, %c)"


def named(lhs: CanonicalModule, rhs: CanonicalModule, pairing: Pairing) -> dict[str, str]:
    """Names of the pairs."""
    return {lhs.instruction(p.lhs).name: rhs.instruction(p.rhs).name for p in pairing.pairs}
