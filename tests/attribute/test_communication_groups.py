from __future__ import annotations

import pytest

from hloscope.attribute.communication_groups import (
    Groups,
    axes_of,
    axes_of_pairs,
    meshes_in,
    read_groups,
    read_pairs,
)
from hloscope.model.units import Measured, Missing

MESH = {"data": 2, "fsdp": 2, "tensor": 2}

# every notation, over the eight devices of MESH
NOTATIONS = [
    ("{{0,1},{2,3},{4,5},{6,7}}", ("tensor",)),
    ("{{1,0},{3,2},{5,4},{7,6}}", ("tensor",)),
    ("{{0,1}, {2,3}, {4,5},\n {6,7}}", ("tensor",)),
    ("[4,2]<=[8]", ("tensor",)),
    ("[4,2]<=[4,2]", ("tensor",)),
    ("{{0,2},{1,3},{4,6},{5,7}}", ("fsdp",)),
    ("[4,2]<=[2,2,2]T(0,2,1)", ("fsdp",)),
    ("{{0,4},{1,5},{2,6},{3,7}}", ("data",)),
    ("[4,2]<=[2,4]T(1,0)", ("data",)),
    ("[2,4]<=[8]", ("fsdp", "tensor")),
    ("[2,4]<=[4,2]T(1,0)", ("data", "fsdp")),
    ("[2,4]<=[2,2,2]T(1,0,2)", ("data", "tensor")),
    ("[1,8]<=[8]", ("data", "fsdp", "tensor")),
    ("{}", ("data", "fsdp", "tensor")),
    ("{{0,1,2,3,4,5,6,7}}", ("data", "fsdp", "tensor")),
    ("mesh['data'=2,'fsdp'=2,'tensor'=2] {'fsdp'}", ("fsdp",)),
    ("mesh['data'=2,'fsdp'=2,'tensor'=2] {'data','tensor'}", ("data", "tensor")),
    ("mesh['axis_0'=2,'axis_1'=4] {'axis_0'}", ("data",)),
    ("mesh['axis_0'=2,'axis_1'=4] {'axis_1':(2)2}", ("tensor",)),
    ("mesh['axis_0'=2,'axis_1'=4] {'axis_1':(1)2}", ("fsdp",)),
    ("[8,1]<=[8]", ()),
]


def groups(text: str, devices: int = 8) -> Groups:
    found = read_groups(text, devices)
    assert isinstance(found, Measured)
    return found.value


@pytest.mark.parametrize(("text", "axes"), NOTATIONS)
def test_every_notation_names_its_axes(text: str, axes: tuple[str, ...]) -> None:
    assert axes_of(groups(text), MESH) == Measured(axes)


def test_axes_of_size_one_never_count() -> None:
    assert axes_of(groups("[1,8]<=[8]"), {"a": 1, "b": 8, "c": 1}) == Measured(("b",))


def test_groups_that_follow_no_axis() -> None:
    assert axes_of(groups("{{0,3},{1,2},{4,7},{5,6}}"), MESH) == Missing(
        "the groups do not follow the mesh's axes"
    )


def test_groups_of_different_sizes() -> None:
    found = groups("{{0,1},{2,3,4}}", 5)
    assert (found.members, found.size, found.number) == (None, 3, 2)
    assert axes_of(found, {"x": 5}) == Missing("groups of different sizes follow no mesh axis")


def test_without_a_mesh_the_notation_names_the_axes_unless_it_made_them_up() -> None:
    named = groups("mesh['fsdp'=4,'tensor'=2] {'fsdp'}")
    assert axes_of(named, None) == Measured(("fsdp",))
    made_up = groups("mesh['axis_0'=4] {'axis_0'}", 4)
    assert axes_of(made_up, None) == Missing("no mesh is known that could name the axes")


def test_a_full_pod() -> None:
    mesh = {"data": 24, "fsdp": 64, "tensor": 4}
    found = groups("[96,64]<=[24,64,4]T(0,2,1)", 6144)
    assert (found.size, found.number, axes_of(found, mesh)) == (64, 96, Measured(("fsdp",)))


@pytest.mark.parametrize(
    "text",
    [
        "[4,2]<=[9]",
        "[4,2]<=[8]T(1)",
        "[4,2]<=[2,4]T(1,1)",
        "[99999999999,99999999999]<=[9999999999800000000001]",
        "mesh['x'=4] {'y'}",
        "mesh['x'=4] {'x':(3)2}",
        "mesh['x'=99999999999] {'x'}",
    ],
)
def test_what_makes_no_sense_is_missing(text: str) -> None:
    assert isinstance(read_groups(text, 8), Missing)


def test_pairs() -> None:
    ring = read_pairs("{{0,1},{1,0},{2,3},{3,2},{4,5},{5,4},{6,7},{7,6}}")
    assert axes_of_pairs(ring, MESH) == Measured(("tensor",))
    assert axes_of_pairs(((0, 6), (6, 0)), MESH) == Measured(("data", "fsdp"))
    assert isinstance(axes_of_pairs(((0, 9),), MESH), Missing)
    assert axes_of_pairs(ring, None) == Missing("no mesh is known that could name the axes")


def test_meshes_that_a_sharding_spells() -> None:
    text = "{mesh['data'=2,'fsdp'=4], [{'fsdp'}, {}]}"
    assert meshes_in(text) == [(("data", 2), ("fsdp", 4))]
    assert meshes_in("mesh['axis_0'=4] {'axis_0'}") == []
    assert meshes_in("{mesh[], [{}]}") == []
