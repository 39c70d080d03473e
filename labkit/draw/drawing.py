"""`graph(outputs)`: a picture of any lab's graph, and its text form."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labkit.messages import Argument, Message

from . import folding, page
from .item import Item, printable
from .layers import NoIgraph
from .nodes import Nodes, number, shape_of
from .svg import STILL, Animation, as_svg
from .text import as_text


def say(id: str, language: str, /, **arguments: Argument) -> str:
    """A text of the drawings."""
    return Message(f"draw.{id}", arguments).text(language)


@dataclass(frozen=True)
class Drawing:
    """A graph as `.svg`, `.html` (light and dark, shown by notebooks) and `.text`."""

    items: list[Item]
    title: str
    notes: list[str]
    language: str

    @functools.cached_property
    def svg(self) -> str:
        """The picture as an `<svg>` element. Raises: ImportError without igraph."""
        return picture(self.items, self.title, self.language)

    @property
    def text(self) -> str:
        """One node a line, for terminals."""
        return "\n".join([*([printable(self.title)] if self.title else []), as_text(self.items), *self.notes])

    @property
    def html(self) -> str:
        """A piece of a page that needs nothing else; without igraph, the text form and how to get it."""
        label = self.title or say("picture", self.language, count=len(self.items))
        try:
            return page.fragment(self.title, page.scrolled(self.svg, label), self.notes)
        except ImportError as error:
            body = f"<pre>{page.escape_lines(as_text(self.items))}</pre>"
            return page.fragment(self.title, body, [*self.notes, str(error)])

    def _repr_html_(self) -> str:
        return self.html

    def __str__(self) -> str:
        return self.text


def graph(
    outputs: Any,
    values: bool = True,
    tangents: Mapping[Any, Any] | None = None,
    adjoints: Mapping[Any, Any] | None = None,
    shapes: bool = False,
    names: Mapping[Any, str] | None = None,
    fold: int = 60,
    language: str = "zh",
    title: str = "",
) -> Drawing:
    """The graph of a node or of a list of nodes; the nodes are called v1 … vn, or by `names`.

    tangents, adjoints: {node: number}. Beyond `fold` nodes, what is far from the outputs becomes one box.
    Raises: TypeError for what is no node, ValueError for a cycle.
    """
    nodes = Nodes(outputs, language, names)
    given = [("tangent", nodes.numbers(tangents)), ("adjoint", nodes.numbers(adjoints))]

    def item(place: int) -> Item:
        node = nodes.nodes[place]
        notes = [say(kind, language, number=number(own[place])) for kind, own in given if place in own]
        shape = shape_of(node) if shapes else ""
        notes += [say("shape", language, shape=shape)] if shape else []
        value = getattr(node, "value", None) if values else None
        return Item(nodes.label(place), (), "" if value is None else f"= {number(value)}", "\n".join(notes))

    shown = folding.shown(nodes.inputs, nodes.outputs(), fold)
    items = arranged(nodes, shown, [item(place) for place in shown], language)
    return Drawing(items, title, folded_note(nodes, shown, language), language)


def rows_of(nodes: Nodes, shown: Sequence[int]) -> dict[int, int]:
    """{place: row} of the shown nodes; where some are hidden, a row is left free below the leaves."""
    hidden = len(shown) < len(nodes.nodes)
    return {place: row + (hidden and bool(nodes.nodes[place].inputs)) for row, place in enumerate(shown)}


def arranged(nodes: Nodes, shown: Sequence[int], items: Sequence[Item], language: str) -> list[Item]:
    """The shown items with their inputs; in the free row, a box for the nodes that are hidden."""
    rows = rows_of(nodes, shown)
    if len(shown) == len(nodes.nodes):
        return [_with_inputs(item, nodes.inputs[k]) for k, item in zip(shown, items, strict=True)]
    box = sum(not nodes.nodes[place].inputs for place in shown)
    result = []
    for place, item in zip(shown, items, strict=True):
        own = [rows[i] for i in nodes.inputs[place] if i in rows]
        hides = any(i not in rows for i in nodes.inputs[place])
        result.append(_with_inputs(item, own + [box] * hides))
    below = {rows[i] for place, own in enumerate(nodes.inputs) if place not in rows for i in own if i in rows}
    count = len(nodes.nodes) - len(shown)
    result.insert(box, Item("⋯", tuple(sorted(below)), say("hidden", language, count=count), folded=True))
    return result


def _with_inputs(item: Item, inputs: Sequence[int]) -> Item:
    return dataclasses.replace(item, inputs=tuple(inputs))


def folded_note(nodes: Nodes, shown: Sequence[int], language: str) -> list[str]:
    """A line that says how much is drawn, none where everything is."""
    total = len(nodes.nodes)
    if len(shown) == total:
        return []
    return [say("folded", language, shown=len(shown), total=total, hidden=total - len(shown))]


def picture(items: list[Item], title: str, language: str, animation: Animation = STILL) -> str:
    """The SVG. Raises: NoIgraph with one line that says how to get it."""
    try:
        return as_svg(items, title or say("picture", language, count=len(items)), animation)
    except NoIgraph as error:
        raise NoIgraph(say("no-igraph", language)) from error
