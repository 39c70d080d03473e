"""Graphs to test on, built with the student's own modules."""

import pytest


@pytest.fixture
def lecture(lab):
    """Builds v1 to v7 of the lecture's example y = ln x1 + x1 x2 - sin x2."""

    def build(x1, x2):
        graph = lab.graph
        v1, v2 = graph.variable(x1, "x1"), graph.variable(x2, "x2")
        v3, v4, v5 = graph.log(v1), v1 * v2, graph.sin(v2)
        v6 = v3 + v4
        return [v1, v2, v3, v4, v5, v6, v6 - v5]

    return build


@pytest.fixture
def random_graph(lab, draw):
    """Builds random nodes on 3 inputs, the last above all of them; given operations only, no large values."""
    operations = [
        lambda graph, a, b: a + b,
        lambda graph, a, b: a - b,
        lambda graph, a, b: graph.tanh(a * b),
        lambda graph, a, b: graph.cos(a) * b,
        lambda graph, a, b: graph.exp(-(a * a)) + b,
    ]

    def build(size=8):
        nodes = [lab.graph.variable(x, f"x{i}") for i, x in enumerate(draw.many(3, -1.5, 1.5), start=1)]
        for _ in range(size):
            a, b = nodes[draw.index(len(nodes))], nodes[draw.index(len(nodes))]
            nodes.append(operations[draw.index(len(operations))](lab.graph, a, b))
        return [*nodes, nodes[-1] * nodes[-2] - nodes[0] * 0.3 + nodes[1] * nodes[2]]

    return build


@pytest.fixture
def chain(lab):
    """Builds a graph of depth n above two inputs: (a, c, output)."""

    def build(n, c=1.0001):
        a, c = lab.graph.variable(0.7, "a"), lab.graph.variable(c, "c")
        output = a
        for _ in range(n):
            output = output * c
        return a, c, output

    return build


@pytest.fixture
def sum_of_products(lab):
    """Builds x1 x2 + x2 x3 + … of n inputs: (inputs, output)."""

    def build(n):
        inputs = [lab.graph.variable(i / n) for i in range(n)]
        output = inputs[0]
        for one, other in zip(inputs, inputs[1:]):
            output = output + one * other
        return inputs, output

    return build
