"""Inputs and graphs in words that a person reads: numbers short, big arrays by their shape, v1 … vN."""

from typing import Any

import msgspec
import numpy as np

from . import judge
from .explain import brief, clean
from .shrink import CODE
from .trace import Trace

_INFIX = {"+", "-", "*", "/", "**"}


class Drawn(msgspec.Struct, frozen=True):
    """A node as pages draw it; `inputs` are places of earlier drawn nodes.

    `number` is its right adjoint or tangent, "" where the pass has none.
    """

    name: str
    formula: str
    inputs: list[int]
    value: str
    number: str


def number(value: float | None, digits: int = 6) -> str:
    """A number of a graph; "" for what is none."""
    return "" if value is None else judge.number(value, digits)


def inputs(values: dict[str, Any]) -> list[tuple[str, str]]:
    """A call's inputs by name, in their order."""
    return [(name, judge.shorten(_input(name, value), 120)) for name, value in values.items()]


def _input(name: str, value: Any) -> str:
    """A random graph's rows by their number: what they build is drawn."""
    return str(len(value)) if name == CODE and isinstance(value, np.ndarray) else brief(value)


class Names:
    """What a trace's nodes are called: v1, v2 … in order of creation, a constant by its number."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.drawn = [node for node in range(len(trace.names)) if not trace.is_constant(node)]
        self.place = {node: place for place, node in enumerate(self.drawn)}

    def name(self, node: int) -> str:
        """The node in a formula."""
        if node in self.place:
            return f"v{self.place[node] + 1}"
        constant = number(self._trace.values[node], 9)
        return f"({constant})" if constant.startswith("-") else constant

    def formula(self, node: int) -> str:
        """How the node is computed: an operation on names; a leaf's kind."""
        operation = clean(self._trace.names[node])
        operands = [self.name(operand) for operand, _ in self._trace.slots(node)]
        if operation in _INFIX and len(operands) == 2:
            return f" {operation} ".join(operands)
        if operation == "neg" and len(operands) == 1:
            return f"-{operands[0]}"
        return f"{operation}({', '.join(operands)})" if operands else operation

    def nodes(self) -> list[Drawn]:
        """Every node but the constants."""
        numbered = self._trace.kind in ("forward_mode", "reverse_mode") and self._trace.numbers
        return [
            Drawn(
                self.name(node),
                self.formula(node),
                list(dict.fromkeys(self.place[i] for i, _ in self._trace.slots(node) if i in self.place)),
                number(self._trace.values[node]),
                number(self._trace.number(node)) if numbered else "",
            )
            for node in self.drawn
        ]
