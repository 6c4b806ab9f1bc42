"""Shapes in XLA's text form."""

from __future__ import annotations

import re
from functools import lru_cache

from hloscope.model.hlo import Layout, Shape

MAX_DEPTH = 100  # as deep as protobuf nests; deeper shapes are kept as text

# an array shape with its layout; a layout holds at most one more level of braces, in `P(...)`
ARRAY = r"[a-z][a-z0-9]*\[[^\[\](){}]*\](?:sparse)?(?:\{(?:[^{}]++|\{[^{}]*+\})*+\})?"
_TOKEN = re.compile(rf"(?P<array>{ARRAY})|(?P<open>b?\()|(?P<close>\))|[\s,]+|/\*.*?\*/")
_ARRAY_PARTS = re.compile(r"([a-z0-9]+)\[([^\]]*)\]([a-z]*)(?:\{(.*)\})?", re.DOTALL)
_TILES = re.compile(r"\(([^()]*)\)")
# a property of a layout: letters or a sign, then one or more parenthesised groups
_PROPERTY = re.compile(r"(?<![A-Z#*])([A-Z#*]+)((?:\((?:[^()]|\([^()]*\))*\))+)")


@lru_cache(maxsize=65536)
def read_shape(text: str) -> Shape | None:
    """The shape that `text` spells, `None` where it spells none."""
    if text[:1].isalpha() and text[:2] != "b(":
        return _array(text)
    stack: list[tuple[str, list[Shape]]] = [("", [])]
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return None
        position = token.end()
        if token["array"]:
            element = _array(token["array"])
            if element is None:
                return None
            stack[-1][1].append(element)
        elif token["open"]:
            if len(stack) > MAX_DEPTH:
                return Shape("tuple", rest=text)
            stack.append(("buffer" if token["open"] == "b(" else "tuple", []))
        elif token["close"]:
            if len(stack) == 1:
                return None
            dtype, elements = stack.pop()
            stack[-1][1].append(Shape(dtype, (), None, tuple(elements)))
    return stack[0][1][0] if len(stack) == 1 and len(stack[0][1]) == 1 else None


@lru_cache(maxsize=65536)
def _array(text: str) -> Shape | None:
    parts = _ARRAY_PARTS.fullmatch(text)
    if parts is None:
        return None
    dims: list[int] = []
    dynamic: list[int] = []
    extents = parts[2].split(",") if parts[2].strip() else []
    for number, extent in enumerate(extents):
        bare = extent.strip().removeprefix("<=")
        if bare != extent.strip() or bare == "?":
            dynamic.append(number)
        if bare != "?" and not _is_count(bare):
            return None
        dims.append(-1 if bare == "?" else int(bare))
    layout = None if parts[4] is None else _layout(parts[4])
    if not dims and layout == Layout(()):
        layout = None  # `f32[]{}`: XLA prints no layout for a plain scalar
    return Shape(parts[1], tuple(dims), layout, (), tuple(dynamic), parts[3])


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20


def _layout(text: str) -> Layout:
    order, _, properties = text.partition(":")
    tiles: tuple[tuple[int, ...], ...] = ()
    memory_space = 0
    rest: list[str] = []
    for found in _PROPERTY.finditer(properties):
        name, value = found[1], found[2]
        if name == "T" and (read := _tiles(value)) is not None:
            tiles = read
        elif name == "S" and _is_count(value[1:-1]):
            memory_space = int(value[1:-1])
        else:
            rest.append(found[0])
    minor_to_major = tuple(int(d) for d in order.split(",") if _is_count(d.strip()))
    return Layout(minor_to_major, tiles, memory_space, "".join(rest))


def _tiles(text: str) -> tuple[tuple[int, ...], ...] | None:
    """`(8,128)(2,1)` as tuples, -1 for `*`."""
    tiles: list[tuple[int, ...]] = []
    for group in _TILES.findall(text):
        extents = [e.strip() for e in group.split(",")] if group.strip() else []
        if not all(e == "*" or _is_count(e.removeprefix("-")) for e in extents):
            return None
        tiles.append(tuple(-1 if e == "*" else int(e) for e in extents))
    return tuple(tiles)


@lru_cache(maxsize=65536)
def format_shape(shape: Shape) -> str:
    """A shape with its layout as XLA prints it, but for the `/*index=5*/` marks of long tuples."""
    if shape.dtype in ("tuple", "buffer") and not shape.rest:
        inner = ", ".join(format_shape(e) for e in shape.elements)
        return f"b({inner})" if shape.dtype == "buffer" else f"({inner})"
    if shape.dtype == "tuple":
        return shape.rest
    extents = ",".join(_extent(shape, number) for number in range(len(shape.dims)))
    layout = "" if shape.layout is None else format_layout(shape.layout)
    return f"{shape.dtype}[{extents}]{shape.rest}{layout}"


def _extent(shape: Shape, number: int) -> str:
    extent = shape.dims[number]
    if number not in shape.dynamic:
        return str(extent)
    return "?" if extent < 0 else f"<={extent}"


# where XLA's `Layout::Print` puts the rest: D before the tiles, everything else but M and SC
# between the tiles and the memory space
_BEFORE_TILES = re.compile(r"D\((?:[^()]|\([^()]*\))*\)")
_AFTER_SPACE = re.compile(r"(?:SC|P|M)\((?:[^()]|\([^()]*\))*\)")


def format_layout(layout: Layout) -> str:
    """A layout as XLA prints it, `{1,0:T(8,128)S(1)}`."""
    before = "".join(_BEFORE_TILES.findall(layout.rest))
    after = "".join(_AFTER_SPACE.findall(layout.rest))
    between = _AFTER_SPACE.sub("", _BEFORE_TILES.sub("", layout.rest))
    tiles = "".join(
        f"({','.join('*' if d < 0 else str(d) for d in tile)})" for tile in layout.tiles
    )
    space = f"S({layout.memory_space})" if layout.memory_space else ""
    properties = before + (f"T{tiles}" if tiles else "") + between + space + after
    order = ",".join(map(str, layout.minor_to_major))
    return f"{{{order}:{properties}}}" if properties else f"{{{order}}}"
