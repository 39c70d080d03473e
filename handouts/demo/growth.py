"""How the graphs of derivatives grow with their order, and how far merging equal nodes helps: lab 2."""

from dataclasses import dataclass
from typing import Any

from solved import Lab


@dataclass(frozen=True)
class Size:
    """Nodes in the graph of a derivative of tanh."""

    order: int
    nodes: int
    merged: int  # after nodes that compute the same thing have become one


def sizes(lab: Lab, highest: int) -> list[Size]:
    """The sizes of tanh x and of its derivatives up to an order, each from the one before."""
    x = lab.graph.variable(())
    derivative = lab.graph.tanh(x)
    rows = [Size(0, lab.graph.graph_size(derivative), distinct(lab, derivative))]
    for order in range(1, highest + 1):
        (derivative,) = lab.engine.gradients(derivative, [x])
        rows.append(Size(order, lab.graph.graph_size(derivative), distinct(lab, derivative)))
    return rows


def distinct(lab: Lab, output: Any) -> int:
    """How many different things a graph computes: value numbering, inputs before users.

    Two nodes are equal if they apply the same operation, with the same settings, to equal inputs.
    """
    numbers: dict[Any, int] = {}
    seen: dict[Any, int] = {}
    for node in lab.graph.topological_order(output):
        if node.op is not None:
            settings = tuple(sorted(getattr(node.op, "__dict__", {}).items()))
            key: Any = (type(node.op), settings, tuple(numbers[operand] for operand in node.inputs))
        elif node.value is not None:
            key = (node.shape, node.dtype, node.value.tobytes())
        else:
            key = node
        numbers[node] = seen.setdefault(key, len(seen))
    return len(seen)
