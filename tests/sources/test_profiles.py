from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hloscope.errors import HloscopeError
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.hlo import MeasuredTimes
from hloscope.model.source import SourceKind
from hloscope.sources import open_file

MakeProto = Callable[..., pb.HloProto]


def space_of(*protos: tuple[str, pb.HloProto]) -> pb.XSpace:
    """A profile whose metadata plane has the given modules."""
    space = pb.XSpace()
    plane = space.planes.add(name="/host:metadata")
    plane.stat_metadata[1].name = "Hlo Proto"
    for number, (name, proto) in enumerate(protos, 1):
        event = plane.event_metadata[number]
        event.id, event.name = number, name
        event.stats.add(metadata_id=1, bytes_value=proto.SerializeToString())
    return space


def add_device(
    space: pb.XSpace, name: str, events: list[tuple[str, int, int]], *, line: str = "XLA Ops"
) -> pb.XPlane:
    """A device plane: (event name, picoseconds, occurrences) on one line."""
    plane = space.planes.add(name=name)
    ops = plane.lines.add(name=line)
    steps = plane.lines.add(name="Steps")
    for number, (event, duration, count) in enumerate(events, 1):
        plane.event_metadata[number].name = event
        ops.events.add(metadata_id=number, duration_ps=duration, num_occurrences=count)
        steps.events.add(metadata_id=number, duration_ps=10**12)
    return plane


def write(space: pb.XSpace, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(space.SerializeToString())
    return path


def test_modules_and_times(tmp_path: Path, make_proto: MakeProto) -> None:
    space = space_of(("jit_f(15)", make_proto("jit_f")))
    add_device(
        space,
        "/device:TPU:0",
        [
            ("%n1 = f32[2]{0} negate(f32[2]{0} %p)", 3_000_000, 2),
            ("%other = f32[]", 1, 1),
            ("n1", 1_000_000, 0),
        ],
    )
    source = open_file(write(space, tmp_path / "host.xplane.pb"))
    assert (source.kind, source.module.name, source.notes) == (SourceKind.PROFILE, "jit_f", ())
    assert source.buffers is not None
    assert source.times == MeasuredTimes(
        seconds={"n1": pytest.approx(4e-6)}, occurrences={"n1": 3}, source="/device:TPU:0"
    )


def test_times_by_stats_belong_to_their_module(tmp_path: Path, make_proto: MakeProto) -> None:
    space = space_of(("jit_f", make_proto("jit_f")))
    plane = space.planes.add(name="/device:GPU:0")
    for number, name in enumerate(("hlo_op", "hlo_module", "n1", "jit_f", "jit_g"), 1):
        plane.stat_metadata[number].name = name
    plane.event_metadata[1].name = "some_kernel"
    line = plane.lines.add(name="Stream #1")
    for module, duration in ((4, 5), (5, 7)):
        event = line.events.add(metadata_id=1, duration_ps=duration)
        event.stats.add(metadata_id=1, ref_value=3)
        event.stats.add(metadata_id=2, ref_value=module)
    times = open_file(write(space, tmp_path / "host.xplane.pb")).times
    assert times == MeasuredTimes(
        seconds={"n1": pytest.approx(5e-12)}, occurrences={"n1": 1}, source="/device:GPU:0"
    )


def test_of_several_devices_the_first_counts(tmp_path: Path, make_proto: MakeProto) -> None:
    space = space_of(("jit_f", make_proto()))
    for number, duration in ((1, 9), (0, 5)):
        add_device(space, f"/device:TPU:{number}", [("n1", duration, 1)])
    source = open_file(write(space, tmp_path / "a.xplane.pb"))
    assert source.times is not None
    assert source.times.seconds == {"n1": pytest.approx(5e-12)}
    assert source.notes == ("times are of '/device:TPU:0', one of 2 devices",)


def test_a_run_folder_and_its_log_folder(tmp_path: Path, make_proto: MakeProto) -> None:
    run = tmp_path / "log" / "plugins" / "profile" / "2026_01_01"
    write(space_of(("jit_f", make_proto())), run / "host.xplane.pb")
    notes = ("the profile has no device events of this module",)
    for folder in (run, tmp_path / "log"):
        source = open_file(folder)
        assert (source.label, source.module.name, source.notes) == (str(folder), "jit_f", notes)
    write(space_of(("jit_f", make_proto())), run.parent / "2026_01_02" / "host.xplane.pb")
    with pytest.raises(HloscopeError, match="2 profile runs: '2026_01_01', '2026_01_02'"):
        open_file(tmp_path / "log")


def test_the_module_is_chosen_by_name(tmp_path: Path, make_proto: MakeProto) -> None:
    space = space_of(("jit_f(1)", make_proto("jit_f")), ("jit_g(2)", make_proto("jit_g", 1)))
    path = write(space, tmp_path / "a.xplane.pb")
    with pytest.raises(HloscopeError, match=r"2 modules: 'jit_f\(1\)' .*'jit_g\(2\)'"):
        open_file(path)
    assert open_file(path, module="jit_g").module.name == "jit_g"
    assert open_file(path, module="jit_g(2)").module.name == "jit_g"


def test_a_profile_without_modules(tmp_path: Path) -> None:
    with pytest.raises(HloscopeError, match="holds no HLO module"):
        open_file(write(space_of(), tmp_path / "a.xplane.pb"))


PROFILED = """
import sys, jax, jax.numpy as jnp
@jax.jit
def f(x):
    return jnp.tanh(x @ x).sum()
x = jnp.ones((64, 64))
f(x).block_until_ready()
with jax.profiler.trace(sys.argv[1]):
    f(x).block_until_ready()
"""


@pytest.mark.compile
def test_a_real_profile(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", PROFILED, str(tmp_path)],
        check=True,
        capture_output=True,
        timeout=120,
        env={"JAX_PLATFORMS": "cpu", "PATH": ""},
    )
    source = open_file(tmp_path, module="jit_f")
    assert source.kind is SourceKind.PROFILE
    assert source.module.instruction_count > 3
    assert source.buffers is not None
