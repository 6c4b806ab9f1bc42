"""Captures taken through the command line, one for several tests."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hloscope import hlo, store
from hloscope.model.capture import Capture, Depth, Leaf, PayloadName
from hloscope.model.units import Measured, Missing

if TYPE_CHECKING:
    from tests.capture.conftest import Desk

pytestmark = pytest.mark.compile

MESH = {"data": 2, "fsdp": 2}
LEAF = Leaf(
    path="state['w']",
    shape=(256, 256),
    dtype="float32",
    weak_type=False,
    sharding="PartitionSpec('fsdp', None)",
    mesh=MESH,
    memory_kind=None,
    layout="{1,0}",
    donated=True,
    parameter=0,
)


@pytest.fixture(scope="module")
def taken(shared: Desk) -> Capture:
    done = shared.run("capture", "mine:build", "-t", "cpu:4", "-o", "a.hloscope")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mine:build for cpu:4\n")
    return store.read(shared.folder / "a.hloscope")


def test_inputs_are_the_trees_leaves_with_what_the_program_says(taken: Capture) -> None:
    unused = replace(
        LEAF, path="unused", shape=(3,), dtype="int32", sharding=None, mesh=None, layout=None
    )
    batch = replace(LEAF, path="batch", sharding="PartitionSpec('data', None)", parameter=1)
    inputs = tuple(replace(leaf, memory_kind=None) for leaf in taken.inputs)
    assert inputs == (
        LEAF,
        replace(unused, donated=False, parameter=None),
        replace(batch, donated=False),
    )


def test_outputs_are_the_trees_leaves(taken: Capture) -> None:
    found = [(o.path, o.shape, o.dtype, o.parameter) for o in taken.outputs]
    assert found == [("[0]['w']", (256, 256), "float32", 0), ("[1]", (), "float32", 1)]


def test_payloads_are_all_there_and_readable(taken: Capture) -> None:
    assert set(taken.payloads) == {
        PayloadName.STABLEHLO,
        PayloadName.BEFORE_OPTIMIZATIONS,
        PayloadName.OPTIMIZED,
        PayloadName.COMPILE_OPTIONS,
        PayloadName.MEMORY_REPORT,
        PayloadName.LIVE_RANGE,
    }
    module = hlo.read_proto(taken.payloads[PayloadName.OPTIMIZED])
    assert module.name == "jit_step"
    assert hlo.read_buffers(taken.payloads[PayloadName.OPTIMIZED]) is not None
    assert taken.payloads[PayloadName.STABLEHLO].startswith(b"ML\xefR")


def test_memory_comes_from_the_buffer_assignment(taken: Capture) -> None:
    quarter, half = 256 * 256 * 4 // 2, 256 * 256 * 4 // 2
    assert taken.memory.argument == Measured(quarter + half)
    assert taken.memory.alias == Measured(quarter)
    assert isinstance(taken.memory.code, Missing)
    assert isinstance(taken.cost.flops, Missing)


def test_provenance_tells_what_steered_the_compile(taken: Capture) -> None:
    provenance = taken.provenance
    assert {"python", "jax", "jaxlib", "numpy"} <= set(provenance.versions)
    assert "libtpu" not in provenance.versions
    assert "UserWarning: the program warns" in provenance.warnings
    assert set(provenance.seconds) == {
        "start", "program", "trace", "lower", "compile", "total",
    }  # fmt: skip
    assert isinstance(provenance.peak_memory, Measured)
    assert provenance.peak_memory.value > 50_000_000
    assert (provenance.git_revision, provenance.ambient_mesh) == (None, None)


def test_what_the_user_sets_by_environment_is_recorded(shared: Desk) -> None:
    done = shared.run(
        "capture", "mine:build?n=64", "-t", "cpu:4", "-o", "x", JAX_ENABLE_X64="1",
        XLA_FLAGS="--xla_cpu_enable_fast_math=true", HOSTNAME="florence-pc",
        XLA_NOTE="florence-pc of zebedee",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    provenance = store.read(shared.folder / "x").provenance
    assert provenance.jax_config == {"jax_enable_x64": "True"}
    ours = {"JAX_ENABLE_X64", "XLA_FLAGS", "XLA_NOTE"}
    assert {name: provenance.environment[name] for name in ours} == {
        "JAX_ENABLE_X64": "1",
        "XLA_FLAGS": "--xla_cpu_enable_fast_math=true",
        "XLA_NOTE": "<name> of <name>",
    }


def everything(capture: Capture) -> bytes:
    manifest = json.dumps(store.manifest(capture)).encode()
    return b"\0".join((manifest, *capture.payloads.values()))


def test_no_home_user_or_host_is_in_the_file(taken: Capture, shared: Desk) -> None:
    data = everything(taken)
    assert b"mine.py" in data
    for secret in (shared.environment["HOME"], "zebedee", socket.gethostname()):
        if len(secret) > 3:
            assert secret.encode() not in data


def test_source_lines_are_relative_to_the_import_path(taken: Capture) -> None:
    module = hlo.read_proto(taken.payloads[PayloadName.OPTIMIZED])
    files = {frame.file for frame in module.stack_frames}
    assert files
    assert not [file for file in files if file.startswith("/")]
    assert "mine.py" in files


def test_the_same_program_again_comes_from_the_cache(taken: Capture, shared: Desk) -> None:
    done = shared.run("capture", "mine:build?n=256", "-t", "cpu:4", "-o", "b.hloscope")
    assert "from the cache" in done.stdout
    again = store.read(shared.folder / "b.hloscope")
    assert again.program == "mine:build?n=256"
    assert again.provenance.options == {"n": "256"}
    provenance = replace(again.provenance, options={})
    assert replace(again, program="mine:build", provenance=provenance) == taken


def test_the_same_program_compiled_anew_gives_the_same_payloads(
    taken: Capture, shared: Desk
) -> None:
    done = shared.run("capture", "mine:build", "-t", "cpu:4", "-o", "c.hloscope", "--no-cache")
    assert "from the cache" not in done.stdout
    assert store.read(shared.folder / "c.hloscope").payloads == taken.payloads


@pytest.mark.usefixtures("taken")
def test_a_capture_can_be_compiled_again_without_its_program(shared: Desk) -> None:
    script = Path(__file__).with_name("scripts") / "recompile.py"
    flags = "--xla_force_host_platform_device_count=4"
    done = subprocess.run(
        [sys.executable, script, shared.folder / "a.hloscope", shared.temporary / "again"],
        env={**shared.environment, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("mine:build?n=128", "-t", "cpu:4"),
        ("mine:build", "-t", "cpu:8"),
        ("mine:build", "-t", "cpu:4", "--xla-flag", "xla_cpu_enable_fast_math=true"),
        ("mine:build", "-t", "cpu:4", "--depth", "full"),
    ],
)
@pytest.mark.usefixtures("taken")
def test_another_program_target_flag_or_depth_does_not(
    arguments: tuple[str, ...], shared: Desk
) -> None:
    done = shared.run("capture", *arguments, "-o", "d.hloscope")
    assert done.returncode == 0, done.stderr
    assert "from the cache" not in done.stdout


@pytest.mark.usefixtures("taken")
def test_edited_source_does_not(shared: Desk) -> None:
    source = shared.folder / "mine.py"
    (shared.folder / "other.py").write_text(source.read_text())
    first = shared.run("capture", "other:build?n=64", "-t", "cpu:4", "-o", "e.hloscope")
    assert first.returncode == 0, first.stderr
    edited = source.read_text().replace("scale=1.5", "scale=2.5")
    (shared.folder / "other.py").write_text(edited)
    done = shared.run("capture", "other:build?n=64", "-t", "cpu:4", "-o", "e.hloscope")
    assert "from the cache" not in done.stdout


def test_full_and_passes_add_to_it(shared: Desk) -> None:
    full = ("capture", "mine:build?n=512", "-t", "cpu:4", "-o", "f.hloscope", "--depth")
    assert shared.run(*full, "full", "--no-cache").returncode == 0
    capture = store.read(shared.folder / "f.hloscope")
    assert capture.depth is Depth.FULL
    assert capture.memory.source == "memory_analysis"
    assert isinstance(capture.cost.flops, Measured)
    assert capture.cost.flops.value > 512**3
    assert shared.run(*full, "passes", "--no-cache").returncode == 0
    deeper = store.read(shared.folder / "f.hloscope")
    passes = [name for name in deeper.payloads if name.startswith(PayloadName.PASSES)]
    assert len(passes) > 10
    assert passes == sorted(passes)
    for name in passes:
        assert hlo.read_proto(deeper.payloads[name]).name == "jit_step"
    optimized = PayloadName.OPTIMIZED
    assert deeper.payloads[optimized] == capture.payloads[optimized]


def test_json_is_the_manifest(shared: Desk) -> None:
    done = shared.run("capture", "mine:build", "-t", "cpu:4", "-o", "a.hloscope", "--json")
    capture = store.read(shared.folder / "a.hloscope")
    assert json.loads(done.stdout) == {"file": "a.hloscope", **store.manifest(capture)}


def test_the_default_file_name_says_program_and_target(shared: Desk) -> None:
    done = shared.run("capture", "mine:build", "-t", "cpu:4")
    assert done.returncode == 0, done.stderr
    assert (shared.folder / "mine-build.cpu-4.hloscope").is_file()


@pytest.mark.usefixtures("taken")
def test_the_cache_is_listed_and_cleared(shared: Desk) -> None:
    listed = json.loads(shared.run("cache", "list", "--json").stdout)
    assert {"program", "target", "depth", "size", "key"} == set(listed["captures"][0])
    assert shared.run("cache", "list").stdout.count("cpu:4") >= 1
    cleared = json.loads(shared.run("cache", "clear", "--json").stdout)
    assert cleared["captures"] == len(listed["captures"])
    assert list(Path(listed["folder"]).iterdir()) == []


@pytest.mark.tpu
def test_a_program_that_does_not_fit_is_a_capture_with_its_buffers(desk: Desk) -> None:
    done = desk.run("capture", "mine:huge", "-t", "tpu:v5e:2x2", "-o", "a.hloscope")
    assert done.returncode == 0, done.stderr
    assert "does not fit: needs " in done.stdout
    capture = store.read(desk.folder / "a.hloscope")
    refusal = capture.out_of_memory
    assert refusal is not None
    assert refusal.available == Measured(int(15.75 * 2**30))
    assert isinstance(refusal.needed, Measured)
    assert refusal.needed.value > 16 * 2**30
    assert hlo.read_buffers(capture.payloads[PayloadName.OPTIMIZED]) is not None
    assert isinstance(capture.memory.temp, Measured)
    assert desk.run("capture", "mine:huge", "-t", "tpu:v5e:2x2", "-o", "b.hloscope").stdout.count(
        "does not fit"
    )


@pytest.mark.tpu
def test_a_tpu_capture_stops_before_code_generation(desk: Desk) -> None:
    done = desk.run("capture", "mine:build?n=512", "-t", "tpu:v5e:2x2", "-o", "a.hloscope")
    assert (done.returncode, done.stderr) == (0, "")
    capture = store.read(desk.folder / "a.hloscope")
    assert "libtpu" in capture.provenance.versions
    assert capture.out_of_memory is None
    assert capture.inputs[0].layout == "{1,0:T(8,128)}"
    assert list(desk.temporary.iterdir()) == []
