"""A revision's files for one capture; runs in the compiler process."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

from hloscope.capture.messages import Checkout
from hloscope.capture.program_loading import failed
from hloscope.capture.revisions import run_git
from hloscope.errors import HloscopeError

_SAID_LINES = 3


def check_out(checkout: Checkout) -> None:
    """Adds a worktree of the revision, goes to the user's folder in it, and uses its decoders.

    The guard removes the worktree; the user's own is not touched.

    Raises:
      HloscopeError: git cannot check the revision out.
    """
    tree = Path(checkout.tree)
    where = Path(checkout.repository)
    add = ("worktree", "add", "--quiet", "--detach", str(tree), checkout.commit)
    added = run_git(where, *add)
    if added.returncode != 0:
        said = " / ".join(added.stderr.strip().splitlines()[-_SAID_LINES:])
        raise HloscopeError(
            f"git cannot check out '{checkout.name}': {said}", where=checkout.repository
        )
    folder = tree / checkout.inside
    os.chdir(folder if folder.is_dir() else tree)
    if (tree / "hloscope" / "decoders" / "__init__.py").is_file():
        _use_decoders(tree / "hloscope" / "decoders", f"revision {checkout.name}")


def _use_decoders(package: Path, where: str) -> None:
    """Puts the revision's reference decoders in the place of ours; what captures stays ours."""
    name = "hloscope.decoders"
    found = importlib.util.spec_from_file_location(
        name, package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert found is not None  # noqa: S101 - the file exists
    assert found.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except Exception as error:  # the revision's code is anybody's
        raise failed(f"importing '{name}'", error, where) from error
    importlib.import_module("hloscope").__dict__["decoders"] = module
