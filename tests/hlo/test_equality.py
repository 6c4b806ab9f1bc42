"""Text and proto of one program read to equal modules, and what we print XLA reads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hloscope.hlo import print_module, read_proto, read_text
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.hlo import Computation, Module

pytestmark = pytest.mark.compile  # jaxlib's reader is slow to start

# 200 kB of text whose constants XLA prints as 127 MB
HUGE_CONSTANTS = "hloenv_efficientnet_lambda_2022.txt"

Plain = Callable[[Module], Module]

# text tells the two async-starts that share one wrapped computation apart; the proto keeps one
SHARED_WRAPPER = "AsyncOpSharedComputation"


def check_both_forms(answers: dict[str, tuple[str, str, bytes]], plain: Plain) -> int:
    """Compares our readings of what jaxlib printed and wrote; gives the number compared."""
    compared = 0
    for key, (status, text, data) in answers.items():
        if status != "read" or SHARED_WRAPPER in text:
            continue
        (from_text,) = read_text(text)
        assert plain(from_text) == plain(read_proto(data)), key
        compared += 1
    return compared


def hlo_text(path: Path) -> str:
    """The HLO inside a corpus file."""
    text = path.read_text()
    if path.suffix == ".js":
        return text.split("`")[1]
    if path.suffix == ".md":
        return text.split("```hlo\n")[1].split("```")[0]
    return text


def corpus_texts(corpus: Path) -> Iterator[tuple[str, str, str]]:
    for folder in ("hlo_diff_pairs", "other", "parser", "xla"):
        for path in sorted((corpus / folder).iterdir()):
            if path.stat().st_size > 500_000 or path.name == HUGE_CONSTANTS:
                continue
            parts = re.split(r"(?m)^(?=HloModule)", hlo_text(path))
            modules = [part for part in parts if part.startswith("HloModule")]
            for number, module in enumerate(modules):
                yield f"{path.name}:{number}", "text", module


@pytest.fixture(scope="module")
def corpus_answers(
    corpus: Path,
    ask_jaxlib: Callable,  # type: ignore[type-arg]
) -> list[tuple[str, str, tuple[str, str, bytes]]]:
    """(key, text, what jaxlib makes of it) of each module of the corpus."""
    items = list(corpus_texts(corpus))
    answers = ask_jaxlib(items)
    return [(key, text, answers[key]) for key, _, text in items]


Answers = list[tuple[str, str, tuple[str, str, bytes]]]


def test_corpus_text(corpus_answers: Answers, plain: Plain) -> None:
    answers = {key: answer for key, _, answer in corpus_answers}
    assert check_both_forms(answers, plain) > 290


def test_corpus_text_as_written_agrees_but_for_layouts(corpus_answers: Answers) -> None:
    """The original text against jaxlib's reading of it, which adds default layouts."""
    compared = 0
    for key, text, (status, printed, data) in corpus_answers:
        if status != "read" or SHARED_WRAPPER in printed or "{...}" in text:
            continue
        ours = read_text(text)
        theirs = read_proto(data)
        # jaxlib numbers names that come twice, and then there is nothing to compare by
        if len(ours) == 1 and not ours[0].notes and all_names(ours[0]) == all_names(theirs):
            assert outline(ours[0]) == outline(theirs), key
            compared += 1
    assert compared > 150


def all_names(module: Module) -> list[str]:
    computations = [c.name for c in module.computations]
    return sorted([*computations, *(i.name for c in module.computations for i in c.instructions)])


def outline(module: Module) -> list[tuple[str, list[tuple[object, ...]]]]:
    """Names, opcodes, operands and literals, in the order of names."""
    return sorted((c.name, _instructions(c)) for c in module.computations)


def _instructions(computation: Computation) -> list[tuple[object, ...]]:
    names = [i.name for i in computation.instructions]
    return sorted(
        (i.name, i.opcode, tuple(names[n] for n in i.operands), i.literal and i.literal.preview)
        for i in computation.instructions
    )


def test_corpus_protos(corpus: Path, ask_jaxlib: Callable, plain: Plain) -> None:  # type: ignore[type-arg]
    items = [
        (
            str(path),
            "proto",
            pb.HloProto.FromString(path.read_bytes()).hlo_module.SerializeToString(),
        )
        for name in ("maxtext_aot/gpt3-dropout.linen", "maxtext_aot/llama2-L4.nnx", "xprof")
        for path in sorted((corpus / name).glob("*.pb"))
    ]
    # jaxlib 0.10 refuses one that a later libtpu wrote
    assert check_both_forms(ask_jaxlib(items), plain) >= len(items) - 1


def compiled(backend: str, folder: Path) -> list[tuple[str, str, bytes]]:
    """Small programs, before and after a compile for `backend`."""
    script = Path(__file__).with_name("compiled_programs.py")
    subprocess.run(
        [sys.executable, str(script), backend, str(folder)],
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
            "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
            "TPU_SKIP_MDS_QUERY": "1",
        },
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=300,
    )
    return [(p.stem, "proto", p.read_bytes()) for p in sorted(folder.glob("*.pb"))]


@pytest.mark.parametrize("backend", ["cpu", pytest.param("v5e:2x2", marks=pytest.mark.tpu)])
def test_compiled_programs(
    backend: str,
    tmp_path: Path,
    ask_jaxlib: Callable,  # type: ignore[type-arg]
    plain: Plain,
) -> None:
    if backend != "cpu":
        pytest.importorskip("libtpu")
    items = compiled(backend, tmp_path)
    assert len(items) == 26
    answers = ask_jaxlib(items)
    assert {key: answer.status for key, answer in answers.items()} == {
        key: "read" for key, _, _ in items
    }
    assert check_both_forms(answers, plain) == len(items)
    for key, _, data in items:
        module = read_proto(data)
        (again,) = read_text(print_module(module))
        assert elided(plain(again)) == elided(plain(module)), key
    printed = [(key, "text", print_module(read_proto(data))) for key, _, data in items]
    assert {key: a.status for key, a in ask_jaxlib(printed).items()} == {
        key: "read" for key, _, _ in items
    }


def elided(module: Module) -> list[tuple[object, ...]]:
    """The module's parts; a constant longer than its preview is compared by its place alone."""
    return [
        (
            module.name,
            module.entry,
            module.is_scheduled,
            module.header,
            module.stack_frames,
        ),
        *(
            (
                c.name,
                c.root,
                c.execution_thread,
                tuple(i._replace(literal=None) for i in c.instructions),
            )
            for c in module.computations
        ),
    ]
