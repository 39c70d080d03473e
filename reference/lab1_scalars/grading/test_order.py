"""Topological order, judged by its edges and never against a list.

Graphs are data, so their edges are known here, and nothing that runs beside a student's code judges an order.
Each has paths of unequal length in mirror image, so a walk that is merely turned round breaks an edge.
"""

import numpy as np
import pytest

order, scale = pytest.mark.task("topological-order"), pytest.mark.task("scale")
points, cases = pytest.mark.points, pytest.mark.parametrize

ADD, SUBTRACT, MULTIPLY = range(3)


def crossed(rows, leaves):
    """rows, whose last node is p, and (p + w) - (w p) above them, where w lies above p by way of v = p q."""
    p = leaves + len(rows) - 1
    q, v, w, left, right = p - 1, p + 1, p + 2, p + 3, p + 4
    above = [(MULTIPLY, p, q), (ADD, v, q), (ADD, p, w), (MULTIPLY, w, p), (SUBTRACT, left, right)]
    return np.array([*rows, *above])


# a and b, u = a b, the crossing with u for p and b for q, and t beside it
NAMES = {"a": 0, "b": 1, "u": 2, "v": 3, "w": 4, "left": 5, "right": 6, "y": 7, "t": 8}
NAMED = np.array([*crossed([(MULTIPLY, 0, 1)], 2), (SUBTRACT, 1, 1)])
CHAIN = np.array([(n % 2, n - 1, 0) for n in range(2, 10_002)])
DOUBLINGS = np.array([(ADD, n, n) for n in range(40)])


def drawn(draw, outputs):
    """A random graph, and which of its nodes are outputs: the last and others, in any order."""
    rows = crossed(draw.dag(14).tolist(), 3)
    others = 8 + np.argsort(draw.uniform(0, 1, 9))[: outputs - 1]
    chosen = np.append(others, 3 + len(rows) - 1)[np.argsort(draw.uniform(0, 1, outputs))]
    return {"graph": rows, "x": draw.uniform(-1, 1, 3), "chosen": chosen}


def edges(graph, x, chosen):
    """Two columns, input and user, with a row for every edge below the chosen nodes."""
    inputs = {n: (i % n, j % n) for n, (_, i, j) in enumerate(graph.tolist(), len(x))}
    needed = set(np.atleast_1d(chosen).tolist())
    for user in sorted(inputs, reverse=True):
        if user in needed:
            needed.update(inputs[user])
    found = [(operand, user) for user in inputs if user in needed for operand in inputs[user]]
    return np.array(found, dtype=int).reshape(-1, 2)


def assert_inputs_first(places, graph, x, chosen):
    """Every input stands before its users, given each node's place in the order."""
    operands, users = edges(graph, x, chosen).T
    broken = (places[operands] < 0) | (places[operands] >= places[users])
    if broken.any():
        operand, user = operands[broken.argmax()], users[broken.argmax()]
        first, second = places[operand], places[user]
        raise AssertionError(
            f"node {operand} is an input of node {user}, but they stand at places {first} and {second} "
            f"/ 节点 {operand} 是节点 {user} 的输入，但在次序中它们的位置是 {first} 和 {second}"
        )


@pytest.fixture
def ordered(compare):
    """ordered(told, **graph): the order holds the right nodes, and every input stands before its users."""

    def check(told, **inputs):
        found = compare("order_of_graph", only=(told, "other_nodes"), **inputs)
        assert_inputs_first(found["places"], **inputs)

    return check


@order
@points(3)
def test_every_input_stands_before_its_users(ordered, draw):
    """In random graphs every input stands before the nodes that use it.
    随机图中，每个输入都排在使用它的节点之前。"""
    for _ in range(3):
        ordered("in_the_order", **drawn(draw, 2))


@order
@points(2)
def test_every_node_appears_exactly_once(ordered, draw):
    """In random graphs with shared nodes every node appears exactly once, after its inputs.
    有共享节点的随机图中，每个节点恰好出现一次，且在其输入之后。"""
    for _ in range(3):
        ordered("times_in_the_order", **drawn(draw, 2))


@order
@points(1)
def test_exactly_what_the_outputs_depend_on(ordered, draw):
    """The order holds all nodes that the outputs depend on and no others, inputs first.
    次序中恰好包含输出所依赖的全部节点，不多不少，输入在前。"""
    for outputs in (1, 2, 3):
        ordered("in_the_order", **drawn(draw, outputs))


@order
@points(2)
@cases("chosen", [["y", "t"], ["t", "y"], ["t", "right", "left"]], ids="-".join)
def test_several_outputs(compare, ordered, draw, chosen):
    """One order for several outputs; the list of outputs itself stays as it was.
    多个输出共用一个次序；传入的输出列表保持不变。"""
    at = {"graph": NAMED, "x": draw.uniform(0.5, 1.5, 2), "chosen": [NAMES[name] for name in chosen]}
    ordered("times_in_the_order", **at)
    compare("outputs_after_ordering", **at)


@order
@points(1)
@cases("chosen", [["y", "u"], ["u", "y"], ["y", "b", "y"]], ids="-".join)
def test_an_output_below_another_output(ordered, draw, chosen):
    """An output may be an input of another output, a leaf, or named twice.
    一个输出可以是另一个输出的输入，可以是叶节点，也可以重复。"""
    places = [NAMES[name] for name in chosen]
    ordered("times_in_the_order", graph=NAMED, x=draw.uniform(0.5, 1.5, 2), chosen=places)


@order
@points(1)
@cases("chosen", ["a", "y"])
def test_one_node_without_a_list(ordered, draw, chosen):
    """A single node, a leaf or not, may be passed without a list.
    可以直接传入单个节点（叶节点或非叶节点），不必放进列表。"""
    ordered("times_in_the_order", graph=NAMED, x=draw.uniform(-2, 2, 2), chosen=NAMES[chosen])


@scale
@points(1)
def test_the_order_of_a_chain_of_10000_e36(compare, draw):
    """Topological order of a chain 10,000 deep, at Python's own recursion limit.
    深 10,000 层的链的拓扑次序（Python 默认递归上限）。"""
    at = {"graph": CHAIN, "x": draw.normal(2), "chosen": 10_001}
    judged = ("in_the_order", "other_nodes", "recursion_limit")
    found = compare("at_the_recursion_limit", only=judged, what="order", **at)
    assert_inputs_first(found["places"], **at)


@scale
@points(1)
def test_the_order_of_2_to_the_40_paths_e37(ordered, draw):
    """Topological order of 40 doublings: 80 edges, 2**40 paths.
    40 次倍增的拓扑次序：80 条边，2**40 条路径。"""
    ordered("in_the_order", graph=DOUBLINGS, x=draw.normal(1), chosen=40)
