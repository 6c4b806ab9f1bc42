"""Places the nodes of a small graph in layers, sources above users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fast_sugiyama import from_edges

Place = tuple[float, float]
Edge = tuple[int, int]
_BEND = 0.4  # columns that a line takes which passes a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Where to draw a graph, in columns and rows from the top left.

    Attributes:
      nodes: place of each node.
      bends: what the line of an edge passes on its way, for edges over several rows.
    """

    nodes: tuple[Place, ...]
    bends: Mapping[Edge, tuple[Place, ...]]


def layered(count: int, edges: Sequence[Edge]) -> Drawing:
    """Draws the nodes 0 .. count - 1; what reads nothing is in row 0.

    Args:
      count: number of nodes.
      edges: (source, user), without cycles.
    """
    joined = sorted({node for edge in edges for node in edge})
    number = {node: place for place, node in enumerate(joined)}
    inner = sorted((number[source], number[user]) for source, user in set(edges))
    places, drawn = _placed(inner)
    right = max((x for x, _ in places.values()), default=-1.0) + 1
    nodes: list[Place] = []
    for node in range(count):
        if node in number:
            nodes.append(places[number[node]])
        else:
            nodes.append((right, 0.0))
            right += 1
    bends = {
        (joined[edge[0]], joined[edge[1]]): tuple(places[n] for n in way)
        for edge, way in _ways(drawn, len(joined))
        if way
    }
    return Drawing(nodes=tuple(nodes), bends=bends)


def _placed(edges: Sequence[Edge]) -> tuple[dict[int, Place], list[Edge]]:
    """Every node and bend; parts that nothing connects stand side by side."""
    if not edges:
        return {}, []
    places: dict[int, Place] = {}
    drawn: list[Edge] = []
    right = 0.0
    layouts = from_edges(
        edges, vertex_spacing=1, dummy_vertices=True, dummy_size=_BEND, check_layout=False
    )
    for positions, _, _, parts in layouts:
        left = min(x for _, (x, _) in positions)
        top = max(y for _, (_, y) in positions)
        for node, (x, y) in positions:
            places[int(node)] = (round(right + x - left, 2), round(top - y, 2))
        drawn += [(int(source), int(user)) for source, user in parts or ()]
        right = max(x for x, _ in places.values()) + 1
    return places, drawn


def _ways(drawn: Sequence[Edge], count: int) -> Iterator[tuple[Edge, list[int]]]:
    """Each edge with its bends, which have the numbers from `count` on."""
    after = {source: user for source, user in drawn if source >= count}
    for source, user in drawn:
        if source < count:
            way = []
            while user >= count and user in after:
                way.append(user)
                user = after[user]
            yield (source, user), way
