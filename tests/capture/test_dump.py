from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hloscope.capture.dump import Dump, is_whole


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


@settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    module=st.binary(max_size=300),
    buffers=st.binary(max_size=300),
    cut=st.integers(min_value=0, max_value=700),
)
def test_a_proto_is_whole_once_its_last_byte_is_there(
    tmp_path: Path, module: bytes, buffers: bytes, cut: int
) -> None:
    path = tmp_path / "file"
    whole = field(1, module) + field(3, buffers)
    path.write_bytes(whole[:cut])
    assert is_whole(path) == (cut >= len(whole))


@pytest.mark.parametrize(
    "content", [b"", field(1, b"x"), field(3, b"x"), b"\x08\x01", b"\xff" * 30]
)
def test_other_content_is_not_whole(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert not is_whole(tmp_path / "file")


WHOLE = field(1, b"module") + field(3, b"buffers")


def fill(folder: Path, **files: bytes) -> Dump:
    for number, (name, content) in enumerate(files.items()):
        path = folder / f"module_0001.jit_f.{name.replace('__', '.')}"
        path.write_bytes(content)
        os.utime(path, ns=(number, number))
    return Dump(folder, "jit_f")


def test_on_tpu_a_dump_is_complete_once_the_program_was_found_to_fit(tmp_path: Path) -> None:
    dump = fill(tmp_path, cl_1__after_optimizations__hlo__pb=WHOLE)
    assert not dump.is_complete(platform="tpu")
    assert dump.is_complete(platform="cpu")
    fill(tmp_path, cl_1__after_optimizations_after_buffer_assignment__hlo__pb=b"half")
    assert dump.is_complete(platform="tpu")


def test_a_dump_that_is_half_written_is_not_complete(tmp_path: Path) -> None:
    assert not Dump(tmp_path, "jit_f").is_complete(platform="cpu")
    dump = fill(tmp_path, cpu_after_optimizations__hlo__pb=WHOLE[:-1])
    assert not dump.is_complete(platform="cpu")


def test_another_module_in_the_same_folder_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "module_0000.jit_g.cpu_after_optimizations.hlo.pb").write_bytes(WHOLE)
    assert not Dump(tmp_path, "jit_f").has_optimized()
    assert Dump(tmp_path, "jit_g").has_optimized()


def test_passes_are_kept_up_to_the_optimized_module(tmp_path: Path) -> None:
    dump = fill(
        tmp_path,
        before_optimizations__hlo__pb=b"before",
        cl_1__0000__pipe__after_dce__hlo__pb=b"first",
        cl_1__0001__pipe__after_cse__hlo__pb=b"second",
        cl_1__after_optimizations__hlo__pb=WHOLE,
        cl_1__0002__codegen__after_x__hlo__pb=b"half wri",
    )
    assert dump.payloads() == {
        "before_optimizations.hlo.pb": b"before",
        "optimized.hlo.pb": WHOLE,
        "passes/0000.pipe.after_dce.hlo.pb": b"first",
        "passes/0001.pipe.after_cse.hlo.pb": b"second",
    }
