"""A small project with a gate: does every fault fail it by its name, and every harmless edit pass?

Usage: python benchmarks/gate_faults.py [--target cpu:8] [--runs 20] [--only WORDS]

Each fault and each harmless edit (`gate_edits.py`) is made alone in a fresh copy of the project
(`gate_project.py`), whose baseline was written before. A fault counts as found when the gate ends
with 1 and the first finding that its first line names is of the expected kind; a harmless edit
passes when it ends with 0. Then the unedited project is judged `--runs` times, compiled anew each
time. Prints a table; ends with 1 where anything failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.gate_edits import FAULTS, HARMLESS
from benchmarks.gate_project import Edit, Project

_SHOWN = 200  # characters of a first line


def main() -> int:
    """Prints the table; 1 where anything was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="cpu:8")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", default="", help="edits whose names have these words")
    given = parser.parse_args()
    platform = given.target.partition(":")[0]
    edits = [e for e in FAULTS + HARMLESS if platform in e.platforms and given.only in e.name]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = Project(folder / "base", folder / "cache")
        project.write(given.target)
        code, said = project.gate("--update")
        assert code == 0, said
        wrong = sum(not _tried(project, folder / f"e{n}", e) for n, e in enumerate(edits))
        codes = [project.gate("--no-cache")[0] for _ in range(given.runs)]
    faults = sum(bool(each.codes) for each in edits)
    passed = f"{codes.count(0)} of {given.runs} runs of the unedited project passed"
    print(f"{passed}, each compiled anew")
    print(f"{faults} faults, {len(edits) - faults} harmless edits: {wrong} judged wrongly")
    print(f"{time.monotonic() - begun:.0f} s on {given.target}")
    return int(bool(wrong or codes.count(0) != given.runs))


def _tried(project: Project, folder: Path, made: Edit) -> bool:
    """Makes one edit in a copy and prints its row; whether the gate judged it well."""
    copy = project.copy(folder)
    copy.change(made)
    code, said = copy.gate()
    good = made.is_judged_well(code, said)
    kind = "fault" if made.codes else "harmless"
    row = f"{'ok   ' if good else 'WRONG'} {kind:<9}{made.name:<42}{code}  {said[:_SHOWN]}"
    print(row, flush=True)
    shutil.rmtree(folder)
    return good


if __name__ == "__main__":
    sys.exit(main())
