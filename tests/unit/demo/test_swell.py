"""The swell: sizes against sympy and against their law of growth."""

import itertools
from typing import Any

import pytest
import sympy

from programs import logistic_slope
from swell import AT, Times, by_hand, crossing, derivative, sizes, times, written

X = sympy.Symbol("x")


@pytest.fixture(scope="module")
def rows(lab1: Any) -> dict[int, Any]:
    return {row.n: row for row in sizes(lab1, range(1, 11))}


@pytest.mark.parametrize("n", [4, 6])
def test_sizes_are_what_sympy_counts(rows: dict[int, Any], n: int) -> None:
    l: Any = X
    for _ in range(n):
        l = 4 * l * (1 - l)
    slope = sympy.diff(l, X)
    parts, (rest,) = sympy.cse(slope)
    assert rows[n].tree == sympy.count_ops(slope)
    assert rows[n].shared == sympy.count_ops(rest) + sum(sympy.count_ops(part) for _, part in parts)


def test_the_tree_swells_from_2_to_82176_operations(rows: dict[int, Any]) -> None:
    assert (rows[1].tree, rows[10].tree, rows[10].shared) == (2, 82_176, 237)
    assert all(rows[n + 1].tree > 2.3 * rows[n].tree for n in range(6, 10))


def test_shared_parts_grow_quadratically(rows: dict[int, Any]) -> None:
    shared = [rows[n].shared for n in range(4, 11)]
    assert {a - 2 * b + c for a, b, c in zip(shared, shared[1:], shared[2:], strict=False)} == {4}


def test_two_sweeps_grow_linearly(rows: dict[int, Any]) -> None:
    # Each application: 3 operations, 6 edges, and one value that is used twice.
    assert [rows[n].sweeps for n in range(1, 11)] == [10 * n for n in range(1, 11)]


def test_both_compiled_derivatives_take_time_to_build_and_to_run(lab1: Any) -> None:
    (row,) = times(lab1, [3])
    assert min(row.build_tree, row.build_shared) > row.run_tree > row.run_shared > 0
    assert row.run_reverse > 0


def test_the_crossing_is_where_the_tree_stays_slower() -> None:
    def row(n: int, tree: float) -> Times:
        return Times(n, 1, 1, tree, 1, 10.0)

    assert crossing([row(1, 20), row(2, 5), row(3, 11), row(4, 30)]) == 3
    assert crossing([row(1, 1), row(2, 10)]) is None


@pytest.mark.parametrize("n", [1, 3])
def test_what_is_written_by_hand_is_the_derivative(n: int) -> None:
    function, slope = by_hand(n)
    assert sympy.expand(slope - derivative(n)) == 0
    assert sympy.expand(sympy.diff(function, X) - slope) == 0
    assert float(slope.subs(X, AT)) == pytest.approx(logistic_slope(AT, n), rel=1e-12)


def test_the_derivative_s_formula_gets_nearly_three_times_as_long() -> None:
    letters = [len(str(by_hand(n)[1])) for n in range(2, 7)]
    assert all(2.5 < more / less < 3 for less, more in itertools.pairwise(letters))


def test_each_term_of_a_derivative_has_a_line_of_its_own() -> None:
    assert written(1, *by_hand(1)).splitlines()[2] == (
        r"$$\begin{split} \frac{dl_1}{dx} = & 4 \\ & - 8 x \end{split}$$"
    )
