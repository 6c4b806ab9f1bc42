"""`PROGRAM@REV`: what it takes, where it is captured, and what is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from user_repository import Desk, make_desk

from hloscope.capture.revisions import find_revision, revision_path, split_revision
from hloscope.errors import HloscopeError


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("pkg.train:step", ("pkg.train:step", None)),
        ("pkg.train:step@main", ("pkg.train:step", "main")),
        ("pkg.train:step?n=3&m=a@feature/x~2", ("pkg.train:step?n=3&m=a", "feature/x~2")),
        ("gpt3-tiny:nnx@HEAD@{1}", ("gpt3-tiny:nnx", "HEAD@{1}")),
    ],
)
def test_the_first_at_parts_program_and_revision(spec: str, parts: tuple[str, str | None]) -> None:
    assert split_revision(spec) == parts


@pytest.mark.parametrize(
    ("spec", "problem", "remedy"),
    [
        ("pkg:step@", "'pkg:step@' names no revision", "package.module:factory@main"),
        ("@main", "'@main' names no program", "package.module:factory@main"),
        (
            "pkg:step@main?n=3",
            "'pkg:step@main?n=3' has its options after the revision 'main'",
            "'pkg:step?n=3@main'",
        ),
    ],
)
def test_other_spellings_are_refused(spec: str, problem: str, remedy: str) -> None:
    with pytest.raises(HloscopeError) as caught:
        split_revision(spec)
    assert (caught.value.problem, caught.value.remedy) == (problem, remedy)


def test_no_such_revision_and_no_repository(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(HloscopeError, match=f"no revision '-x' in {desk.folder}"):
        find_revision("-x", where="a:b@-x", folder=desk.folder)
    with pytest.raises(HloscopeError, match="is in no work tree of a git repository"):
        find_revision("main", where="a:b@main", folder=tmp_path)


def test_what_the_repository_holds_is_imported_from_the_tree(desk: Desk) -> None:
    (desk.folder / "sub").mkdir()
    repository = find_revision("main", where="", folder=desk.folder / "sub").repository
    path = [str(desk.folder / "lib"), "/elsewhere", str(Path(os.__file__).parent)]
    assert revision_path(repository, Path("/tree"), path) == (
        "/tree/sub",
        "/tree/lib",
        "/tree/src",
        "/tree",
        "/elsewhere",
        str(Path(os.__file__).parent),
    )


def test_a_hook_does_not_lend_its_index(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    assert find_revision("main", where="", folder=desk.folder).repository.root == desk.folder


def capture(desk: Desk, program: str, *more: str) -> dict[str, object]:
    done = desk.run("capture", program, "-t", "cpu:1", "-o", "a.hloscope", "--json", *more)
    (desk.folder / "a.hloscope").unlink(missing_ok=True)
    assert (done.returncode, done.stderr) == (0, "")
    manifest: dict[str, object] = json.loads(done.stdout)
    return manifest


def size(manifest: dict[str, object]) -> object:
    inputs = manifest["inputs"]
    assert isinstance(inputs, list)
    return inputs[0]["shape"]


@pytest.mark.compile
def test_a_revision_against_a_dirty_tree(desk: Desk) -> None:
    commit = desk.git("rev-parse", "HEAD")
    desk.write(size="SIZE = 128\n")
    desk.write(untracked="1/0\n")
    before = desk.state()
    done = desk.run("diff", "pkg.train:step@main", "pkg.train:step", "-t", "cpu:1", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    was, now = found["lhs"]["provenance"], found["rhs"]["provenance"]
    assert (was["git_revision"], was["git_dirty"]) == (commit, False)
    assert (now["git_revision"], now["git_dirty"]) == (commit, True)
    assert found["lhs"]["program"] == "pkg.train:step@main"
    assert [found[side]["memory"]["argument"] for side in ("lhs", "rhs")] == [16384, 65536]
    assert desk.state() == before
    assert list(desk.temporary.iterdir()) == []


@pytest.mark.compile
def test_a_revision_is_captured_once(desk: Desk) -> None:
    first = capture(desk, "pkg.train:step?n=32@HEAD")
    desk.commit("second", size="SIZE = 256\n")
    # the same commit under another name; nothing may be checked out or compiled
    again = capture(desk, "pkg.train:step?n=32@main~1", "--timeout", "0.000001")
    assert (again["program"], size(again)) == ("pkg.train:step?n=32@main~1", [32, 32])
    assert again["provenance"] == first["provenance"]


@pytest.mark.compile
def test_sources_in_a_folder_of_their_own(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, "src/pkg")
    desk.commit("second", size="SIZE = 32\n")
    assert size(capture(desk, "pkg.train:step@main~1")) == [64, 64]
    assert size(capture(desk, "pkg.train:step")) == [32, 32]


@pytest.mark.compile
def test_a_revision_that_does_not_work(desk: Desk) -> None:
    desk.commit("broken", train="import nonesuch_module\n")
    desk.commit("mended", train="")
    desk.git("rm", "-rq", "--cached", "pkg")
    desk.git("commit", "-qm", "gone")
    before = desk.state()
    target = ("-t", "cpu:1", "-o", "a.hloscope")
    done = desk.run("capture", "pkg.train:step@main~2", *target)
    assert done.returncode == 2
    assert done.stderr == (
        "error: importing 'pkg.train' raised ModuleNotFoundError: No module named "
        "'nonesuch_module'\n"
        "  at: main~2:pkg/train.py:1 in <module>, for pkg.train:step@main~2\n"
        "  try: fix that; the program has to trace before it can be compiled\n"
    )
    done = desk.run("capture", "pkg.train:step@main~1", *target)
    assert "error: module 'pkg.train' has no 'step'" in done.stderr
    # the files lie in the user's folder, and are none of the revision's
    done = desk.run("capture", "pkg.train:step@main", *target)
    assert "error: no module 'pkg'" in done.stderr
    done = desk.run("capture", "json:loads@main", *target)
    assert "error: 'json' of revision 'main' would come from" in done.stderr
    done = desk.run("capture", "gpt3-tiny:nnx@main", *target)
    assert "error: 'hloscope.decoders' of revision 'main' would come from" in done.stderr
    assert desk.state() == before
    assert list(desk.temporary.iterdir()) == []


@pytest.mark.compile
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_an_interrupted_one(desk: Desk, number: signal.Signals) -> None:
    before = desk.state()
    reached = desk.temporary.parent / "reached"
    process = desk.start(
        "capture", "pkg.train:slow@main", "-t", "cpu:1", "-o", "a.hloscope", REACHED=str(reached)
    )
    assert until(reached.exists)
    assert "hloscope-" in desk.git("worktree", "list")
    started = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, said = process.communicate()
    assert said.strip() == ("interrupted" if number is signal.SIGINT else "")
    assert until(lambda: not any(child.is_running() for child in started))
    assert until(lambda: list(desk.temporary.iterdir()) == [])
    assert desk.state() == before


def until(condition: object, seconds: float = 60.0) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.compile
def test_the_reference_decoders_of_another_revision(tmp_path: Path) -> None:
    """As when hloscope is the repository."""
    desk = make_desk(tmp_path)
    source = Path(__file__).parents[2] / "hloscope"
    subprocess.run(["cp", "-r", str(source), str(desk.folder / "hloscope")], check=True)
    sizes = desk.folder / "hloscope" / "decoders" / "__init__.py"
    sizes.write_text(
        "NAMES = ('old',)\nSTACKS = ('nnx',)\nfrom hloscope.decoders.odd import resolve\n"
    )
    (sizes.parent / "odd.py").write_text(
        "def resolve(spec, devices):\n"
        "    from pkg.train import step\n"
        "    assert spec == 'old:nnx'\n"
        "    return step(devices, n=48)\n"
    )
    desk.commit("as it was")
    assert size(capture(desk, "old:nnx@main")) == [48, 48]
