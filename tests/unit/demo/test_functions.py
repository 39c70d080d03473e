"""The functions that the demo differentiates, against exact arithmetic; and lab 1 on them."""

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from programs import lecture, logistic, logistic_slope, rosenbrock, rosenbrock_gradient, rosenbrock_numpy


def test_the_lecture_s_example_has_the_lecture_s_numbers(lab1: Any) -> None:
    x1, x2 = lab1.graph.variable(2.0), lab1.graph.variable(5.0)
    nodes = lecture(x1, x2, lab1.graph.log, lab1.graph.sin)
    assert [round(node.value, 3) for node in nodes] == [2.0, 5.0, 0.693, 10.0, -0.959, 10.693, 11.652]
    adjoints = lab1.engine.reverse_mode(nodes[-1])
    assert adjoints[x1] == pytest.approx(5.5, rel=1e-15)
    assert adjoints[x2] == pytest.approx(2 - math.cos(5), rel=1e-15)
    assert round(adjoints[x2], 3) == 1.716


@pytest.mark.parametrize("n", [0, 1, 2, 5, 10])
def test_n_applications_have_the_slope_of_the_chain_rule(n: int) -> None:
    x = Fraction(3, 10)
    slope, l = Fraction(1), x
    for _ in range(n):
        slope, l = slope * 4 * (1 - 2 * l), 4 * l * (1 - l)
    assert logistic(x, n) == l
    assert logistic_slope(0.3, n) == pytest.approx(float(slope), rel=1e-9)


def test_rosenbrock_s_gradient_is_that_of_its_polynomial() -> None:
    x = np.array([0.5, -1.0, 2.0])
    # f = 100 (b - a²)² + (1 - a)² + 100 (c - b²)² + (1 - b)², by hand at (1/2, -1, 2)
    assert rosenbrock(x) == rosenbrock_numpy(x) == 100 * 1.25**2 + 0.25 + 100 * 1 + 4
    assert rosenbrock_gradient(x).tolist() == [
        -400 * 0.5 * -1.25 - 2 * 0.5,
        200 * -1.25 - 400 * -1 * 1 - 2 * 2,
        200,
    ]


def test_loading_a_lab_leaves_no_module_behind(lab1: Any) -> None:
    assert lab1.engine.__name__ == "engine"
    assert {"graph", "engine"}.isdisjoint(sys.modules)
