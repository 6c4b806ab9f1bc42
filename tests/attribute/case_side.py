"""Compiles one side of a shared case and keeps its HloProto. Arguments: case, side, folder."""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

path, side, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
os.environ.update(ALLOW_MULTIPLE_LIBTPU_LOAD="1", TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu")
sys.dont_write_bytecode = True
sys.path.insert(0, str(path.parent))

import jax  # noqa: E402

spec = importlib.util.spec_from_file_location("case", path)
case = importlib.util.module_from_spec(spec)
spec.loader.exec_module(case)
function, arguments, options = getattr(case, f"build_{side}")()
with tempfile.TemporaryDirectory() as dump:
    flags = {"xla_dump_to": dump, "xla_dump_hlo_as_proto": True}
    jax.jit(function, **options).lower(*arguments).compile(compiler_options=flags)
    (proto,) = Path(dump).glob("*after_optimizations.hlo.pb")
    (folder / f"{side}.pb").write_bytes(proto.read_bytes())
