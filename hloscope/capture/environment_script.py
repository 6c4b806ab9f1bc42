"""Makes a Python environment; a script of its own with nothing but the standard library.

Reads `environment.json` in the folder it is given. What it makes lies over the environment that
runs it: packages that are asked for, and those that had to change with them, hide the others'.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

FAILED = 3


def main() -> None:
    """Makes the environment that the folder's `environment.json` describes."""
    folder = Path(sys.argv[1])
    job = json.loads((folder / "environment.json").read_text())
    environment = Path(job["environment"])
    if job["uv"]:
        _make_with_uv(job["uv"], job["requirements"], environment, folder)
    else:
        _make_with_pip(job["requirements"], environment)
    _lay_over(environment)
    added = {d.name: d.version for d in metadata.distributions(path=[str(_site(environment))])}
    (environment / "packages.json").write_text(json.dumps(dict(sorted(added.items()))))


def _make_with_uv(uv: str, requirements: list[str], environment: Path, folder: Path) -> None:
    _say("resolve")
    _run(uv, "venv", "--quiet", "--python", sys.executable, str(environment))
    python = ("--python", str(environment / "bin" / "python"))
    asked, pins = folder / "asked.txt", folder / "pins.txt"
    asked.write_text("\n".join(requirements))
    here = _installed()
    # uv keeps to versions in the file that it is to write as far as it can
    pins.write_text("\n".join(f"{name}=={version}" for name, version in sorted(here.items())))
    plain = ("--no-header", "--no-annotate", "--strip-extras")
    _run(uv, "pip", "compile", "--quiet", *python, *plain, str(asked), "-o", str(pins))
    lines = [line.strip() for line in pins.read_text().splitlines()]
    changed = [line for line in lines if line and line[0] != "#" and not _is_here(line, here)]
    if changed:
        _say("install")
        (folder / "changed.txt").write_text("\n".join(changed))
        _run(uv, "pip", "install", "--quiet", *python, "--no-deps", "-r", folder / "changed.txt")


def _make_with_pip(requirements: list[str], environment: Path) -> None:
    _say("resolve")
    here = importlib.util.find_spec("pip") is not None
    _run(sys.executable, "-m", "venv", *(("--without-pip",) if here else ()), environment)
    # pip then counts what is here as installed, and leaves it where it will do
    _lay_over(environment)
    _say("install")
    python = environment / "bin" / "python"
    # the pip of here works for another interpreter as well, and need not be installed there
    pip = (sys.executable, "-m", "pip", "--python", python) if here else (python, "-m", "pip")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    _run(*pip, "install", *quiet, *requirements)
    if not here:
        _run(*pip, "uninstall", *quiet, "--yes", "pip")


def _lay_over(environment: Path) -> None:
    """Lets the environment see the packages of the one that runs this."""
    folders = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    lines = [f"import site; site.addsitedir({folder!r})" for folder in folders]
    (_site(environment) / "hloscope_base.pth").write_text("\n".join(lines) + "\n")


def _site(environment: Path) -> Path:
    (site,) = (environment / "lib").glob("python*/site-packages")
    return site


def _installed() -> dict[str, str]:
    return {_canonical(d.name): d.version for d in metadata.distributions() if d.name}


def _is_here(line: str, here: dict[str, str]) -> bool:
    name, pinned, version = line.partition("==")
    return bool(pinned) and here.get(_canonical(name)) == version.strip()


def _canonical(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(".", "-")


def _run(*command: object) -> None:
    # standard output is for events alone
    done = subprocess.run(list(map(str, command)), stdout=sys.stderr, check=False)
    if done.returncode != 0:
        sys.exit(FAILED)


def _say(phase: str) -> None:
    print(json.dumps({"event": "phase", "name": phase}), flush=True)  # noqa: T201 - to the parent


if __name__ == "__main__":
    main()
