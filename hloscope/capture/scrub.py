"""Keeping the user's and the machine's names out of captures."""

from __future__ import annotations

import getpass
import re
import site
import socket
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# names that identify nobody, and are words of programs besides
_COMMON = frozenset(
    {"root", "user", "ubuntu", "admin", "nobody", "localhost", "jax", "test", "main"}
)
_SHORTEST = 3  # a shorter name is found inside ordinary text everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What must not be in a capture.

    Attributes:
      homes: home folders, without a slash at the end.
      names: user and host names.
    """

    homes: tuple[str, ...]
    names: tuple[str, ...]


def this_identity(environment: Mapping[str, str]) -> Identity:
    """The identity of the user and the machine that run this."""
    homes = {environment.get("HOME", ""), str(Path("~").expanduser())}
    homes |= {str(Path(home).resolve()) for home in homes if home}
    names = {environment.get(key, "") for key in ("USER", "LOGNAME", "HOSTNAME")}
    names |= {_user(), socket.gethostname(), socket.gethostname().partition(".")[0]}
    return Identity(
        homes=tuple(sorted((h for h in homes if h.count("/") and len(h) > 1), key=len)[::-1]),
        names=tuple(
            sorted((n for n in names if len(n) >= _SHORTEST and n.lower() not in _COMMON), key=len)
        )[::-1],
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""  # a container's user need not have a name


def scrub_text(text: str, identity: Identity) -> str:
    """`text` with home folders as `~` and names as `<name>`."""
    for home in identity.homes:
        text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
    for name in identity.names:
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", "<name>", text)
    return text


def scrub_bytes(data: bytes, identity: Identity) -> bytes:
    """`data` with the letters of home folders overwritten, every length as it was.

    Protos and MLIR bytecode count bytes, so what replaces must be as long as what is replaced.
    """
    for home in identity.homes:
        hidden = re.sub(r"[^/]", "~", home)
        data = data.replace(f"{home}/".encode(), f"{hidden}/".encode())
    return data


def source_prefixes(path: Iterable[str], identity: Identity) -> str:
    """A pattern of the path prefixes that source locations are shown without.

    It is for `jax_hlo_source_file_canonicalization_regex`: locations become relative to the
    import path, site-packages or the home folder, which also makes them equal on two machines.

    Args:
      path: the import path.
      identity: whose home folders to take off.
    """
    folders = {str(Path(entry).absolute()) for entry in path}
    folders |= {str(Path(entry).resolve()) for entry in path}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), *identity.homes}
    folders |= {sysconfig.get_paths()["stdlib"], sys.prefix, sys.base_prefix}
    # longest first: the alternative that matches first wins
    ordered = sorted((folder for folder in folders if len(folder) > 1), key=lambda f: (-len(f), f))
    return rf"^(?:{'|'.join(map(re.escape, ordered))})/"
