"""Where the code of a program comes from, and the tools that compile it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hloscope.capture.environments import Environment, laid_over
from hloscope.capture.messages import Checkout, Request
from hloscope.capture.revisions import Revision, package_folders, revision_path
from hloscope.capture.scrub import source_prefixes, this_identity
from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a capture's program and tools are.

    Attributes:
      revision: the program's; `None` for the files as they are.
      environment: the tools; `None` for those of this process.
    """

    revision: Revision | None = None
    environment: Environment | None = None

    @property
    def python(self) -> str:
        """The interpreter of the compiler process."""
        return sys.executable if self.environment is None else self.environment.python

    @property
    def packages(self) -> Mapping[str, str]:
        """Versions of the packages that this process does not have in the same way."""
        return {} if self.environment is None else self.environment.packages

    def place(self, request: Request, folder: Path) -> Request:
        """The request of a capture whose temporary folder is `folder`."""
        path, checkout = request.path, None
        if self.revision is not None:
            path = revision_path(self.revision.repository, _tree(folder), path)
            checkout = _checkout(self.revision, _tree(folder))
        if self.environment is not None:
            path = laid_over(path, self.environment.site, package_folders())
        prefixes = source_prefixes(path, this_identity(os.environ))
        return replace(request, path=path, source_prefixes=prefixes, checkout=checkout)

    def finish(self, capture: Capture) -> Capture:
        """The capture with what it has to say of its tools."""
        if self.environment is None or not self.environment.conflicts:
            return capture
        said = (*capture.provenance.warnings, *self.environment.conflicts)
        provenance = replace(capture.provenance, warnings=tuple(dict.fromkeys(said)))
        return replace(capture, provenance=provenance)

    def leaves(self, folder: Path) -> tuple[Path, ...]:
        """What a capture makes outside of its folder: git's record of the worktree."""
        if self.revision is None:
            return ()
        # git names it after the worktree's own folder, whose name no other has
        return (self.revision.repository.administration / "worktrees" / _tree(folder).name,)

    def name_places(self, error: HloscopeError, folder: Path) -> HloscopeError:
        """The error with places in the worktree, soon gone, as git writes them: `main:pkg/a.py`."""
        if self.revision is None:
            return error
        trees = {f"{_tree(folder)}/", f"{_tree(folder).resolve()}/"}
        named = (_replaced(text, trees, f"{self.revision.name}:") for text in _texts(error))
        problem, where, remedy = named
        return HloscopeError(problem or "", where=where, remedy=remedy)


def _checkout(revision: Revision, tree: Path) -> Checkout:
    return Checkout(
        repository=str(revision.repository.root),
        commit=revision.commit,
        name=revision.name,
        tree=str(tree),
        inside=str(revision.repository.inside),
    )


def _texts(error: HloscopeError) -> tuple[str | None, str | None, str | None]:
    return error.problem, error.where, error.remedy


def _replaced(text: str | None, olds: Iterable[str], new: str) -> str | None:
    for old in sorted(olds, key=len, reverse=True):
        text = None if text is None else text.replace(old, new)
    return text


def _tree(folder: Path) -> Path:
    return folder / folder.name
