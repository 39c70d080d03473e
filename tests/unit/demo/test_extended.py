"""Graphs of gradients: used again, differentiated again, and how they grow."""

import itertools
from typing import Any

import numpy as np
import pytest
import sympy

from extended import descend, tanh_by_formula, tanh_derivatives
from growth import distinct, sizes
from programs import rosenbrock_gradient, rosenbrock_numpy, rosenbrock_point


def test_the_formulas_of_tanh_are_sympy_s() -> None:
    x = sympy.Symbol("x")
    for order, values in enumerate(tanh_by_formula(np.array([-1.3, 0.4]))):
        right = [float(sympy.tanh(x).diff(x, order).subs(x, at)) for at in (-1.3, 0.4)]
        assert values == pytest.approx(right, rel=1e-14)


def test_derivatives_from_the_graph_are_those_of_the_formulas(lab2: Any) -> None:
    x = np.linspace(-3, 3, 25)
    found = tanh_derivatives(lab2, x, 3)
    assert len(found) == 4
    for ours, formula in zip(found, tanh_by_formula(x), strict=True):
        np.testing.assert_allclose(ours, formula, rtol=0, atol=1e-14)


def test_a_descent_makes_no_node_and_takes_the_steps_of_the_gradient(lab2: Any) -> None:
    found = descend(lab2, size=10, steps=5)
    point, losses = rosenbrock_point(10), []
    for _ in range(5):
        losses.append(rosenbrock_numpy(point))
        point = point - 1e-3 * rosenbrock_gradient(point)
    assert found.losses == pytest.approx(losses, rel=1e-12)
    assert found.made == 0
    assert min(found.build_seconds, found.run_seconds) > 0


def test_merging_finds_equal_nodes_and_no_others(lab2: Any) -> None:
    graph = lab2.graph
    x, y = graph.variable((2, 3)), graph.variable((2, 3))
    assert distinct(lab2, graph.exp(x) + graph.exp(x)) == 3
    assert distinct(lab2, graph.exp(x) + graph.exp(y)) == 5
    assert distinct(lab2, (x - y) + (y - x)) == 5
    assert distinct(lab2, (x * 2.0) + (x * 2.0)) == 4  # x, 2, their product, the sum
    assert distinct(lab2, (x * 2.0) + (x * 3.0)) == 6
    assert distinct(lab2, graph.sum(graph.sum(x, 0)) + graph.sum(graph.sum(x, 1))) == 6  # other axes


def test_merging_halves_the_eighth_derivative_at_least(lab2: Any) -> None:
    rows = sizes(lab2, 8)
    assert [row.order for row in rows] == list(range(9))
    assert rows[0].nodes == rows[0].merged == 2
    for before, after in itertools.pairwise(rows):
        assert after.nodes > 1.5 * before.nodes
        assert before.merged < after.merged < after.nodes
    assert rows[8].nodes > 2 * rows[8].merged
