"""Programs that every ledger is tried on, and what each delta of costs has to hold."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hloscope.attribute.cost_totals import total_of
from hloscope.model.cost import CostDelta, Quantity

HERE = Path(__file__).parent
PROGRAMS = 24

RandomPrograms = list[Path]


@pytest.fixture(scope="session")
def random_programs(tmp_path_factory: pytest.TempPathFactory) -> RandomPrograms:
    """HloProtos of small random programs, compiled on cpu, some over two devices."""
    folder = tmp_path_factory.mktemp("random")
    subprocess.run(
        [sys.executable, str(HERE / "random_programs.py"), str(folder), str(PROGRAMS)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
    )  # fmt: skip
    return [folder / f"{number}.pb" for number in range(PROGRAMS)]


@pytest.fixture(scope="session")
def adds_up() -> Callable[[CostDelta], None]:
    """Fails unless entries and the named residual are the difference of the totals, exactly."""
    return _adds_up


def _adds_up(delta: CostDelta) -> None:
    lhs, rhs = delta.lhs.totals, delta.rhs.totals
    moved = (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN)
    assert (delta.flops.known + delta.uncompared.flops) == (
        rhs[Quantity.FLOPS].known - lhs[Quantity.FLOPS].known
    )
    assert (delta.transcendentals.known + delta.uncompared.transcendentals) == (
        rhs[Quantity.TRANSCENDENTALS].known - lhs[Quantity.TRANSCENDENTALS].known
    )
    assert (delta.bytes.known + delta.uncompared.bytes) == sum(
        rhs[q].known - lhs[q].known for q in moved
    )
    assert delta.flops == total_of(entry.flops for entry in delta.entries)
