"""The three wrong engines: what exposes each, and that no smaller graph does."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from labkit.break_it import ENGINES, SMALLEST, NoAnswer, examine


@dataclass(frozen=True)
class Op:
    """An operation: its value and its local derivatives."""

    compute: Any
    partials: Any


@dataclass(eq=False)
class Node:
    value: float
    op: Op | None = None
    inputs: tuple["Node", ...] = ()
    input_values: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.input_values = tuple(node.value for node in self.inputs)


NEGATE = Op(lambda a: -a, lambda values, value: (-1.0,))
SIN = Op(math.sin, lambda values, value: (math.cos(values[0]),))
EXP = Op(math.exp, lambda values, value: (value,))
ADD = Op(lambda a, b: a + b, lambda values, value: (1.0, 1.0))
SUBTRACT = Op(lambda a, b: a - b, lambda values, value: (1.0, -1.0))
MULTIPLY = Op(lambda a, b: a * b, lambda values, value: (values[1], values[0]))
UNARY, BINARY = (NEGATE, SIN, EXP), (ADD, SUBTRACT, MULTIPLY)
LEAVES = (0.0, 1.0, 0.7)


def apply(op: Op, *inputs: Node) -> Node:
    return Node(op.compute(*(node.value for node in inputs)), op, inputs)


def graphs(nodes: int) -> Iterator[list[Node]]:
    """All lists of so many nodes, each a leaf or an operation on nodes before it."""
    if nodes == 0:
        yield []
        return
    for before in graphs(nodes - 1):
        yield from ([*before, Node(value)] for value in LEAVES)
        yield from ([*before, apply(op, a)] for op in UNARY for a in before)
        yield from (
            [*before, apply(op, a, b)] for op in BINARY for a, b in itertools.product(before, repeat=2)
        )


def path(output: Node, leaf: Node) -> list[Node]:
    """Some path from an output to a leaf, [] if there is none."""
    if output is leaf:
        return [leaf]
    return next(([output, *rest] for one in output.inputs if (rest := path(one, leaf))), [])


@pytest.mark.parametrize("engine", ENGINES)
def test_no_graph_with_fewer_nodes_exposes_an_engine(engine: str) -> None:
    tried = 0
    for nodes in graphs(SMALLEST[engine] - 1):
        for leaf in (node for node in nodes[:-1] if not node.inputs):
            if way := path(nodes[-1], leaf):
                tried += 1
                assert not examine(engine, (nodes[-1], leaf, way)).exposed
    assert tried >= {2: 0, 3: 18, 4: 500}[SMALLEST[engine]]


X = Node(3.0)
SQUARE = apply(MULTIPLY, X, X)
Y = Node(0.7)
V = apply(SIN, Y)
W = apply(MULTIPLY, V, V)
SUM = apply(ADD, V, W)
Z = Node(0.0)
INNER = apply(SIN, Z)
OUTER = apply(SIN, INNER)
RIGHT = {
    "overwrite": (SQUARE, X, [SQUARE, X]),
    "breadth-first": (SUM, Y, [SUM, W, V, Y]),
    "once-by-value": (OUTER, Z, [OUTER, INNER, Z]),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_smallest_graph_with_its_lost_path_is_right(engine: str) -> None:
    found = examine(engine, RIGHT[engine])
    assert (found.exposed, found.smallest, found.accounted) == (True, True, True)
    assert found.nodes == SMALLEST[engine]


def test_what_is_right_and_what_is_lost_are_the_chain_rules() -> None:
    found = examine("breadth-first", RIGHT["breadth-first"])
    assert found.right == pytest.approx((1 + 2 * math.sin(0.7)) * math.cos(0.7))
    assert found.missing == pytest.approx(2 * math.sin(0.7) * math.cos(0.7))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_graph_of_another_engine_does_not_pass(engine: str) -> None:
    for other in ENGINES.keys() - {engine}:
        found = examine(engine, RIGHT[other])
        assert not (found.exposed and found.smallest)


def test_a_path_that_carries_another_amount_is_not_the_lost_one() -> None:
    assert not examine("breadth-first", (SUM, Y, [SUM, V, Y])).accounted


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "form"),
        ((SQUARE, X), "form"),
        ((SQUARE, 3.0, [SQUARE, X]), "form"),
        ((SQUARE, Y, [SQUARE, Y]), "graph"),
        ((SUM, V, [SUM, V]), "graph"),
        ((SUM, Y, [SUM, Y]), "path"),
        ((SUM, Y, "SUM to Y"), "path"),
    ],
)
def test_what_can_not_be_examined_says_why(answer: Any, reason: str) -> None:
    with pytest.raises(NoAnswer) as refused:
        examine("breadth-first", answer)
    assert refused.value.reason == reason


def test_a_graph_out_of_all_proportion_is_refused() -> None:
    node = leaf = Node(1.0)
    for _ in range(2000):
        node = apply(NEGATE, node)
    with pytest.raises(NoAnswer, match="size"):
        examine("overwrite", (node, leaf, [node, leaf]))
