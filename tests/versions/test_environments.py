"""`--with PACKAGE`: another environment for one side, from a folder of wheels that is made here."""

from __future__ import annotations

import json
import threading
import zipfile
from pathlib import Path

import pytest
from user_repository import Desk, make_desk

from hloscope.capture import environments
from hloscope.capture.environments import Making, laid_over, make_environment
from hloscope.errors import HloscopeError

PROGRAM = """
import jax
import jax.numpy as jnp
import tinytool

import hloscope


def step(devices):
    x = jax.ShapeDtypeStruct((tinytool.SIZE, 64), jnp.float32)
    return hloscope.Program(function=lambda x: x @ x.T, args=(x,))
"""

# pip takes its time
TOOLS = pytest.mark.parametrize("tool", ["uv", pytest.param("pip", marks=pytest.mark.compile)])


def wheel(folder: Path, version: str, size: int, requires: str = "") -> None:
    """A wheel of the package tinytool."""
    folder.mkdir(exist_ok=True)
    info = f"tinytool-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: tinytool\nVersion: {version}\n{requires}"
    tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / f"tinytool-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("tinytool.py", f"SIZE = {size}\n")
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", tag)
        archive.writestr(f"{info}/RECORD", f"tinytool.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    wheel(folder, "1.0", 32)
    wheel(folder, "2.0", 48)
    wheel(folder, "3.0", 64, "Requires-Python: >=3.99\n")
    return folder


def offline(wheels: Path) -> dict[str, str]:
    """No index but a folder, for uv and for pip."""
    return {
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_NO_CONFIG": "1",
    }


@pytest.fixture
def making(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Making:
    for name, value in offline(wheels).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "temporary").mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return Making(
        folder=tmp_path / "environments", progress=lambda _: None, cancelled=threading.Event()
    )


def steps_of(making: Making, asked: str) -> list[str]:
    seen: list[str] = []
    watched = Making(folder=making.folder, progress=seen.append, cancelled=making.cancelled)
    make_environment((asked,), "cpu", watched)
    return seen


@TOOLS
def test_an_environment_is_made_once_and_holds_what_is_asked(
    making: Making, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    if tool == "pip":
        monkeypatch.setattr(environments, "_uv", lambda: None)
    elif environments._uv() is None:
        pytest.skip("no uv")
    made = make_environment(("tinytool==1.0",), "cpu", making)
    assert (made.asked, dict(made.packages)) == (("tinytool==1.0",), {"tinytool": "1.0"})
    assert (Path(made.site) / "tinytool.py").read_text() == "SIZE = 32\n"
    assert steps_of(making, "tinytool==1.0") == []
    # no version is said: the newest that this Python can have, found each time
    latest = make_environment(("tinytool",), "cpu", making)
    assert dict(latest.packages) == {"tinytool": "2.0"}
    assert steps_of(making, "tinytool") == ["environment", "resolve", "install"]
    assert len(list(making.folder.iterdir())) == 2


@TOOLS
@pytest.mark.parametrize(("asked", "said"), [("tinytool==9.9", "9.9"), ("tinytool==3.0", "3.99")])
def test_what_cannot_be_had(
    making: Making, monkeypatch: pytest.MonkeyPatch, tool: str, asked: str, said: str
) -> None:
    if tool == "pip":
        monkeypatch.setattr(environments, "_uv", lambda: None)
    elif environments._uv() is None:
        pytest.skip("no uv")
    with pytest.raises(HloscopeError) as caught:
        make_environment((asked,), "cpu", making)
    assert caught.value.problem.startswith(f"no environment with {asked}:\n")
    assert said in caught.value.problem
    assert not making.folder.exists() or list(making.folder.iterdir()) == []


def test_what_is_no_requirement(making: Making) -> None:
    with pytest.raises(HloscopeError, match=r"'jax=0\.11' is no requirement"):
        make_environment(("jax=0.11",), "cpu", making)


@pytest.mark.parametrize(
    ("asked", "platform", "texts"),
    [
        (["jax==0.11.2"], "tpu", ["jax[tpu]==0.11.2"]),
        (["jax==0.11.2"], "gpu", ["jax[cuda12-local]==0.11.2"]),
        (["jax==0.11.2"], "cpu", ["jax==0.11.2"]),
        (["jax==0.11.2", "libtpu==0.0.9"], "tpu", ["jax==0.11.2", "libtpu==0.0.9"]),
        (["flax==0.12.4"], "tpu", ["flax==0.12.4"]),
    ],
)
def test_jax_brings_the_compiler(asked: list[str], platform: str, texts: list[str]) -> None:
    requirements = [environments._parse(text) for text in asked]
    found = environments._with_compiler(requirements, platform)
    assert [str(each) for each in found] == texts


def test_packages_lie_over_those_of_this_environment() -> None:
    path = ("/mine", "/lib/python3.11", "/lib/python3.11/site-packages", "/more")
    over = laid_over(path, "/new", ("/lib/python3.11/site-packages",))
    assert over == (*path[:2], "/new", *path[2:])


@pytest.mark.compile
def test_a_side_by_other_packages(tmp_path: Path, wheels: Path) -> None:
    desk = make_desk(tmp_path / "desk")
    desk.commit("with a tool", train=PROGRAM)
    changes = offline(wheels)
    spec = "pkg.train:step"
    tools = ("--lhs-with", "tinytool==1.0", "--rhs-with", "tinytool==2.0")
    done = desk.run("diff", spec, f"{spec}@main", *tools, "-t", "cpu:1", "--json", **changes)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert [found[side]["memory"]["argument"] for side in ("lhs", "rhs")] == [8192, 12288]
    assert [found[side]["label"] for side in ("lhs", "rhs")] == [
        "pkg.train:step with tinytool==1.0",
        "pkg.train:step@main with tinytool==2.0",
    ]
    assert list(desk.temporary.iterdir()) == []
    missing = desk.run("capture", spec, "-t", "cpu:1", "--with", "tinytool==7", **changes)
    assert missing.returncode == 2
    assert missing.stderr.startswith("error: no environment with tinytool==7:\n")
    (desk.folder / "a.hlo").write_text("HloModule a")
    file = desk.run("show", "a.hlo", "--with", "tinytool==1.0", **changes)
    assert file.stderr.startswith("error: 'a.hlo' is a file, and is read as it is\n")
    cleared = json.loads(desk.run("cache", "clear", "--json").stdout)
    assert (cleared["captures"], cleared["environments"]) == (2, 2)
    assert json.loads(desk.run("cache", "clear", "--json").stdout)["environments"] == 0


@pytest.mark.compile
def test_blame_adds_up(tmp_path: Path, wheels: Path) -> None:
    desk = make_desk(tmp_path / "desk")
    desk.commit("old", train=PROGRAM)
    desk.write(train=PROGRAM.replace("(tinytool.SIZE, 64)", "(tinytool.SIZE, tinytool.SIZE * 2)"))
    tools = ("--lhs-with", "tinytool==1.0", "--rhs-with", "tinytool==2.0")
    sides = ("pkg.train:step@main", "pkg.train:step")
    done = desk.run("blame", *sides, *tools, "-t", "cpu:1", "--json", **offline(wheels))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    shares = {share["metric"]: share for share in found["shares"]}
    arguments = shares["argument_bytes"]
    assert {name: arguments[name] for name in ("lhs", "rhs", "code", "tools", "both")} == {
        "lhs": 32 * 64 * 4,
        "rhs": 48 * 96 * 4,
        "code": 0,
        "tools": (48 - 32) * 64 * 4,
        "both": 48 * (96 - 64) * 4,
    }
    for share in shares.values():
        assert share["code"] + share["tools"] + share["both"] == share["delta"]
    shown = desk.run("blame", *sides, *tools, "-t", "cpu:1", **offline(wheels))
    assert "WHOSE IT IS" in shown.stdout
    same = desk.run("blame", *sides, "-t", "cpu:1")
    assert same.stderr.startswith("error: both sides have the same tools\n")


@pytest.mark.compile
def test_blame_says_what_does_not_compile(tmp_path: Path, wheels: Path) -> None:
    desk = make_desk(tmp_path / "desk")
    desk.commit("old", train="import tinytool\nassert tinytool.SIZE == 32\n" + PROGRAM)
    desk.write(train=PROGRAM)
    tools = ("--lhs-with", "tinytool==1.0", "--rhs-with", "tinytool==2.0")
    sides = ("pkg.train:step@main", "pkg.train:step")
    done = desk.run("blame", *sides, *tools, "-t", "cpu:1", "--json", **offline(wheels))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    (arguments,) = (s for s in found["shares"] if s["metric"] == "argument_bytes")
    missing = {"missing": "old code does not compile by new tools"}
    assert arguments == {
        "metric": "argument_bytes",
        "lhs": 32 * 64 * 4,
        "rhs": 48 * 64 * 4,
        "delta": 16 * 64 * 4,
        "code": 0,
        "tools": missing,
        "both": missing,
    }
    assert found["notes"][0].startswith("old code by new tools: importing 'pkg.train' raised")


@pytest.mark.compile
def test_another_jax_where_an_index_is_reachable(desk: Desk) -> None:
    done = desk.run(
        "capture", "pkg.train:step", "-t", "cpu:1", "-o", "a.hloscope", "--json",
        "--with", "jax==0.10.1",
    )  # fmt: skip
    if done.returncode == 2 and "no environment with jax==0.10.1" in done.stderr:
        pytest.skip(f"no package index: {done.stderr.splitlines()[1].strip()}")
    assert (done.returncode, done.stderr) == (0, "")
    versions = json.loads(done.stdout)["provenance"]["versions"]
    assert (versions["jax"], versions["jaxlib"]) == ("0.10.1", "0.10.1")
