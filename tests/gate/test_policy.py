"""What a gate's configuration may say, and how it refuses the rest."""

from __future__ import annotations

import datetime

import pytest

from hloscope.errors import HloscopeError
from hloscope.gate import read_policy
from hloscope.gate.policy import DEFAULT_BUDGETS
from hloscope.model.gate import Allowance, Direction, Gated, GraphBudget, Policy, Waiver

FULL = """
baselines = "gs://bucket/baselines"
series = true
target = "cpu:8"
graph = "same-up-to-schedule"
forbid = ["DON001"]

[budgets]
hbm-total = "2%"
flops = false
"sent.fsdp" = "1.5 MiB"

[programs.train]
program = "pkg.train:step?layers=4"
targets = ["cpu:8", "tpu:v5e:2x2"]
forbid = ["SHARD*"]
xla_flags = { xla_a = true, xla_b = 3 }
budgets.instructions = { absolute = 10, relative = "5%", worse = "lower" }

[programs.decode]
program = "pkg.serve:decode"
graph = "any"

[[waivers]]
program = "train"
check = "hbm-total"
reason = "new attention, next release mends it"
expires = 2030-01-31
"""


def test_everything_that_can_be_said() -> None:
    budgets = {
        **{k: v for k, v in DEFAULT_BUDGETS.items() if k != "flops"},
        "hbm-total": Allowance(0, 0.02),
        "sent.fsdp": Allowance(1.5 * (1 << 20)),
    }
    own = {**budgets, "instructions": Allowance(10, 0.05, Direction.LOWER_IS_WORSE)}
    train = [
        Gated(
            name="train",
            program="pkg.train:step?layers=4",
            target=target,
            budgets=own,
            graph=GraphBudget.SAME_UP_TO_SCHEDULE,
            forbid=("DON001", "SHARD*"),
            xla_flags={"xla_a": "true", "xla_b": "3"},
        )
        for target in ("cpu:8", "tpu:v5e:2x2")
    ]
    decode = Gated(
        name="decode",
        program="pkg.serve:decode",
        target="cpu:8",
        budgets=budgets,
        graph=GraphBudget.ANY,
        forbid=("DON001",),
    )
    waiver = Waiver(
        program="train",
        check="hbm-total",
        reason="new attention, next release mends it",
        expires=datetime.date(2030, 1, 31),
    )
    assert read_policy(FULL, "hloscope.toml") == Policy(
        file="hloscope.toml",
        baselines="gs://bucket/baselines",
        series=True,
        programs=(*train, decode),
        waivers=(waiver,),
    )


def test_pyproject_has_its_own_table() -> None:
    text = '[project]\nname = "x"\n[tool.ruff]\n[tool.hloscope]\ntarget = "cpu:1"\n'
    text += '[tool.hloscope.programs.p]\nprogram = "a.b:c"\n'
    (gated,) = read_policy(text, "some/pyproject.toml").programs
    assert (gated.name, gated.program, gated.target) == ("p", "a.b:c", "cpu:1")
    assert gated.budgets == DEFAULT_BUDGETS


PROGRAM = '[programs.p]\nprogram = "a.b:c"\ntarget = "cpu:1"\n'


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        ("a = [", "f.toml", "not TOML"),
        ("", "f.toml", "no program is gated"),
        ("programs = 3", "f.toml: programs", "'3' is no table"),
        ("colour = 1\n" + PROGRAM, "f.toml", "unknown key 'colour'"),
        ("series = 1\n" + PROGRAM, "f.toml: series", "'1' is no boolean"),
        ("[programs.p]\ntarget = 'cpu:1'", "f.toml: programs.p", "'program' is missing"),
        ("[programs.p]\nprogram = 'a.b:c'", "f.toml: programs.p", "no target"),
        (PROGRAM + "graph = 'same'", "f.toml: programs.p.graph", "unknown graph 'same'"),
        (PROGRAM + "forbid = [1]", "f.toml: programs.p.forbid", "[1] is not a list of strings"),
        (
            PROGRAM + "budgets.speed = '1%'",
            "f.toml: programs.p.budgets.speed",
            "unknown metric 'speed'",
        ),
        (
            PROGRAM + "budgets.flops = '1 furlong'",
            "f.toml: programs.p.budgets.flops",
            "'1 furlong' is no allowance",
        ),
        (
            PROGRAM + "budgets.flops = -1",
            "f.toml: programs.p.budgets.flops",
            "'-1' is no allowance",
        ),
        (
            PROGRAM + "budgets.flops = {absolut = 1}",
            "f.toml: programs.p.budgets.flops",
            "unknown key 'absolut'",
        ),
        (
            PROGRAM + "budgets.flops = {worse = 'up'}",
            "f.toml: programs.p.budgets.flops.worse",
            "unknown worse 'up'",
        ),
        (
            PROGRAM + "[[waivers]]\nprogram='p'\ncheck='flops'\nreason=' '\nexpires=2030-01-01",
            "f.toml: waivers[0].reason",
            "the reason is empty",
        ),
        (
            PROGRAM + "[[waivers]]\nprogram='p'\ncheck='flops'\nreason='x'\nexpires='soon'",
            "f.toml: waivers[0].expires",
            "'soon' is no date",
        ),
        (
            PROGRAM + "[[waivers]]\nprogram='p'\ncheck='flops'\nreason='x'",
            "f.toml: waivers[0]",
            "'expires' is missing",
        ),
    ],
)
def test_what_is_not_understood_is_refused(text: str, where: str, problem: str) -> None:
    with pytest.raises(HloscopeError) as refused:
        read_policy(text, "f.toml")
    assert refused.value.where == where
    assert refused.value.problem.startswith(problem)
