"""Checks of jax_stages, run in a process of its own by test_jax_stages.py."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from hloscope.capture import leaves
from hloscope.capture.jax_private import stages

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))


def shape(*dims, spec=None):
    sharding = None if spec is None else NamedSharding(mesh, spec)
    return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=sharding)


@partial(
    jax.jit,
    donate_argnums=0,
    static_argnames="n",
    compiler_options={"xla_cpu_enable_fast_math": True},
)
def f(x, unused, y, n=2, *, k):  # noqa: ARG001 - pruned, which is looked at
    return {"r": x["m"] * n + y}, k + 1


traced = f.trace(
    {"m": shape(4, 4, spec=P("a"))}, shape(3), 1.0, k=shape(8, 8, spec=P(None, ("a", "b")))
)
lowered = traced.lower()

facts = stages.facts(lowered)
assert facts.kept == (0, 2, 3), facts
assert facts.leading == 0
assert facts.devices == (0, 1, 2, 3)
assert facts.jit_options == {"xla_cpu_enable_fast_math": "True"}
assert stages.argument_names(traced) == ("x['m']", "unused", "y", "k")
assert stages.stablehlo(lowered)[0] == "jit_f"
assert stages.stablehlo(lowered)[1] == stages.stablehlo(traced.lower())[1]

inputs = leaves.input_leaves(lowered, facts, stages.argument_names(traced))
found = [(i.path, i.shape, i.weak_type, i.sharding, i.donated, i.parameter) for i in inputs]
assert found == [
    ("x['m']", (4, 4), False, "PartitionSpec('a', None)", True, 0),
    ("unused", (3,), False, None, False, None),
    ("y", (), True, found[2][3], False, 1),
    ("k", (8, 8), False, "PartitionSpec(None, ('a', 'b'))", False, 2),
], found
assert inputs[0].mesh == {"a": 2, "b": 2}
outputs = leaves.output_leaves(lowered, facts)
assert [(o.path, o.shape) for o in outputs] == [("[0]['r']", (4, 4)), ("[1]", (8, 8))]

seen = []
with stages.compile_options_seen(seen.append):
    lowered.compile(compiler_options={"xla_dump_to": "/nowhere", "xla_cpu_enable_fast_math": False})
CompileOptions = type(stages.compiler.get_compile_options(1, 1))
options = CompileOptions.ParseFromString(seen[0])
assert dict(options.env_option_overrides).keys() == {"xla_cpu_enable_fast_math"}
assert options.num_partitions == 4
assert b"/nowhere" not in seen[0]

function, arguments = stages.jit_arguments(f)
again = jax.jit(function, **arguments)
args = ({"m": shape(4, 4)}, shape(3), 1.0)
assert again.lower(*args, k=shape(2)).as_text() == f.lower(*args, k=shape(2)).as_text()
g = jax.jit(
    lambda a, b: a + b,
    in_shardings=(NamedSharding(mesh, P("a")), None),
    out_shardings=NamedSharding(mesh, P()),
)
again = jax.jit(g._fun, **stages.jit_arguments(g)[1])
pair = (shape(4), shape(4))
assert again.lower(*pair).as_text() == g.lower(*pair).as_text()

assert stages.ambient_mesh() is None
with mesh:
    assert stages.ambient_mesh() == ({"a": 2, "b": 2}, "with mesh")
with jax.set_mesh(mesh):
    assert stages.ambient_mesh() == ({"a": 2, "b": 2}, "jax.set_mesh")

before = stages.config_values()
stages.configure("jax_default_matmul_precision", "highest")
after = stages.config_values()
assert {k for k in after if after[k] != before[k]} == {"jax_default_matmul_precision"}

model = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
nnx_traced = nnx.jit(lambda m, x: m(x)).trace(model, jnp.ones((2, 4)))
assert isinstance(stages.unwrap(nnx_traced.lower()), jax.stages.Lowered)
assert len(stages.argument_names(nnx_traced)) == 3
