"""`hloscope gate` in a small project, through every way to end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from fsspec.implementations.memory import MemoryFileSystem

from hloscope.cli import cli
from hloscope.errors import HloscopeError

CONFIG = """
target = "cpu:1"
forbid = ["DON*"]

[programs.step]
program = "train_{name}:step"
"""

PROGRAM = """
import jax
import jax.numpy as jnp
from hloscope import Program

DONATE = (0,)

def loss(w, x):
    for k in range(4):
        x = jnp.tanh(x @ w[k])
    return x.sum()

def train_step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)

def step(devices):
    w = jax.ShapeDtypeStruct((4, 256, 256), jnp.float32)
    x = jax.ShapeDtypeStruct((8, 256), jnp.float32)
    return Program(function=train_step, args=(w, x), jit_options={"donate_argnums": DONATE})
"""


class Project:
    """A user's project; its module's name is its own, so that no import is remembered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / f"train_{folder.name}.py"
        self.record = folder / "baselines" / "step" / "cpu-1" / "baseline.json"

    def run(self, *arguments: str) -> tuple[int, str]:
        """Exit code and what was printed; an error counts as the 2 that `main` makes of it."""
        result = CliRunner().invoke(cli, ["gate", *arguments], standalone_mode=False)
        if isinstance(result.exception, HloscopeError):
            return 2, str(result.exception)
        if result.exception is not None:
            raise result.exception
        return result.return_value, result.output


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a baseline, to be copied."""
    folder = tmp_path_factory.mktemp("judged")
    project = Project(folder)
    (folder / "hloscope.toml").write_text(CONFIG.format(name=folder.name))
    project.program.write_text(PROGRAM)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        code, text = project.run("--update")
    assert (code, text.splitlines()[0]) == (0, "PASSED: 1 program")
    return folder


@pytest.fixture
def project(judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    copy = tmp_path / judged.name
    shutil.copytree(judged, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    return Project(copy)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


pytestmark = pytest.mark.compile


def test_the_same_program_passes_under_other_names(project: Project) -> None:
    _edit(project.program, "train_step", "renamed")
    code, text = project.run()
    assert (code, text.splitlines()[0]) == (0, "PASSED: 1 program")


def test_a_regression_names_its_cause_first(project: Project) -> None:
    _edit(project.program, "DONATE = (0,)", "DONATE = ()")
    outputs = [f"{name}={name}.out" for name in ("junit", "sarif", "annotations", "json")]
    code, text = project.run(*(f"--write={output}" for output in outputs))
    assert code == 1
    assert text.startswith("REGRESSED step on cpu:1: rhs does not donate w")
    case = ET.parse("junit.out").getroot()[0]  # noqa: S314 - our own file
    assert case.attrib["classname"] == "step"
    assert [child.tag for child in case] == ["failure"]
    assert "DON001" in case[0].attrib["message"]
    (run,) = json.loads(Path("sarif.out").read_text())["runs"]
    assert {"DON001", "hbm-total"} <= {result["ruleId"] for result in run["results"]}
    assert Path("annotations.out").read_text().startswith("::error ")
    found = json.loads(Path("json.out").read_text())
    assert (found["exit_code"], found["programs"][0]["status"]) == (1, "regressed")


def test_updating_twice_writes_once(project: Project) -> None:
    before = {path: path.read_bytes() for path in project.record.parent.iterdir()}
    code, text = project.run("--update")
    assert code == 0
    assert "unchanged" in text
    assert {path: path.read_bytes() for path in project.record.parent.iterdir()} == before


def test_no_configuration(project: Project) -> None:
    Path("hloscope.toml").unlink()
    code, text = project.run()
    assert code == 2
    assert text.startswith("no gate is configured in ")


def test_an_unknown_name(project: Project) -> None:
    code, text = project.run("stop")
    assert (code, text.splitlines()[0]) == (2, "no program 'stop'")


def test_no_baseline(project: Project) -> None:
    project.record.unlink()
    code, text = project.run()
    assert code == 2
    assert _flat(text).startswith("CANNOT DECIDE step on cpu:1: baseline: ")
    assert "hloscope gate --update step" in _flat(text)


def test_a_damaged_baseline(project: Project) -> None:
    _edit(project.record, '"schema": 1', '"schema": "one"')
    code, text = project.run()
    assert code == 2
    assert "the baseline is damaged" in _flat(text)


def test_a_baseline_without_its_module(project: Project) -> None:
    (project.record.parent / "module.hloscope").unlink()
    _edit(project.program, "DONATE = (0,)", "DONATE = ()")
    code, text = project.run()
    assert code == 2
    assert "the baseline has no module" in _flat(text)


def test_a_program_that_does_not_import(project: Project) -> None:
    _edit(project.program, "import jax\n", "import no_such_module\n")
    code, text = project.run()
    assert code == 2
    assert _flat(text).startswith("CANNOT DECIDE step on cpu:1: capture: ")
    assert "no_such_module" in text


@pytest.mark.parametrize(
    ("breaking", "options", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", [], "killed"),
        ("os._exit(3)", [], "ended with code 3"),
        ("time.sleep(600)", ["--timeout", "4"], "4 s"),
        ("raise MemoryError", [], "MemoryError"),
    ],
    ids=["out of memory", "gone", "timeout", "raises"],
)
def test_a_capture_that_is_ended(
    project: Project, breaking: str, options: list[str], said: str
) -> None:
    """The kernel ends a process that has taken all memory as SIGKILL does."""
    _edit(project.program, "def step(devices):", f"def step(devices):\n    {breaking}")
    _edit(project.program, "import jax\n", "import os, signal, time\nimport jax\n")
    code, text = project.run(*options)
    assert code == 2
    assert _flat(text).startswith("CANNOT DECIDE step on cpu:1: capture: ")
    assert said in _flat(text)
    assert "Try: " in _flat(text)
    assert "Traceback" not in text
    # nor does an update write half of anything
    before = {path: path.read_bytes() for path in project.record.parent.iterdir()}
    code, text = project.run("--update", *options)
    assert code == 2
    assert {path: path.read_bytes() for path in project.record.parent.iterdir()} == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (":step", ":steps", "has no 'steps'"),
        (":step", "x:step", "no module"),
        (":step", ":step?n=3", "n"),
        ("cpu:1", "cpu:0", "cpu:0"),
        ("cpu:1", "tpu:v9:2x2", "v9"),
        ("step]", "step]\nxla_flags.xla_no_such_flag = 1", "xla_no_such_flag"),
        ('"train', '"here.txt#', "here.txt"),
    ],
    ids=["factory", "module", "option", "target", "chip", "flag", "file"],
)
def test_a_program_that_cannot_be_captured(project: Project, old: str, new: str, said: str) -> None:
    _edit(Path("hloscope.toml"), old, new)
    for record in Path("baselines/step").iterdir():  # another target has one of its own
        shutil.copytree(record, f"baselines/step/{'tpu-v9-2x2' if 'v9' in new else 'cpu-0'}")
    code, text = project.run()
    assert code == 2
    assert _flat(text).startswith("CANNOT DECIDE step on ")
    assert said in _flat(text)
    assert "Try: " in _flat(text)
    assert "Traceback" not in text


def test_a_side_that_is_no_capture(project: Project) -> None:
    Path("a.hlo").write_text("HloModule m\n\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n")
    _edit(Path("hloscope.toml"), f"train_{project.folder.name}:step", "a.hlo")
    code, text = project.run()
    assert code == 2
    assert "'a.hlo' is no capture" in _flat(text)


@pytest.mark.parametrize(
    ("breaking", "said"),
    [
        (lambda module: module.write_bytes(b"no zip"), "the baseline's module is no capture"),
        (lambda module: module.write_bytes(module.read_bytes()[:999]), "the baseline's module: "),
        (lambda module: (module.unlink(), module.mkdir()), "is a directory"),
    ],
    ids=["no zip", "cut off", "folder"],
)
def test_a_baseline_whose_module_is_damaged(
    project: Project, breaking: Callable[[Path], object], said: str
) -> None:
    breaking(project.record.parent / "module.hloscope")
    _edit(project.program, "DONATE = (0,)", "DONATE = ()")
    code, text = project.run()
    assert code == 2
    assert said in _flat(text)
    assert "restore it" in _flat(text) or "make it readable" in _flat(text)


@pytest.mark.parametrize(
    ("breaking", "said"),
    [
        (lambda record: _edit(record, '"schema": 1', '"schema": 99'), "baseline of schema 99"),
        (lambda record: record.write_bytes(b"\xff\xfe"), "the baseline is damaged"),
        (lambda record: record.write_text("[" * 100_000), "the baseline is damaged"),
        (lambda record: (record.unlink(), record.mkdir()), "is a directory"),
    ],
    ids=["newer", "bytes", "deep", "folder"],
)
def test_a_baseline_that_cannot_be_read(
    project: Project, breaking: Callable[[Path], object], said: str
) -> None:
    breaking(project.record)
    code, text = project.run()
    assert code == 2
    assert said in _flat(text)


def test_an_analyzer_that_fails(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("lost")

    monkeypatch.setattr("analyzers.donation.Donation.analyze", fail)
    _edit(project.program, "for k in range(4)", "for k in range(3)")
    code, text = project.run()
    assert code == 2
    assert "analyzer 'donation' failed: " in _flat(text)


def test_baselines_that_cannot_be_written(project: Project) -> None:
    Path("elsewhere").write_text("")
    _edit(Path("hloscope.toml"), 'target = "cpu:1"', 'target = "cpu:1"\nbaselines = "elsewhere"')
    code, text = project.run("--update")
    assert code == 2
    assert "cannot make folder 'elsewhere/step/cpu-1'" in text


def test_baselines_behind_a_url(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"memory://{project.folder.name}/baselines"
    _edit(Path("hloscope.toml"), 'target = "cpu:1"', f'target = "cpu:1"\nbaselines = "{url}"')
    code, text = project.run()
    assert code == 2
    assert f"{url}/step/cpu-1/baseline.json: no baseline" in _flat(text)
    assert project.run("--update")[0] == 0
    assert project.run()[0] == 0
    _edit(project.program, "DONATE = (0,)", "DONATE = ()")
    code, text = project.run()
    assert code == 1
    assert text.startswith("REGRESSED step on cpu:1: rhs does not donate w")

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no access")

    for method, arguments in (("cat_file", ()), ("pipe_file", ("--update",))):
        with monkeypatch.context() as patch:
            patch.setattr(MemoryFileSystem, method, refuse)
            code, text = project.run(*arguments)
        assert code == 2
        assert f"cannot reach '{url}/step/cpu-1/" in _flat(text)
        assert "RuntimeError: no access" in _flat(text)
        assert "check address and network" in _flat(text)


def test_another_environment(project: Project) -> None:
    found = json.loads(project.record.read_text())
    found["environment"]["jax config jax_enable_x64"] = "True"
    project.record.write_text(json.dumps(found))
    code, text = project.run()
    assert code == 2
    said = _flat(text)
    assert "the baseline is of another environment: jax config jax_enable_x64 True" in said


def test_a_metric_that_the_baseline_lacks(project: Project) -> None:
    found = json.loads(project.record.read_text())
    del found["figures"]["flops"]
    project.record.write_text(json.dumps(found))
    code, text = project.run()
    assert code == 2
    assert "flops: the baseline does not have it" in _flat(text)


def test_an_expired_waiver_waives_nothing(project: Project) -> None:
    _edit(project.program, "DONATE = (0,)", "DONATE = ()")
    waiver = '\n[[waivers]]\nprogram="step"\ncheck="{}"\nreason="known"\nexpires={}\n'
    with Path("hloscope.toml").open("a") as config:
        config.write(waiver.format("hbm-total", "2020-01-01"))
        config.write(waiver.format("DON001", "2999-01-01"))
    code, text = project.run()
    assert code == 1
    said = _flat(text)
    assert "the waiver of 'hbm-total' for 'step' expired on 2020-01-01: known" in said
    assert "waived until 2999-01-01: known" in said
