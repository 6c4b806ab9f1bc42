from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hloscope.capture.targets import child_environment, parse_target, toolchain

COMPILE_A_SUM = """
import sys
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from hloscope.capture.targets import default_compile_options, parse_target, target_devices

for spec in sys.argv[1:]:
    target = parse_target(spec)
    devices = target_devices(target)
    rows = NamedSharding(Mesh(np.array(devices), ("d",)), P("d"))
    x = jax.ShapeDtypeStruct((len(devices) * 8, 128), np.float32, sharding=rows)
    options = dict(default_compile_options(target))
    compiled = jax.jit(lambda x: x.sum()).lower(x).compile(compiler_options=options)
    reduced = "all-reduce" in compiled.as_text()
    size = compiled.memory_analysis().argument_size_in_bytes
    print(spec, len(set(devices)), "all-reduce" if reduced else "alone", size)
"""


def _compile(*specs: str) -> list[str]:
    """What a child prints that compiles a sum over all devices of each target."""
    environment = {**os.environ, **child_environment(parse_target(specs[0]), os.environ)}
    result = subprocess.run(
        [sys.executable, "-c", COMPILE_A_SUM, *specs],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout.splitlines()


def _needs(platform: str) -> None:
    problem = toolchain(platform).problem
    if problem:
        pytest.skip(problem)


@pytest.mark.compile
@pytest.mark.tpu
def test_every_tpu_generation_compiles() -> None:
    _needs("tpu")
    assert _compile(
        "tpu:v2:2x2",
        "tpu:v3:4x4",
        "tpu:v4:2x2x2",
        "tpu:v5e:2x4",
        "tpu:v5p:2x2x3",
        "tpu:v6e:16x16",
        "tpu:tpu7x:2x2x1",
    ) == [
        "tpu:v2:2x2 8 all-reduce 4096",
        "tpu:v3:4x4 32 all-reduce 4096",
        "tpu:v4:2x2x2 8 all-reduce 4096",
        "tpu:v5e:2x4 8 all-reduce 4096",
        "tpu:v5p:2x2x3 12 all-reduce 4096",
        "tpu:v6e:16x16 256 all-reduce 4096",
        "tpu:tpu7x:2x2x1 8 all-reduce 4096",
    ]


@pytest.mark.compile
@pytest.mark.tpu
def test_slices_of_one_chip_compile() -> None:
    _needs("tpu")
    assert _compile("tpu:v5e:1x1", "tpu:v5p:1x1x1", "tpu:tpu7x:1x1x1") == [
        "tpu:v5e:1x1 1 alone 4096",
        "tpu:v5p:1x1x1 1 alone 4096",
        "tpu:tpu7x:1x1x1 2 all-reduce 4096",
    ]


@pytest.mark.compile
@pytest.mark.gpu
def test_every_gpu_compiles_without_one() -> None:
    _needs("gpu")
    assert _compile("gpu:a100:8", "gpu:h100:8", "gpu:h200:8", "gpu:b200:1", "gpu:h100:16") == [
        "gpu:a100:8 8 all-reduce 4096",
        "gpu:h100:8 8 all-reduce 4096",
        "gpu:h200:8 8 all-reduce 4096",
        "gpu:b200:1 1 alone 4096",
        "gpu:h100:16 16 all-reduce 4096",
    ]


@pytest.mark.compile
def test_a_cpu_target_has_the_devices_it_names() -> None:
    assert _compile("cpu:5") == ["cpu:5 5 all-reduce 4096"]
