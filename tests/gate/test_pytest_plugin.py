"""The plugin as a user's own tests use it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

HEAD = """
import jax
import jax.numpy as jnp
import numpy as np

W = jax.ShapeDtypeStruct((64, 64), jnp.float32)

def step(w):
    return w * 2 + 1

def other_names(weight):
    one = 1
    return weight * 2 + one

def wide(w):
    return jnp.tanh(w @ w) @ w

def donating(f):
    return {"jit_options": {"donate_argnums": (0,)}}
"""

PASSING = """
def test_same(hloscope):
    a, b = hloscope.capture(step, W), hloscope.capture(other_names, W)
    hloscope.assert_same_graph(a, b, strict=True)
    hloscope.assert_no_finding("*")

def test_within(hloscope):
    hloscope.assert_within("step", hloscope.capture(step, W))
    hloscope.assert_no_finding("DON*")
"""

FAILING = """
def test_other_graph(hloscope):
    hloscope.assert_same_graph(hloscope.capture(step, W), hloscope.capture(wide, W))

def test_lost_donation(hloscope):
    lhs = hloscope.capture(step, W, jit_options={"donate_argnums": (0,)})
    hloscope.assert_no_finding("DON*", lhs=lhs, rhs=hloscope.capture(step, W))

def test_beyond(hloscope):
    hloscope.assert_within("step", hloscope.capture(wide, W), flops="1%", hbm_total=0)

def test_no_baseline(hloscope):
    hloscope.assert_within("unheard-of", hloscope.capture(step, W))

def test_nothing_compared(hloscope):
    hloscope.assert_no_finding("DON*")
"""


@pytest.mark.compile
def test_what_holds_passes_and_what_does_not_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_passing=HEAD + PASSING, test_failing=HEAD + FAILING)
    first = _run(pytester, "test_passing.py", "--hloscope-update")
    first.assert_outcomes(passed=2)
    second = _run(pytester, "-n", "2")
    second.assert_outcomes(passed=2, failed=5)
    for said in (
        "the graphs differ",
        "NOT THE SAME PROGRAM: *",
        "DON001: *",
        "REGRESSED step on cpu:1*",
        "*no baseline*",
        "nothing has been compared: give lhs and rhs",
    ):
        second.stdout.fnmatch_lines([f"*{said}"])


def _run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    # installed, the plugin loads itself; in a checkout it has to be named
    loaded = () if entry_points(group="pytest11", name="hloscope") else ("-p", "hloscope.testing")
    return pytester.runpytest_subprocess(*loaded, "-p", "no:cacheprovider", *arguments)


def test_loading_the_plugin_loads_nothing_else() -> None:
    code = (
        "import sys, pytest, hloscope.testing\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('jax', 'numpy', 'pandas')\n"
        "       or m.startswith('hloscope.') and m != 'hloscope.testing'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
