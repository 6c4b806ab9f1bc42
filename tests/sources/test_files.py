from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hloscope.errors import HloscopeError
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.capture import PayloadName
from hloscope.model.source import Source, SourceKind
from hloscope.sources import open_file

MakeText = Callable[..., str]
MakeProto = Callable[..., pb.HloProto]


def summary(source: Source) -> tuple[object, ...]:
    return source.kind, source.module.name, source.module.instruction_count, source.notes


def test_text_and_proto_of_one_module(
    tmp_path: Path, make_text: MakeText, make_proto: MakeProto
) -> None:
    text, proto = tmp_path / "a.txt", tmp_path / "a.hlo.pb"
    text.write_text(make_text())
    proto.write_bytes(make_proto().SerializeToString())
    assert summary(open_file(text)) == (SourceKind.TEXT, "jit_f", 2, ())
    opened = open_file(proto)
    assert summary(opened) == (SourceKind.PROTO, "jit_f", 2, ())
    assert opened.buffers is not None
    assert open_file(text).buffers is None


@pytest.mark.parametrize("name", ["a.hlo_proto.pb", "whatever", "x.bin"])
def test_the_content_decides_not_the_name(tmp_path: Path, make_proto: MakeProto, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(make_proto().hlo_module.SerializeToString())
    assert summary(open_file(path)) == (SourceKind.PROTO, "jit_f", 2, ())


def test_gzipped_files_are_unpacked(
    tmp_path: Path, make_text: MakeText, make_proto: MakeProto
) -> None:
    text, proto = tmp_path / "a.txt.gz", tmp_path / "a.hlo.pb.gz"
    text.write_bytes(gzip.compress(make_text().encode()))
    proto.write_bytes(gzip.compress(make_proto().SerializeToString()))
    assert open_file(text).module.name == open_file(proto).module.name == "jit_f"


def test_several_modules_are_listed(tmp_path: Path, make_text: MakeText) -> None:
    path = tmp_path / "a.hlo"
    path.write_text(make_text("f") + "\n" + make_text("g", 1) + "\n" + make_text("f"))
    with pytest.raises(HloscopeError) as caught:
        open_file(path)
    assert str(caught.value) == (
        "it holds 3 modules: 'f#1' (2 instructions), 'g' (3 instructions), 'f#2' (2 instructions)\n"
        f"  at: {path}\n"
        "  try: --module NAME"
    )
    assert summary(open_file(path, module="g")) == (SourceKind.TEXT, "g", 3, ())
    assert summary(open_file(path, module="f#2")) == (SourceKind.TEXT, "f", 2, ())
    with pytest.raises(HloscopeError, match="module 'f' is there 2 times"):
        open_file(path, module="f")
    with pytest.raises(HloscopeError, match="it holds no module 'h', but 'f#1'"):
        open_file(path, module="h")


def test_one_module_by_far_the_largest_is_picked(tmp_path: Path, make_text: MakeText) -> None:
    path = tmp_path / "a.hlo"
    path.write_text(make_text("f") + "\n" + make_text("g", 20))
    assert summary(open_file(path)) == (
        SourceKind.TEXT,
        "g",
        22,
        ("'g' is by far the largest of 2 modules",),
    )


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("empty", b"", "the file is empty"),
        ("a.zip", b"PK\x03\x04rest", "this zip file is no capture"),
        ("a.mlir", b"module @jit_f {\n  func.func public @main() {\n  }\n}", "this is MLIR text"),
        ("a.mlirbc", b"ML\xefR\x01\x02", "this is MLIR bytecode"),
        ("a.pbtxt", b'hlo_module {\n  name: "m"\n}\n', "text protos are not read"),
        ("a.json", b'{"a": 1}', "this text holds no HLO"),
        ("a.txt", b"HloModule f\n", "this text holds no HLO"),
        ("a.pb", b"\x00\xff\x00\xff", "this is no HLO proto"),
        ("a.xplane.pb", b"\xff\xff\xff", "the profile is damaged"),
        ("a.gz", b"\x1f\x8b\x08broken", "the file's gzip compression is damaged"),
        ("random", bytes(range(256)) * 20, "this is no HLO proto"),
    ],
)
def test_what_cannot_be_read_is_said_with_file_and_remedy(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(HloscopeError) as caught:
        open_file(path)
    assert caught.value.problem.startswith(problem)
    assert caught.value.where == str(path)
    assert caught.value.remedy


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HloscopeError, match="no file"):
        open_file(tmp_path / "nothing")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(HloscopeError, match="cannot read"):
        open_file(path)


@pytest.mark.parametrize("stage", ["", "cpu_", "sm_9.0a_gpu_"])
def test_a_dump_folder_gives_both_stages(tmp_path: Path, make_proto: MakeProto, stage: str) -> None:
    base = tmp_path / "module_0000.jit_f"
    for name, extra in (("before_optimizations", 1), (f"{stage}after_optimizations", 0)):
        proto = make_proto("jit_f", extra)
        Path(f"{base}.{name}.hlo.pb").write_bytes(proto.SerializeToString())
        Path(f"{base}.{name}.txt").write_text("the proto is taken")
    Path(f"{base}.{stage}after_optimizations-buffer-assignment.txt").write_text("not HLO")
    Path(f"{base}.0001.passes.after_dce.before_next.hlo.pb").write_bytes(b"a pass")
    (tmp_path / "args.json").write_text("{}")
    opened = open_file(tmp_path)
    assert summary(opened) == (SourceKind.DUMP, "jit_f", 2, ())
    assert opened.before is not None
    assert opened.before.instruction_count == 3
    assert opened.buffers is not None


def test_a_dump_of_text_alone(tmp_path: Path, make_text: MakeText) -> None:
    (tmp_path / "module_0003.jit_f.before_optimizations.txt").write_text(make_text())
    assert summary(open_file(tmp_path)) == (
        SourceKind.DUMP,
        "jit_f",
        2,
        ("there is no optimized module: this is the one before optimization",),
    )


def test_modules_of_one_name_in_a_dump(tmp_path: Path, make_text: MakeText) -> None:
    for number, extra in ((1, 0), (2, 1)):
        path = tmp_path / f"module_000{number}.jit_f.after_optimizations.txt"
        path.write_text(make_text("jit_f", extra))
    with pytest.raises(HloscopeError, match=r"'module_0001.jit_f' \(.*'module_0002.jit_f'"):
        open_file(tmp_path)
    assert open_file(tmp_path, module="module_0002.jit_f").module.instruction_count == 3


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(HloscopeError, match="neither XLA dumps nor a profile"):
        open_file(tmp_path)


def test_payload_names_are_dump_names() -> None:
    # the capture keeps the dump's own files, so one reader serves both
    assert PayloadName.OPTIMIZED.endswith(".hlo.pb")


# what each corpus file is, or why it is not read
NOT_HLO = {"README.md", "manifest.tsv", "args.json"}
SEVERAL = {
    "hlo_parser_test_2026-03.multi.hlo",
    "xla_import_async_multi.hlo",
    "xla_layouts_and_names.hlo",
}


def test_every_corpus_file_opens_or_says_why_not(corpus: Path) -> None:
    for path in sorted(p for p in corpus.rglob("*") if p.is_file()):
        if path.stat().st_size > 1_500_000:
            continue  # the same kinds as smaller ones; test_hostile and docs/reading.md hold speed
        report = path.name.endswith(("-live-range.txt", "-memory-usage-report.txt"))
        if path.name in NOT_HLO | SEVERAL or report:
            with pytest.raises(HloscopeError) as caught:
                open_file(path)
            assert caught.value.where == str(path)
            assert caught.value.remedy
        else:
            assert open_file(path).module.instruction_count > 0, path
