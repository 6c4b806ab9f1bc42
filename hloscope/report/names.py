"""Names of sides and places, no longer than a line can take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cut(text: str, width: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def cut_path(parts: Iterable[str], width: int) -> str:
    """The end of a path that is too long, since its end says most; cut between its parts."""
    kept = list(parts)
    text = "/".join(kept)
    if len(text) <= width:
        return text
    while len(kept) > 1 and len("/".join(kept)) + 2 > width:
        kept.pop(0)
    text = "/".join(kept)
    return "…/" + text if len(text) + 2 <= width else "…" + text[-(width - 1) :]


def side_names(labels: Sequence[str], width: int = 44) -> tuple[str, ...]:
    """What sides are called: no more of paths, or of programs' options, than tells them apart."""
    specs = [_options(label) for label in labels]
    shared = frozenset.intersection(*(frozenset(options) for _, options in specs))
    if len(labels) > 1:
        labels = [_without(*spec, shared) for spec in specs]
    paths = [_path_parts(label) for label in labels]
    for count in range(1, max(map(len, paths)) + 1):
        ends = ["/".join(parts[-count:]) for parts in paths]
        if len(set(ends)) == len(set(labels)):
            return tuple(cut(end, width) for end in ends)
    return tuple(cut(label, width) for label in labels)


def _options(label: str) -> tuple[str, list[str]]:
    """A program's spec without its options, and these."""
    name, mark, options = label.partition("?")
    return name, options.split("&") if mark else []


def _without(name: str, options: Sequence[str], shared: frozenset[str]) -> str:
    own = [option for option in options if option not in shared]
    left_out = ["…"] if len(own) < len(options) else []
    return f"{name}?{'&'.join(own + left_out)}" if options else name


def _path_parts(label: str) -> list[str]:
    """A path's components; a program's spec is one component."""
    head = label.partition("?")[0]
    if ":" in head.rpartition("/")[2]:
        return [label]
    return [part for part in label.split("/") if part] or [label]
