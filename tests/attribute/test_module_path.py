"""One module has one name, however a side spells it."""

from __future__ import annotations

import pytest

from hloscope.attribute import ModulePaths
from hloscope.hlo import read_text
from hloscope.model.canonical import Ref
from hloscope.model.ledger import PathSource

TEXT = """HloModule step

ENTRY %main {{
  %w.1 = f32[8,8] parameter(0), metadata={{op_name="params['layers']['mlp']['up']['kernel']"}}
  %x.2 = f32[8,8] parameter(1)
  ROOT %mul.3 = f32[8,8] multiply(%x.2, %x.2), metadata={{op_name="{op_name}"}}
}}
"""


@pytest.mark.parametrize(
    ("op_name", "path"),
    [
        ("jit(f)/Decoder/Decoder._blocks/layers/mlp/mul", ("layers", "mlp")),
        ("jit(f)/jvp(Decoder)/layers/mlp/up/bias/mul", ("layers", "mlp", "up")),
        ("jit(f)/layers/mul", ("layers",)),
        ("jit(f)/Decoder/norm/mul", ("Decoder", "norm")),
    ],
)
def test_scopes_take_the_spelling_of_the_state(op_name: str, path: tuple[str, ...]) -> None:
    (module,) = read_text(TEXT.format(op_name=op_name))
    assert module.entry is not None
    found = ModulePaths(module).path(Ref(module.entry, 2))
    assert (found.path, found.source) == (path, PathSource.SCOPE)


def test_arguments_in_one_tuple_have_their_own_paths() -> None:
    (module,) = read_text(
        """HloModule step

ENTRY %main {
  %t = (f32[8], f32[8]) parameter(0)
  %x = f32[8] get-tuple-element(%t), index=1
  ROOT %n = f32[8] negate(%x)
}
"""
    )
    assert module.entry is not None
    given = {0: "params['mlp']['up']['kernel']", 1: "params['attention']['out']['bias']"}
    found = ModulePaths(module, given).path(Ref(module.entry, 2))
    assert (found.path, found.source) == (("attention", "out"), PathSource.FLOW)
