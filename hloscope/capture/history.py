"""The commits between two revisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hloscope.capture.revisions import Revision, git
from hloscope.errors import HloscopeError


def require_ancestor(good: Revision, bad: Revision) -> None:
    """Refuses a good revision that is not before the bad one.

    Raises:
      HloscopeError: it is not.
    """
    root = good.repository.root
    if good.commit == bad.commit:
        raise HloscopeError(
            f"'{good.name}' and '{bad.name}' are the same commit", where="--good and --bad"
        )
    if git(root, "merge-base", "--is-ancestor", good.commit, bad.commit) is None:
        base = git(root, "merge-base", good.commit, bad.commit)
        raise HloscopeError(
            f"'{good.name}' is not an ancestor of '{bad.name}'",
            where="--good and --bad",
            remedy=f"--good {base[:12]}, which is where the two part" if base else None,
        )


def candidates(
    root: Path, bad: str, goods: Sequence[str], *, first_parent: bool
) -> tuple[str, ...]:
    """Commits that the first bad one may be, `bad` among them, the best to look at first.

    `git rev-list --bisect-all`, which halves the history as git bisect does and touches nothing.
    """
    options = ("--first-parent",) if first_parent else ()
    told = git(root, "rev-list", "--bisect-all", *options, bad, "--not", *goods)
    return tuple(line.split()[0] for line in (told or "").splitlines())


def subject(root: Path, commit: str) -> str:
    """The first line of a commit's message."""
    return git(root, "show", "--no-patch", "--format=%s", commit) or ""


def nearest(root: Path, commit: str, before: Sequence[str]) -> str:
    """The one of some ancestors that has the fewest commits between itself and `commit`."""
    return min(
        before, key=lambda each: int(git(root, "rev-list", "--count", f"{each}..{commit}") or 0)
    )
