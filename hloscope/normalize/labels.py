"""What each node is, without noise: one entry in a table per distinct label."""

from __future__ import annotations

from collections.abc import Callable

from hloscope.hlo.arguments import element_shardings
from hloscope.model.canonical import Label, NodeKind
from hloscope.model.hlo import Instruction, Layout, Literal, Module, Shape
from hloscope.normalize.combined import unordered, without_positions
from hloscope.normalize.passes import PASSES, Place, Rewrite
from hloscope.normalize.wiring import Wiring

EMPTY = Shape("")
NO_TEXT = ""


class LabelTable:
    """Numbers distinct labels and layouts of one module in the order in which they turn up."""

    def __init__(self, off: frozenset[str]) -> None:
        self.labels: list[Label] = []
        self._numbers: dict[Label, int] = {}
        self._seen: dict[tuple[object, ...], int] = {}
        self._same: dict[tuple[str, int, int, int], int] = {}
        self._layouts: dict[int, str] = {}
        self._shapes: dict[Shape, tuple[Shape, str]] = {}
        self._attrs: dict[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = {}
        self._texts: dict[tuple[str, str], str | None] = {}
        self._rewrites: dict[str, Rewrite] = {}
        self._keeps: list[tuple[str, Callable[[Place], str]]] = []
        self.positions_kept = "tuple-positions" in off
        self.numbers_kept = "parameter-order" in off
        for one in PASSES:
            if one.name not in off:
                self._rewrites.update(one.attrs)
            elif one.keeps is not None:
                self._keeps.append((one.name, one.keeps))

    def number(self, label: Label) -> int:
        """The label's number in the table."""
        found = self._numbers.get(label)
        if found is None:
            found = self._numbers[label] = len(self.labels)
            self.labels.append(label)
        return found

    def shape(self, shape: Shape) -> tuple[Shape, str]:
        """The shape without layouts, with its layouts as text."""
        found = self._shapes.get(shape)
        if found is None:
            found = self._shapes[shape] = (without_layout(shape), layout_text(shape))
        return found

    def layout(self, shape: Shape) -> str:
        """The layouts of a shape of the module as text."""
        found = self._layouts.get(id(shape))
        if found is None:
            found = self._layouts[id(shape)] = self.shape(shape)[1]
        return found

    def operation(self, ins: Instruction) -> int:
        """The label of an instruction that computes something."""
        # readers share objects that are equal, and a module keeps them all alive
        same = (ins.opcode, id(ins.shape), id(ins.attrs), id(ins.literal))
        found = self._same.get(same)
        if found is None:
            found = self._same[same] = self._operation(ins)
        return found

    def _operation(self, ins: Instruction) -> int:
        key = (ins.opcode, ins.shape, ins.attrs, ins.literal)
        found = self._seen.get(key)
        if found is None:
            shape = self.shape(ins.shape)[0]
            label = Label(ins.opcode, shape, self._canonical(ins.attrs), _value(ins.literal))
            found = self._seen[key] = self.number(label)
        return found

    def collective(self, ins: Instruction, reused: int) -> int:
        """The label of a collective on several values, of which so many stay in their memory."""
        attrs = self._canonical(without_positions(ins.attrs, reused))
        return self.number(Label(ins.opcode, unordered(self.shape(ins.shape)[0]), attrs))

    def parameter(self, ins: Instruction) -> int:
        """The label of a parameter whose place says what it is: of a reducer, a comparator."""
        label = self.labels[self.operation(ins)]
        return self.number(label._replace(attrs=(("number", str(ins.parameter)), *label.attrs)))

    def arguments(self, ins: Instruction) -> int:
        """The label of a tuple of arguments: its elements say what they are themselves."""
        attrs = [a for a in ins.attrs if a[0] != "sharding" or not element_shardings(ins)]
        shape = Shape(ins.shape.dtype)
        return self.number(Label(ins.opcode, shape, self._canonical(tuple(attrs))))

    def argument(self, shape: Shape, position: int, shardings: tuple[str, ...]) -> int:
        """The label of one argument out of a tuple: that of a parameter."""
        attrs = (("sharding", shardings[position]),) if shardings else ()
        if self.numbers_kept:
            attrs = (("number", str(position)), *attrs)
        return self.number(Label("parameter", shape, self._canonical(attrs)))

    def boundary(self, ins: Instruction) -> int:
        """The label of a wire or wrapper: its shape follows from what it carries."""
        attrs = ins.attrs
        if ins.opcode == "get-tuple-element" and not self.positions_kept:
            attrs = tuple(a for a in attrs if a[0] != "index")
        key = (ins.opcode, attrs)
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = self.number(Label(ins.opcode, EMPTY, self._canonical(attrs)))
        return found

    def with_kept(self, number: int, place: Place) -> int:
        """The label with the noise of the passes that are off."""
        kept = tuple((name, text) for name, keeps in self._keeps if (text := keeps(place)))
        return self.number(self.labels[number]._replace(kept=kept)) if kept else number

    @property
    def keeps_noise(self) -> bool:
        """Whether a pass that is off leaves noise in labels."""
        return bool(self._keeps)

    def _canonical(self, attrs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        found = self._attrs.get(attrs)
        if found is None:
            pairs = ((name, self._rewritten(name, text)) for name, text in attrs)
            found = tuple((name, text) for name, text in pairs if text is not None)
            self._attrs[attrs] = found
        return found

    def _rewritten(self, name: str, text: str) -> str | None:
        rewrite = self._rewrites.get(name)
        if rewrite is None:
            return text
        key = (name, text)
        if key not in self._texts:
            self._texts[key] = rewrite(text)
        return self._texts[key]


def label_nodes(module: Module, wiring: Wiring, table: LabelTable) -> tuple[list[int], list[str]]:
    """The label number and the layout text of every node."""
    label_of: list[int] = []
    layouts: list[str] = []
    kinds, operation = wiring.kinds, NodeKind.OPERATION
    combined = wiring.combined
    shardings: tuple[str, ...] = ()
    node = 0
    for number, computation in enumerate(module.computations):
        for position, ins in enumerate(computation.instructions):
            if kinds[node] != operation:
                label = table.boundary(ins)
            elif node == wiring.tupled:
                label = table.arguments(ins)
                shardings = element_shardings(ins)
            elif ins.opcode == "parameter" and number != module.entry:
                label = table.parameter(ins)
            elif node in combined:
                label = table.collective(ins, len(combined[node].reused))
            else:
                label = table.operation(ins)
            if table.keeps_noise:
                label = table.with_kept(label, Place(computation, number, ins, position))
            label_of.append(label)
            layouts.append(table.layout(ins.shape))
            node += 1
    for node, (shape, position) in enumerate(wiring.virtual, start=wiring.count):
        plain, layout = table.shape(shape)
        layouts.append(layout)
        if wiring.sources[node][:1] == (wiring.tupled,):
            label_of.append(table.argument(plain, position, shardings))
            continue
        slot = kinds[node] == NodeKind.SLOT
        placed = _place_of_slot(table, position) if slot else _place(wiring, node, position)
        label_of.append(table.number(Label("slot" if slot else "element", plain, placed)))
    return label_of, layouts


def _place_of_slot(table: LabelTable, position: int) -> tuple[tuple[str, str], ...]:
    return (("index", str(position)),) if table.positions_kept else ()


def _place(wiring: Wiring, element: int, position: int) -> tuple[tuple[str, str], ...]:
    """What says which element it is: its position, or the operand of a combined collective."""
    collective = wiring.combined.get(wiring.sources[element][0])
    if collective is None:
        return (("index", str(position)),)
    return (("memory", "of the operand"),) if position in collective.reused else ()


def _value(literal: Literal | None) -> str:
    if literal is None:
        return NO_TEXT
    return literal.digest.hex() if literal.digest is not None else literal.preview


def without_layout(shape: Shape) -> Shape:
    """The shape without any layout."""
    elements = tuple(without_layout(e) for e in shape.elements)
    return shape._replace(layout=None, elements=elements)


def layout_text(shape: Shape) -> str:
    """The layouts of a shape in XLA's form, `""` where they are the default ones.

    A source that names no layout means the default one: dimensions in falling order.
    """
    if shape.elements:
        # sorted: positions in tuples are noise
        inner = sorted(layout_text(e) for e in shape.elements)
        return "(" + ",".join(inner) + ")" if any(inner) else ""
    layout = shape.layout
    if layout is None:
        return ""
    default = tuple(range(len(shape.dims) - 1, -1, -1))
    if layout == Layout(default):
        return ""
    return _layout(layout)


def _layout(layout: Layout) -> str:
    order = ",".join(map(str, layout.minor_to_major))
    tiles = "".join(
        "(" + ",".join("*" if d == -1 else str(d) for d in tile) + ")" for tile in layout.tiles
    )
    rest = ("T" + tiles if tiles else "") + layout.rest
    if layout.memory_space:
        rest += f"S({layout.memory_space})"
    return "{" + order + (":" + rest if rest else "") + "}"
