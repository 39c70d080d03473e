"""What gradients cost: exact counts, and right gradients on every way."""

from typing import Any

import pytest

from cost import (
    by_differences,
    by_fast_differences,
    by_forward,
    by_reverse,
    counted_ratio,
    error,
    gradient_seconds,
    measured_ratio,
)
from jacobians import filling
from programs import rosenbrock_point


@pytest.mark.parametrize("size", [2, 17, 1000])
def test_central_differences_evaluate_twice_for_each_parameter(lab1: Any, size: int) -> None:
    gradient, evaluations = by_fast_differences(lab1, rosenbrock_point(size))
    assert evaluations == 2 * size
    assert error(gradient) < 1e-7


def test_all_ways_find_the_same_gradient(lab1: Any) -> None:
    x = rosenbrock_point(20)
    gradient, evaluations = by_differences(lab1, x)
    assert evaluations == 40
    assert 1e-15 < error(gradient) < 1e-8
    assert max(error(by_forward(lab1, x)), error(by_reverse(lab1, x))) < 1e-14


def test_n_forward_passes_cost_more_than_one_reverse_pass(lab1: Any) -> None:
    assert gradient_seconds(lab1, by_forward, 100) > 5 * gradient_seconds(lab1, by_reverse, 100)


def test_griewank_s_bound_holds_for_counted_operations(lab1: Any) -> None:
    # A term: 8 operations, 16 edges; x is used four times, bend and slope twice: 3 + 1 + 1 additions.
    assert counted_ratio(lab1, 1000) == pytest.approx((8 + 16 + 5) / 8, abs=0.01)
    assert counted_ratio(lab1, 1000) < 4
    assert measured_ratio(lab1, 10) > 1


def test_a_jacobian_is_filled_by_columns_and_by_rows(lab1: Any) -> None:
    a, b = lab1.graph.variable(2.0), lab1.graph.variable(5.0)
    outputs = [a * b, a + b, a * a]
    matrix = [[5, 2], [1, 1], [4, 0]]
    columns = filling(lab1, outputs, [a, b], "forward").stages
    assert [stage[~(stage != stage)].size for stage in columns] == [3, 6]
    assert columns[0][:, 0].tolist() == [5, 1, 4]
    rows = filling(lab1, outputs, [a, b], "reverse")
    assert [stage[~(stage != stage)].size for stage in rows.stages] == [2, 4, 6]
    assert rows.stages[-1].tolist() == columns[-1].tolist() == matrix
    assert rows._repr_html_().count("reverse ") == 3
