"""Revisions of the user's repository: `PROGRAM@REV`."""

from __future__ import annotations

import os
import site
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hloscope.errors import HloscopeError

# what git sets for its hooks; a hook that runs hloscope must not lend it its index
_LOCAL = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)  # fmt: skip
_REMEDY = "git log --oneline shows the revisions here; a shallow clone has few: git fetch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The repository around a folder.

    Attributes:
      root: its top folder.
      administration: the folder where git keeps what all its worktrees share.
      inside: the folder's path under `root`.
    """

    root: Path
    administration: Path
    inside: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit.

    Attributes:
      name: as the user wrote it.
      commit: its full hash.
    """

    repository: Repository
    name: str
    commit: str


def split_revision(spec: str) -> tuple[str, str | None]:
    """`PROGRAM?OPTIONS@REV` as the program's spec and the revision's name.

    The first `@` parts them: a program has none (`%40` in an option's value), a revision may, as
    `HEAD@{1}`.

    Raises:
      HloscopeError: the revision is empty, or stands before the options.
    """
    program, at, name = spec.partition("@")
    if not at:
        return spec, None
    if not program or not name:
        missing = "program" if not program else "revision"
        raise HloscopeError(f"'{spec}' names no {missing}", remedy="package.module:factory@main")
    if "?" in name:
        before, _, options = name.partition("?")
        raise HloscopeError(
            f"'{spec}' has its options after the revision '{before}'",
            remedy=f"'{program}?{options}@{before}'",
        )
    return program, name


def find_revision(name: str, *, where: str, folder: Path | None = None) -> Revision:
    """The commit that a name stands for in the repository around a folder.

    Args:
      name: anything that git takes for a commit: a branch, a tag, a hash, `HEAD~3`.
      where: what the user typed.
      folder: the current folder where `None`.

    Raises:
      HloscopeError: no git, no repository, or no such commit.
    """
    repository = find_repository(folder or Path.cwd(), where=where)
    found = git(
        repository.root,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{name}^{{commit}}",
    )
    if found is None:
        raise HloscopeError(
            f"no revision '{name}' in {repository.root}", where=where, remedy=_REMEDY
        )
    return Revision(repository=repository, name=name, commit=found)


def find_repository(folder: Path, *, where: str) -> Repository:
    """The repository that a folder is in.

    Raises:
      HloscopeError: no git, or no repository.
    """
    told = run_git(folder, "rev-parse", "--show-toplevel")
    if told.returncode != 0:
        said = (told.stderr.strip() or "no reason given").splitlines()[0]
        raise HloscopeError(
            f"'{folder}' is in no work tree of a git repository: {said}",
            where=where,
            remedy="revisions are those of the current folder's repository: cd into it",
        )
    top = told.stdout.strip()
    common = git(folder, "rev-parse", "--git-common-dir") or ".git"
    inside = git(folder, "rev-parse", "--show-prefix") or ""
    return Repository(
        root=Path(top),
        administration=(folder / common).resolve(),
        inside=Path(inside),
    )


def git(folder: Path, *arguments: str) -> str | None:
    """What git says, `None` where it refuses.

    Raises:
      HloscopeError: git is not installed.
    """
    done = run_git(folder, *arguments)
    return done.stdout.strip() if done.returncode == 0 else None


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs git in a folder, without its hooks and without what a hook's environment says.

    Raises:
      HloscopeError: git is not installed.
    """
    try:
        return subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", "-C", str(folder), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env=git_environment(),
        )
    except FileNotFoundError as error:
        raise HloscopeError("git is not installed", remedy="apt install git") from error


def git_environment() -> dict[str, str]:
    """This process's environment without what points git at another repository or index."""
    kept = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


def revision_path(repository: Repository, tree: Path, path: Sequence[str]) -> tuple[str, ...]:
    """The import path of a revision: that of this process, with the work tree in `tree`.

    What the repository holds comes from the tree, and before all else, so that an installed copy of
    the program does not hide the revision's.

    Args:
      repository: whose revision it is.
      tree: where the revision's files lie.
      path: the import path of this process, absolute.
    """
    ours = [tree / repository.inside]
    rest = []
    for entry in path:
        inside = _inside(Path(entry), repository.root)
        if inside is None or is_installed(Path(entry)):
            rest.append(entry)
        else:
            ours.append(tree / inside)
    ours += [tree / "src", tree]
    return tuple(dict.fromkeys([*map(str, ours), *rest]))


def _inside(entry: Path, root: Path) -> Path | None:
    for form in (entry, entry.resolve()):
        if form.is_relative_to(root):
            return form.relative_to(root)
    return None


def is_installed(entry: Path) -> bool:
    """Whether an entry of the import path is the interpreter's or its packages'."""
    return any(entry.is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "scripts")}
    return tuple(sorted({*folders, *package_folders()}))


@cache
def package_folders() -> tuple[str, ...]:
    """Where this environment's packages are installed."""
    paths = sysconfig.get_paths()
    folders = {paths["purelib"], paths["platlib"], *site.getsitepackages()}
    return tuple(sorted({*folders, site.getusersitepackages()}))


def outside_code(repository: Repository, path: Sequence[str], own: Path) -> tuple[str, ...]:
    """Entries of the import path that no revision and no package's version identify.

    Args:
      repository: its files are identified by the revision.
      path: the import path of this process.
      own: the folder of the hloscope package.
    """
    return tuple(
        entry
        for entry in path
        if not is_installed(Path(entry))
        and _inside(Path(entry), repository.root) is None
        and Path(entry) != own
        and Path(entry).exists()
    )
