"""The pytest plugin: programs held to be the same, within budgets, without known faults.

It is loaded by pytest in every project where hloscope is installed, so nothing is imported here
before the fixture is used.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from hloscope.model.comparison import Comparison
    from hloscope.model.source import Source
    from hloscope.store import Baselines

UPDATE = "--hloscope-update"
FOLDER = "hloscope_baselines"
TARGET = "hloscope_target"
SCREEN = 40  # lines of a diff that a failure shows


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--hloscope-update` and two settings."""
    group = parser.getgroup("hloscope")
    group.addoption(UPDATE, action="store_true", help="rewrite the baselines of assert_within")
    parser.addini(FOLDER, "where baselines are kept (default: baselines)", default="baselines")
    parser.addini(TARGET, "what programs are captured for (default: cpu:1)", default="cpu:1")


@pytest.fixture
def hloscope(request: pytest.FixtureRequest) -> Hloscope:
    """Captures and compares programs; see `Hloscope`."""
    config = request.config
    folder = config.getini(FOLDER)
    root = folder if "://" in folder else str(config.rootpath / folder)
    return Hloscope(root=root, target=config.getini(TARGET), update=bool(config.getoption(UPDATE)))


class Hloscope:
    """What a test asks of programs. A side is anything that `hloscope.open` takes."""

    def __init__(self, *, root: str, target: str, update: bool) -> None:
        self._root = root
        self._target = target
        self._update = update
        self._compared: list[Comparison] = []
        self._equal = False  # a program was its baseline's: there was nothing to compare

    def capture(
        self, program: object, *args: object, target: str | None = None, **options: Any
    ) -> Source:
        """Captures a function called with `args`, a `Program`, or what a spec names.

        Args:
          program: the function, `Program` or spec.
          args: the function's arguments.
          target: what to compile for, the setting `hloscope_target` by default.
          options: `jit_options`, `kwargs` and `name` of a function; others as of
            `hloscope.capture`.

        Raises:
          HloscopeError: it cannot be captured.
        """
        import hloscope as package
        from hloscope.store import user_cache

        wanted = target or self._target
        if isinstance(program, str):
            return package.open(program, target=wanted, **options)
        options.setdefault("cache", user_cache())
        return package.open(
            package.capture(program, *args, target=wanted, **options)  # type: ignore[arg-type]
        )

    def assert_same_graph(self, lhs: Any, rhs: Any, *, strict: bool = False) -> None:
        """Fails unless the optimized modules are equal, but for names, order and metadata.

        Args:
          lhs: the baseline.
          rhs: the candidate.
          strict: whether layouts and schedule have to be equal too.
        """
        from hloscope.model.changes import Verdict

        found = self._compare(lhs, rhs)
        allowed = {Verdict.IDENTICAL, Verdict.SAME_GRAPH}
        if not strict:
            allowed.add(Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT)
        if found.changes.verdict not in allowed:
            _fail("the graphs differ", found)

    def assert_within(self, baseline: str, side: Any, **budgets: str | float) -> None:
        """Fails where a metric is worse than its baseline by more than its budget.

        Args:
          baseline: its name; `--hloscope-update` writes it.
          side: what is judged; it has to be a capture.
          budgets: metric to allowance (`hbm_total="1%"`, `flops=0`), by default 1 % of each of
            those that a gate judges.
        """
        from hloscope.gate import judge
        from hloscope.model.gate import Status
        from hloscope.pipeline.gating import remember
        from hloscope.report.gate import headline, said_in_full

        source = self._open(side)
        now = remember(source)
        store = self._store()
        if self._update:
            assert source.capture is not None  # noqa: S101 - `remember` has seen to it
            store.write(baseline, now, source.capture)
            self._equal = True
            return
        gated = _gated(baseline, now.target, budgets)
        before = store.read(baseline, now.target)
        comparison = None
        if before.same_program(now):
            self._equal = True
        else:
            comparison = self._compare(store.read_module(baseline, now.target), source)
        judged = judge(gated, before, now, comparison)
        failed = [c for c in judged.checks if c.status in (Status.REGRESSED, Status.UNDECIDED)]
        if failed:
            command = f"hloscope gate --update {baseline}"
            text = "\n".join([headline(judged), *map(said_in_full, failed)])
            _fail(text.replace(command, f"pytest {UPDATE}"), comparison)

    def assert_no_finding(self, *patterns: str, lhs: Any = None, rhs: Any = None) -> None:
        """Fails where an analyzer names a fault whose code fits a pattern (`DON*`).

        Args:
          patterns: of codes; all of them for none.
          lhs: the baseline; without sides, everything that this test has compared counts.
          rhs: the candidate.
        """
        from fnmatch import fnmatchcase

        from hloscope.model.finding import Direction

        compared = [self._compare(lhs, rhs)] if lhs is not None else self._compared
        if not compared and not self._equal:
            pytest.fail("nothing has been compared: give lhs and rhs", pytrace=False)
        for comparison in compared:
            explanation = comparison.explanation
            for crash in explanation.crashes:
                _fail(f"analyzer '{crash.analyzer}' failed: {crash.message}", None)
            for finding in explanation.findings:
                wanted = any(fnmatchcase(finding.code, p) for p in patterns or ("*",))
                if wanted and finding.direction is not Direction.BETTER:
                    _fail(f"{finding.code}: {finding.title}", comparison)

    def _open(self, side: Any) -> Source:
        import hloscope as package

        return package.open(side, target=self._target)

    def _compare(self, lhs: Any, rhs: Any) -> Comparison:
        import hloscope as package

        found = package.compare(lhs, rhs, target=self._target)
        self._compared.append(found)
        return found

    def _store(self) -> Baselines:
        from hloscope.store import Baselines

        return Baselines(root=self._root)


def _gated(name: str, target: str, budgets: Mapping[str, str | float]) -> Any:
    from hloscope.gate.policy import budgets_of
    from hloscope.model.gate import Gated, GraphBudget

    named = {key.replace("_", "-"): value for key, value in budgets.items()}
    return Gated(
        name=name,
        program=name,
        target=target,
        budgets=budgets_of(named, "assert_within"),
        graph=GraphBudget.ANY,
    )


def _fail(problem: str, comparison: Comparison | None) -> NoReturn:
    shown = f"\n\n{_first_screen(comparison)}" if comparison is not None else ""
    pytest.fail(f"{problem}{shown}", pytrace=False)


def _first_screen(comparison: Comparison) -> str:
    from rich.console import Console

    from hloscope.report.comparison import comparison_document
    from hloscope.report.terminal import render

    text = io.StringIO()
    render(comparison_document(comparison), Console(file=text, width=80))
    return "\n".join(text.getvalue().splitlines()[:SCREEN])
