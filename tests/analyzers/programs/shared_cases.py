"""The pairs of the folder beside the checkout, as programs."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

from hloscope import Program

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "cases"


def build(devices, case, side):
    """One side of a case; its meshes lie over the target's devices."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(FOLDER))
    import _common

    _common.topo = lambda *_: SimpleNamespace(devices=list(devices))
    spec = importlib.util.spec_from_file_location(f"case_{case}", FOLDER / f"{case}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function, arguments, options = getattr(module, f"build_{side}")()
    return Program(function=function, args=tuple(arguments), jit_options=dict(options))
