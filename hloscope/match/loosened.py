"""A canonical module as matching looks at it: by what happens to single values."""

from __future__ import annotations

from dataclasses import replace

from hloscope.model.canonical import CanonicalModule, Label, NodeKind

_ELEMENT = "element"


def loosened(side: CanonicalModule) -> CanonicalModule:
    """The module with values that are passed on together looked at one by one.

    That is each argument of an entry that takes a tuple of them, and each element of a combined
    collective, which is read off its own operand alone. Which values XLA combines is its choice,
    and says nothing of what is computed from each of them: a difference there is to be seen at the
    collective, and nowhere before or behind it.
    """
    flow = side.flow
    arguments = [node for node in side.parameters if node >= side.count]
    parts = combined_parts(side)
    if not arguments and not parts:
        return side
    sources, labels = list(flow.sources), list(side.labels)
    for node in arguments:
        sources[node] = ()
    for node in parts:
        maker = sources[node][0]
        sources[node] = sources[node][1:]
        for number in (side.label_of[node], side.label_of[maker]):
            labels[number] = _loose(side.labels[number])
    return replace(side, flow=replace(flow, sources=tuple(sources)), labels=tuple(labels))


def combined_parts(side: CanonicalModule) -> list[int]:
    """The elements of combined collectives; each reads its collective and its own operand."""
    flow = side.flow
    return [
        node
        for node in range(side.count, len(flow.sources))
        if flow.kinds[node] == NodeKind.ELEMENT and len(flow.sources[node]) > 1
    ]


def _loose(label: Label) -> Label:
    """Without what depends on how many values are combined, and on where they are kept."""
    if label.opcode == _ELEMENT:
        return label._replace(attrs=())
    attrs = tuple(attr for attr in label.attrs if attr[0] != "backend_config")
    return label._replace(attrs=attrs, shape=label.shape._replace(elements=()))
