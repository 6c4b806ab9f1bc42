from __future__ import annotations

import pytest

from hloscope.capture.out_of_memory import out_of_memory
from hloscope.model.capture import OutOfMemory
from hloscope.model.units import Bytes, Measured, Missing

GIB = 2**30
NEW = (
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory "
    "required for HLO temporaries (35.30G) exceeds available HBM (15.75G). HLO module: jit_f."
)
OLD = (
    "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 35.30G of 15.75G hbm. "
    "Exceeded hbm capacity by 19.55G."
)
REPORT = "Memory Space: default (color=0)\nTotal bytes: 37900914688 (35.30GiB)\n"
OTHER_REPORT = REPORT.replace("37900914688", "37800914688")


@pytest.mark.parametrize("message", [NEW, OLD])
@pytest.mark.parametrize(
    ("report", "needed"),
    [(REPORT, 37900914688), ("", round(35.30 * GIB)), (OTHER_REPORT, round(35.30 * GIB))],
)
def test_both_wordings_give_both_figures_exact_where_the_report_agrees(
    message: str, report: str, needed: int
) -> None:
    assert out_of_memory(f"{message}\n", report) == OutOfMemory(
        needed=Measured(Bytes(needed)), available=Measured(Bytes(int(15.75 * GIB))), message=message
    )


def test_small_memories_have_their_own_units() -> None:
    found = out_of_memory("Used 17.00M of 16.00M vmem", "")
    assert (found.needed, found.available) == (Measured(17 * 2**20), Measured(16 * 2**20))
    assert out_of_memory("Used 300 of 200 smem", "").needed == Measured(300)


def test_another_wording_is_missing_and_kept() -> None:
    missing = Missing("the compiler's message does not say")
    assert out_of_memory("no room", REPORT) == OutOfMemory(
        needed=missing, available=missing, message="no room"
    )
