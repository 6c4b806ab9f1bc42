"""Shardings said over another mesh: every device has to keep its part."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hloscope.capture.edits.meshes import MeshMismatchError, SubAxis, joined, translate

_SIZES = st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=4)


def _coordinate(device: int, axis: str, mesh: dict[str, int]) -> int:
    names = list(mesh)
    stride = prod(mesh[name] for name in names[names.index(axis) + 1 :])
    return device // stride % mesh[axis]


def _along(device: int, axes: tuple[SubAxis, ...], mesh: dict[str, int]) -> int:
    place = 0
    for axis in axes:
        after = mesh[axis.name] // axis.before // axis.size
        place = place * axis.size + _coordinate(device, axis.name, mesh) // after % axis.size
    return place


@given(_SIZES, _SIZES)
def test_translated_axes_number_devices_as_the_axis_did(left: list[int], right: list[int]) -> None:
    source = {f"a{n}": size for n, size in enumerate(left)}
    target = {f"b{n}": size for n, size in enumerate(right)}
    for axis in source:
        try:
            axes = translate(axis, None, source, target)
        except MeshMismatchError:
            continue
        for device in range(prod(left)):
            assert _along(device, axes, target) == _coordinate(device, axis, source)


def test_fsdp_over_all_devices_is_data_over_all_devices() -> None:
    assert translate("fsdp", None, {"data": 1, "fsdp": 4}, {"data": 4, "fsdp": 1}) == (
        SubAxis("data", 1, 4, 4),
    )


def test_an_axis_can_be_a_part_of_another() -> None:
    assert translate("fsdp", None, {"data": 2, "fsdp": 4}, {"data": 4, "fsdp": 2}) == (
        SubAxis("data", 2, 2, 4),
        SubAxis("fsdp", 1, 2, 2),
    )


@given(_SIZES, _SIZES, st.data())
def test_joined_parts_number_devices_as_the_parts_did(
    left: list[int], right: list[int], data: st.DataObject
) -> None:
    source = {f"a{n}": size for n, size in enumerate(left)}
    target = {f"b{n}": size for n, size in enumerate(right)}
    try:
        parts = [
            part
            for axis in data.draw(st.permutations(list(source)))
            for part in translate(axis, None, source, target)
        ]
    except MeshMismatchError:
        return
    fewer = joined(parts)
    for device in range(prod(left)):
        assert _along(device, fewer, target) == _along(device, tuple(parts), target)
    for one, other in pairwise(fewer):
        assert one.name != other.name or one.before * one.size != other.before


def test_parts_that_are_a_whole_axis_together_are_that_axis() -> None:
    source, target = {"data": 2, "fsdp": 4}, {"data": 8, "fsdp": 1}
    parts = [part for axis in source for part in translate(axis, None, source, target)]
    assert parts == [SubAxis("data", 1, 2, 8), SubAxis("data", 2, 4, 8)]
    assert joined(parts) == (SubAxis("data", 1, 8, 8),)
    assert joined(parts)[0].whole
    assert joined(reversed(parts)) == tuple(reversed(parts))


def test_an_axis_of_one_device_is_none_at_all() -> None:
    assert translate("x", None, {"x": 1, "y": 4}, {"z": 4}) == ()


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ({"x": 4}, {"x": 8}, "meshes of 4 and 8 devices"),
        ({"x": 2, "y": 3}, {"x": 3, "y": 2}, "axis 'x' cuts axis 'x'"),
    ],
)
def test_what_cannot_be_said_is_refused(
    source: dict[str, int], target: dict[str, int], said: str
) -> None:
    with pytest.raises(MeshMismatchError, match=said):
        translate("x", None, source, target)
