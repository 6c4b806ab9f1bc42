from __future__ import annotations

from pathlib import Path

import pytest

from hloscope.hlo import print_module, read_proto, read_text
from hloscope.model.hlo import Literal, Module

EXAMPLE = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[]}

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=8 end_column=8}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%side (q: f32[8]{0}) -> f32[8]{0} {
  %q = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%q)
}, execution_thread="sparse"

ENTRY %main (p: f32[8]{0}) -> f32[] {
  %p = f32[8]{0} parameter(0)
  %k = c64[2]{0} constant({(1, 2), (-inf, nan)})
  %c = f32[8]{0} call(%p), to_apply=%side, control-predecessors={%k}
  ROOT %r = f32[] custom-call(%c), backend_config={"x":1}, custom_call_target="a\\"b", called_computations={%side}, metadata={op_name="jit(f)/r" stack_frame_id=1}
}
"""  # noqa: E501


def without_ids(module: Module) -> list[object]:
    return [
        module.name,
        module.header,
        module.stack_frames,
        module.entry,
        [
            c._replace(instructions=tuple(i._replace(id=0) for i in c.instructions))
            for c in module.computations
        ],
    ]


def test_an_example_to_the_letter() -> None:
    (module,) = read_text(EXAMPLE)
    assert print_module(module) == EXAMPLE


def test_a_long_constant_is_elided() -> None:
    numbers = ", ".join(map(str, range(40)))
    (module,) = read_text(f"ENTRY e {{\n c = s32[40] constant({{{numbers}}})\n}}")
    (again,) = read_text(print_module(module))
    assert again.computations[0].instructions[0].literal == Literal("{...}", None)


@pytest.mark.parametrize("name", ["gpt3-52k.linen", "gpt3-6b-L4.nnx"])
def test_real_modules_read_back(corpus: Path, name: str) -> None:
    for path in sorted((corpus / "maxtext_aot" / name).glob("*.pb")):
        module = read_proto(path.read_bytes())
        (again,) = read_text(print_module(module))
        for parts in zip(module.computations, again.computations, strict=True):
            left, right = ([i._replace(id=0, literal=None) for i in c.instructions] for c in parts)
            assert left == right
        assert without_ids(module)[:4] == without_ids(again)[:4]
