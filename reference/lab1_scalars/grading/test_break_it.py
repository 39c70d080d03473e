"""The smallest graphs that expose three wrong engines, examined here, where no student's code runs.

A program hands over a graph as text. Its numbers are computed anew from the operations, so it can't lie.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest

from labkit import break_it

pytestmark = pytest.mark.task("break-it")
points, engines = pytest.mark.points, pytest.mark.parametrize("engine", break_it.ENGINES)
CHARACTERS = 20_000

# Operation -> its value and its local derivatives, from its inputs' values.
OPERATIONS = {
    "+": (lambda a, b: a + b, lambda a, b: (1.0, 1.0)),
    "-": (lambda a, b: a - b, lambda a, b: (1.0, -1.0)),
    "*": (lambda a, b: a * b, lambda a, b: (b, a)),
    "/": (lambda a, b: a / b, lambda a, b: (1 / b, -a / b**2)),
    "**": (
        lambda a, b: float(a**b),
        lambda a, b: (b * a ** (b - 1), a**b * math.log(a) if a > 0 else math.nan),
    ),
    "neg": (lambda a: -a, lambda a: (-1.0,)),
    "exp": (math.exp, lambda a: (math.exp(a),)),
    "log": (math.log, lambda a: (1 / a,)),
    "sin": (math.sin, lambda a: (math.cos(a),)),
    "cos": (math.cos, lambda a: (-math.sin(a),)),
    "tanh": (math.tanh, lambda a: (1 - math.tanh(a) ** 2,)),
}


@dataclass(frozen=True)
class Operation:
    """What an engine asks of a node's operation."""

    name: str

    def partials(self, values, value):
        """The local derivatives."""
        return OPERATIONS[self.name][1](*values)


@dataclass(eq=False)
class Node:
    """A node as engines see it."""

    value: float
    op: Operation | None = None
    inputs: tuple[Any, ...] = ()

    @property
    def input_values(self):
        """The values of the inputs."""
        return tuple(operand.value for operand in self.inputs)


def rebuilt(text):
    """(output, input, path) with nodes of our own."""
    described, leaf, path = json.loads(text[:CHARACTERS])
    nodes: list[Node] = []
    for name, places, value in described:
        inputs = tuple(nodes[place] for place in places)
        values = [operand.value for operand in inputs]
        nodes.append(
            Node(OPERATIONS[name][0](*values), Operation(name), inputs) if name else Node(float(value))
        )
    return nodes[-1], nodes[leaf], [nodes[place] for place in path]


def examined(compare, engine):
    """What the wrong engine makes of the student's graph; None where there is no graph."""
    text = compare("break_it", only=["engine"], engine=engine)["graph"]
    try:
        return break_it.examine(engine, rebuilt(text))
    except (break_it.NoAnswer, ValueError, KeyError, TypeError, LookupError, ArithmeticError, RecursionError):
        return None


@points(2)
@engines
def test_each_engine_is_exposed(compare, engine):
    """Each graph makes its engine find a wrong derivative.
    每张图都让对应的引擎求出错误的导数。"""
    found = examined(compare, engine)
    assert found, f"{engine}: no graph, input and path / {engine}：没有图、变量和路径"
    assert found.exposed, (
        f"{engine}: it finds the right derivative, {found.right:.6g} / "
        f"{engine}：它求出的导数 {found.right:.6g} 是对的"
    )


@points(2)
@engines
def test_no_graph_has_a_node_too_many(compare, engine):
    """No graph with fewer nodes does it.
    没有节点更少的图能做到。"""
    found = examined(compare, engine)
    assert found and found.exposed, f"{engine}: not exposed / {engine}：没有暴露"
    assert found.smallest, (
        f"{engine}: {found.nodes} nodes, and fewer would do / {engine}：用了 {found.nodes} 个节点，还可以更少"
    )


@points(1)
@engines
def test_the_lost_path_is_named(compare, engine):
    """What is missing in the derivative is the product of local derivatives along the path named.
    导数中缺少的部分，正是所写路径上各局部导数之积。"""
    found = examined(compare, engine)
    assert found and found.exposed, f"{engine}: not exposed / {engine}：没有暴露"
    assert found.accounted, (
        f"{engine}: along this path nothing of {found.missing:.6g} is lost / "
        f"{engine}：这条路径上丢失的不是 {found.missing:.6g}"
    )
