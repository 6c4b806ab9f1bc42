"""The one error root: a problem, where it is, and what to do about it."""

from __future__ import annotations


class HloscopeError(Exception):
    """Trouble that the user can act on; the command line turns it into exit code 2.

    Args:
      problem: what is wrong, lower case, quoting the offending value.
      where: the file and place in it, or the argument, that the problem is about.
      remedy: what to do or to type next.
    """

    def __init__(
        self, problem: str, *, where: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(problem, where, remedy)
        self.problem = problem
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        lines = [self.problem]
        if self.where:
            lines.append(f"  at: {self.where}")
        if self.remedy:
            lines.append(f"  try: {self.remedy}")
        return "\n".join(lines)
