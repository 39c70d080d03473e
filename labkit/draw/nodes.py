"""From the nodes of any lab to names v1 … vn, formulas and numbers in words.

A node is whatever has `.op` (None for a leaf) and `.inputs`; `.name`, `.value`, `.shape` are used if there.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labkit.messages import Message

from .item import printable

_INFIX = {sign: sign for sign in ("+", "-", "*", "/", "**", "@")} | {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "power": "**",
    "matmul": "@",
}
_MINUS = ("neg", "negative")
_DIGITS = 5
_LONGEST = 40  # letters of a value


class Nodes:
    """The drawn nodes of a graph, inputs before users: leaves first, then by their distance from the leaves.

    So the running example gets the names of the lecture. Leaves without a name that hold one number are
    constants where others have a name or hold something else: they stand in formulas and are not drawn.
    `inputs[k]` are the places of the drawn inputs of node k, as often as they are used; `uses[k]` with slots;
    `repeated[k]` are those in more slots than one.
    Raises: TypeError, ValueError.
    """

    def __init__(
        self,
        outputs: Any,
        language: str,
        names: Mapping[Any, str] | None = None,
        inputs: Sequence[Any] = (),
    ) -> None:
        self._language = language
        self.roots = [outputs] if _is_node(outputs) else _listed(outputs, language)
        self._own = {id(node): str(text) for node, text in (names or {}).items()}
        order = _inputs_first([*self.roots, *inputs], language)
        chosen = self._own.keys() | {id(node) for node in inputs}
        leaves = [node for node in order if not node.inputs]
        if any(id(leaf) in chosen or not _is_constant(leaf) for leaf in leaves):
            chosen |= {id(root) for root in self.roots}
            leaves = [leaf for leaf in leaves if id(leaf) in chosen or not _is_constant(leaf)]
        given = {id(node): place for place, node in enumerate(inputs)}
        leaves.sort(key=lambda leaf: (given.get(id(leaf), len(given)), _number_in(_name(leaf))))
        depth: dict[int, int] = {}
        for node in order:
            depth[id(node)] = 1 + max((depth[id(one)] for one in node.inputs), default=-1)
        operations = sorted((node for node in order if node.inputs), key=lambda node: depth[id(node)])
        self.nodes = [*leaves, *operations]
        self.place = {id(node): place for place, node in enumerate(self.nodes)}
        self.names = [self._own.get(id(node), f"v{place + 1}") for place, node in enumerate(self.nodes)]
        self.uses = [
            [(self.place[id(one)], slot) for slot, one in enumerate(node.inputs) if id(one) in self.place]
            for node in self.nodes
        ]
        self.inputs = [[i for i, _ in own] for own in self.uses]
        counts = map(Counter, self.inputs)
        self.repeated = [{i for i, count in own.items() if count > 1} for own in counts]

    def outputs(self) -> list[int]:
        """The places of the outputs."""
        return [self.place[id(root)] for root in self.roots]

    def find(self, node: Any) -> int | None:
        """The place of a node of the graph, None for any other and for constants."""
        return self.place.get(id(node))

    def numbers(self, given: Mapping[Any, Any] | None) -> dict[int, Any]:
        """{place: number} from {node: number}. Raises: TypeError."""
        if not isinstance(given, Mapping | None):
            raise TypeError(Message("draw.no-mapping", {"kind": type(given).__name__}).text(self._language))
        found = ((self.find(node), number) for node, number in (given or {}).items())
        return {place: number for place, number in found if place is not None}

    def label(self, place: int) -> str:
        """The name and how the node is computed: "v3 = log(v1)", "v1 = x1"."""
        node, name = self.nodes[place], self.names[place]
        formula = self.formula(place) if node.inputs else ""
        if not formula and id(node) not in self._own:
            formula = _name(node)
        return f"{name} = {formula}" if formula and formula != name else name

    def formula(self, place: int) -> str:
        """An operation on names."""
        node = self.nodes[place]
        operation = operation_name(node.op)
        operands = [self._operand(one) for one in node.inputs]
        if operation in _INFIX and len(operands) == 2:
            return f" {_INFIX[operation]} ".join(operands)
        if operation in _MINUS and len(operands) == 1:
            return f"-{operands[0]}"
        if operation == "lookup" and hasattr(node.op, "key"):
            return f"{operands[0]}[{node.op.key!r}]"
        return f"{operation}({', '.join(operands)})"

    def _operand(self, node: Any) -> str:
        if id(node) in self.place:
            return self.names[self.place[id(node)]]
        constant = number(node.value)
        return f"({constant})" if constant.startswith("-") else constant


def operation_name(op: Any) -> str:
    """What an operation is called."""
    name = getattr(op, "name", None) or type(op).__name__
    return printable(str(name))


def number(value: Any) -> str:
    """A number, table or array in short; "?" for what is not known."""
    if value is None:
        return "?"
    if isinstance(value, dict):
        return shorten("{" + ", ".join(f"{key!r}: {number(one)}" for key, one in value.items()) + "}")
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        if len(shape) > 1 or shape[0] > 4:
            return f"array{tuple(shape)}"
        return "[" + ", ".join(number(one) for one in value) + "]"
    try:
        return f"{float(value) + 0.0:.{_DIGITS}g}"  # no -0
    except (TypeError, ValueError, OverflowError):
        return shorten(printable(str(value)))


def shorten(text: str) -> str:
    """A text that fits a box."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def shape_of(node: Any) -> str:
    """The shape of a node's value, "" where it has none."""
    shape = getattr(node, "shape", getattr(getattr(node, "value", None), "shape", None))
    return "" if shape is None else printable(str(tuple(shape) if isinstance(shape, list) else shape))


def _is_node(one: Any) -> bool:
    return hasattr(one, "op") and hasattr(one, "inputs")


def _listed(outputs: Any, language: str) -> list[Any]:
    if not isinstance(outputs, Iterable) or isinstance(outputs, str):
        raise TypeError(_not_a_node(outputs, language))
    roots = list(outputs)
    if not roots:
        raise ValueError(Message("draw.no-outputs").text(language))
    return roots


def _not_a_node(one: Any, language: str) -> str:
    return Message("draw.not-a-node", {"kind": type(one).__name__}).text(language)


def _inputs_first(roots: Sequence[Any], language: str) -> list[Any]:
    """Every node that the roots depend on, once, each after its inputs: depth first, without recursion."""
    order: list[Any] = []
    finished: dict[int, bool] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, leaving = stack.pop()
        if leaving:
            finished[id(node)] = True
            order.append(node)
        elif id(node) not in finished:
            if not _is_node(node) or not isinstance(node.inputs, tuple | list):
                raise TypeError(_not_a_node(node, language))
            finished[id(node)] = False
            stack.append((node, True))
            stack.extend((one, False) for one in reversed(node.inputs))
        elif not finished[id(node)]:
            name = printable(_name(node) or operation_name(node.op))
            raise ValueError(Message("draw.cycle", {"name": name}).text(language))
    return order


def _name(node: Any) -> str:
    return str(getattr(node, "name", None) or "")


def _number_in(name: str) -> int:
    """The number at the end of a name: x2 comes before x10."""
    found = re.search(r"[0-9]{1,9}$", name)
    return int(found[0]) if found else 0


def _value(node: Any) -> Any:
    return getattr(node, "value", None)


def _is_constant(leaf: Any) -> bool:
    """Whether a leaf has nothing but a number."""
    value = _value(leaf)
    several = isinstance(value, dict) or bool(getattr(value, "shape", ()))
    return value is not None and not several and not _name(leaf)
