"""What a user types in a notebook, run by test_capture_function.py."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import hloscope
from hloscope import hlo

TARGET = "cpu:4"
weights = jnp.ones((64, 64))


@partial(jax.jit, static_argnames="n", donate_argnums=0)
def jitted(x, n):
    return x * n @ weights


def leaves(capture):
    return [(i.path, i.shape, i.sharding, i.mesh, i.donated, i.parameter) for i in capture.inputs]


# a jitted function with a static argument and a captured array, called with a numpy array
capture = hloscope.capture(jitted, np.ones((64, 64), np.float32), 3, target=TARGET, cache=False)
assert leaves(capture) == [("x", (64, 64), None, None, True, 0)], leaves(capture)
assert capture.program == "jitted"
module = hlo.read_proto(capture.payloads["optimized.hlo.pb"])
assert module.header_attr("num_partitions") in (None, "1"), module.header
assert "notebook.py" in {frame.file for frame in module.stack_frames}

# a mesh of this process's one device, and one of more devices than it has
own = Mesh(np.array(jax.devices()[:1]), ("x",))
many = AbstractMesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
for mesh, sizes in ((own, {"x": 1}), (many, {"x": 2, "y": 2})):
    given = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=NamedSharding(mesh, P("x")))
    capture = hloscope.capture(
        lambda x, y: x @ y, given, jnp.ones((64, 64)), target=TARGET, cache=False
    )
    assert leaves(capture) == [
        ("x", (64, 64), "PartitionSpec('x', None)", sizes, False, 0),
        ("y", (64, 64), leaves(capture)[1][2], leaves(capture)[1][3], False, 1),
    ], leaves(capture)

# a mesh too large, and something that cannot be sent
for args, problem in (
    (
        (
            jax.ShapeDtypeStruct(
                (8,), jnp.float32, sharding=NamedSharding(AbstractMesh((8,), ("x",)), P("x"))
            ),
        ),
        "a mesh of 8 devices {'x': 8} on a target of 4",
    ),
    (((n for n in (1, 2)),), "the program cannot be sent to the compiler process: TypeError: "),
):
    try:
        hloscope.capture(lambda x: x, *args, target=TARGET, cache=False)
    except hloscope.HloscopeError as error:
        assert error.problem.startswith(problem), error.problem  # noqa: PT017 - no pytest here
    else:
        raise AssertionError(problem)
