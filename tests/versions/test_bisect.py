"""`hloscope bisect`: the first bad commit, by captures."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from user_repository import PROGRAM, Desk, make_desk

from hloscope.capture.history import candidates, nearest, require_ancestor
from hloscope.capture.revisions import find_revision
from hloscope.errors import HloscopeError
from hloscope.pipeline.bisecting import parse_over


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1%", 2.0), ("0.5 %", 1.0), ("0%", 0.0), ("10", 10.0), ("1KiB", 1024.0), ("2k", 2000.0)],
)
def test_what_over_means(text: str, amount: float) -> None:
    assert parse_over(text, 200) == amount


@pytest.mark.parametrize("text", ["", "%", "-1%", "1 KB", "one"])
def test_what_is_no_threshold(text: str) -> None:
    with pytest.raises(HloscopeError, match="is no threshold"):
        parse_over(text, 200)


def test_the_middle_is_looked_at_first(desk: Desk) -> None:
    first = desk.git("rev-parse", "HEAD")
    commits = [desk.commit(f"commit {n}") for n in range(7)]
    left = candidates(desk.folder, commits[-1], [first], first_parent=False)
    assert left[0] in commits[2:4]
    assert sorted(left) == sorted(commits)
    assert nearest(desk.folder, commits[-1], [first, commits[1], commits[0]]) == commits[1]


def test_the_good_one_has_to_be_before_the_bad_one(desk: Desk) -> None:
    base = desk.git("rev-parse", "HEAD")
    desk.git("switch", "--quiet", "--create", "other")
    desk.commit("aside")
    desk.git("switch", "--quiet", "main")
    desk.commit("ahead")
    good, bad = (find_revision(name, where="", folder=desk.folder) for name in ("other", "main"))
    with pytest.raises(HloscopeError) as caught:
        require_ancestor(good, bad)
    assert caught.value.problem == "'other' is not an ancestor of 'main'"
    assert caught.value.remedy == f"--good {base[:12]}, which is where the two part"
    with pytest.raises(HloscopeError, match="are the same commit"):
        require_ancestor(good, good)


def history(desk: Desk) -> list[str]:
    """good, good, broken, good, bad, bad."""
    return [
        desk.commit("add a note", note="1\n"),
        desk.commit("break it", train="import nonesuch_module\n"),
        desk.commit("mend it", train=PROGRAM),
        desk.commit("grow", size="SIZE = 96\n"),
        desk.commit("another note", note="2\n"),
    ]


@pytest.mark.compile
def test_the_first_bad_commit_is_found(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)
    first = desk.git("rev-parse", "HEAD")
    commits = history(desk)
    desk.write(size="SIZE = 999\n")
    before = desk.state()
    words = ("bisect", "pkg.train:step", "--good", first, "--bad", "main", "-t", "cpu:1")
    done = desk.run(*words, "--metric", "argument_bytes", "--over", "1%", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["first_bad"] == {
        "commit": commits[3],
        "subject": "grow",
        "standing": "bad",
        "value": 96 * 96 * 4,
    }
    assert found["last_good"]["commit"] == commits[2]
    assert found["suspects"] == [commits[3]]
    assert found["threshold"] == 64 * 64 * 4 * 1.01
    assert found["comparison"]["lhs"]["label"] == f"pkg.train:step@{commits[2][:12]}"
    assert desk.state() == before
    assert list(desk.temporary.iterdir()) == []
    # everything is kept: what would compile runs out of time
    shown = desk.run(*words, "--metric", "argument_bytes", "--timeout", "0.000001")
    assert shown.stdout.startswith(f"FIRST BAD COMMIT {commits[3][:12]}: grow\n")
    not_over = desk.run(*words, "--metric", "argument_bytes", "--over", "1MiB")
    assert not_over.stderr.startswith(
        "error: 'main' is not over: argument_bytes 16,384 -> 36,864, and over 1MiB is more than "
    )


@pytest.mark.compile
def test_commits_that_cannot_be_captured_are_suspects(desk: Desk) -> None:
    first = desk.git("rev-parse", "HEAD")
    broken = desk.commit("break it", train="import nonesuch_module\n")
    bad = desk.commit("mend and grow", train=PROGRAM, size="SIZE = 96\n")
    words = ("bisect", "pkg.train:step", "--good", first, "-t", "cpu:1")
    done = desk.run(*words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["suspects"] == [broken, bad]
    assert [tried["standing"] for tried in found["tried"]] == ["good", "bad", "skipped"]
    assert found["tried"][2]["value"]["missing"].startswith("importing 'pkg.train' raised")
    ends = desk.run("bisect", "pkg.train:step", "--good", broken, "-t", "cpu:1")
    assert ends.stderr.startswith("error: importing 'pkg.train' raised")
    assert f"pkg.train:step@{broken[:12]}" in ends.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("pkg.train:step@main", "--good", "main"), "'pkg.train:step@main' names a revision"),
        (("pkg.train:step", "--good", "nope"), "no revision 'nope'"),
        (("pkg.train:step", "--good", "main", "--metric", "speed"), "no metric 'speed'"),
        (("pkg.train:step", "--good", "main", "--over", "x"), "'x' is no threshold"),
        (("pkg.train:step", "--good", "main"), "'main' and 'HEAD' are the same commit"),
    ],
)
def test_what_bisect_refuses(shared: Desk, words: tuple[str, ...], problem: str) -> None:
    done = shared.run("bisect", *words, "-t", "cpu:1")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {problem}")


@pytest.mark.compile
def test_interrupted_in_the_middle(desk: Desk) -> None:
    first = desk.git("rev-parse", "HEAD")
    slow = PROGRAM.replace("def step(devices, n=SIZE):", "def step(devices, n=SIZE):\n    slow(0)")
    desk.commit("slow", train=slow)
    desk.commit("grow", train=PROGRAM, size="SIZE = 96\n")
    before = desk.state()
    reached = desk.temporary.parent / "reached"
    process = desk.start(
        "bisect", "pkg.train:step", "--good", first, "-t", "cpu:1", REACHED=str(reached)
    )
    while not reached.exists():
        assert process.poll() is None, process.communicate()
        os.sched_yield()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said.strip()) == (130, "interrupted")
    assert list(desk.temporary.iterdir()) == []
    assert desk.state() == before
