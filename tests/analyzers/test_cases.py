"""Every pair with a known difference: the first finding is of its kind."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cases_folder import SHARED
from pairs import Pair, marked

import hloscope
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Metric
from hloscope.model.units import Measured

Compare = Callable[[Pair], Comparison]

# which codes are of the kind that a case stands for, by the words that its file names the kind with
KINDS = (
    (r"donation missing", {"DON001"}),
    (r"scan stacks read-only parameters", {"LOOP001", "LOOP002"}),
    (r"unexpected all-gather", {"SHARD001", "COLL001"}),
    (r"saves stacked residuals", {"REM001", "LOOP003"}),
    (r"dtype promotion", {"PRE001"}),
    (r"f32 master weights", {"PRE002"}),
    (r"^no regression", set[str]()),
    (r"loop carry copied", {"LOOP004"}),
    (r"unrolled instead of scanned", {"LOOP006"}),
    (r"tile padding", {"PAD001"}),
    (r"KV cache grown", {"KV001"}),
    (r"vmap of dynamic_update_slice", {"DUS001"}),
    (r"compile-time OOM", {"OOM001"}),
    (r"gathered all at once", {"SHARD005"}),
    (r"full-vocabulary logits", {"LOG001"}),
    (r"extra pass-through arguments", {"INP001"}),
    (r"Linen nn.scan\+remat decoder vs the same", {"PRE001", "LOOP002", "LOOP004"}),
    (r"dropped remat", {"REM001"}),
    (r"collective dtype", {"COLL005"}),
)


def said(path: Path, name: str) -> str:
    found = re.search(rf'^{name}="([^"]*)"|; *{name}="([^"]*)"', path.read_text(), re.MULTILINE)
    assert found, path
    return found[1] or found[2]


def case(path: Path) -> Pair:
    target = "cpu:8" if said(path, "TARGET") == "cpu" else "tpu:v5e:2x2"
    spec = f"shared_cases:build?case={path.stem}&side="
    return Pair(path.stem, f"{spec}a", f"{spec}b", target)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Compares a case: captured one by one, which stops before code is generated."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "programs"))
    return lambda pair: hloscope.compare(pair.lhs, pair.rhs, target=pair.target, cache=False)


CASES = marked(*map(case, sorted((SHARED / "cases").glob("[0-9]*.py"))))


@pytest.mark.parametrize("pair", CASES)
def test_first_finding_is_of_the_kind(pair: Pair, compiled: Compare, cases: Path) -> None:
    kind = said(cases / f"{pair.name}.py", "KIND")
    codes = next(codes for words, codes in KINDS if re.search(words, kind))
    comparison = compiled(pair)
    explanation = comparison.explanation
    sys.stdout.write(f"\n{row(comparison, pair.name)}\n")
    assert explanation.crashes == ()
    found = [finding.code for finding in explanation.findings]
    assert found[:1] == [] if not codes else found[0] in codes


def row(comparison: Comparison, name: str) -> str:
    """case, first finding, bytes claimed, gap."""
    first = next(iter(comparison.explanation.findings), None)
    account = comparison.explanation.accounts[Metric.BYTES]
    gap = account.value.gap if isinstance(account, Measured) else None
    claimed = first.claim.known(Metric.BYTES) if first else 0
    text = f"{first.code} {first.title}" if first else "none"
    return f"{name} | {text} | {claimed:+,.0f} | {'unknown' if gap is None else f'{gap:+,.0f}'}"
