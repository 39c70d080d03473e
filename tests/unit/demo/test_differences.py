"""Errors of differences against Taylor's theorem and IEEE arithmetic."""

from typing import Any

import numpy as np
import pytest

from differences import DTYPES, EXAMPLES, METHODS, ORDERS, SHIFTED, best_step, errors, estimate, steps
from differences import truncation_slope as slope

SMOOTH = EXAMPLES[:2]  # exp and sin: values and derivatives of about one


@pytest.mark.parametrize("example", SMOOTH, ids=lambda example: example.label)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_curves_have_the_slope_and_the_best_step_of_the_theory(
    lab1: Any, example: Any, method: str, dtype: str
) -> None:
    at = steps()
    found = errors(lab1, example, method, dtype, at)
    best = best_step(example, method, dtype)
    assert slope(at, found, best) == pytest.approx(ORDERS[method], abs=0.1)
    assert 1 / 3 < at[found.argmin()] / best < 3


def test_the_best_steps_of_exp_are_powers_of_epsilon() -> None:
    epsilon = 2.0**-53  # one rounding; f = f'' = f''' for exp
    assert best_step(EXAMPLES[0], "central", "float64") == pytest.approx((3 * epsilon) ** (1 / 3))
    assert best_step(EXAMPLES[0], "forward", "float64") == pytest.approx(2 * epsilon**0.5)


def test_a_parabola_has_no_truncation_in_the_central_difference() -> None:
    assert best_step(SHIFTED, "central", "float64") == float("inf")


def test_a_large_constant_cancels_the_derivative_in_float32(lab1: Any) -> None:
    assert estimate(lab1, SHIFTED, "central", "float32", 0.1) == 1.25
    assert [estimate(lab1, SHIFTED, "central", "float32", 10.0**-k) for k in range(2, 9)] == [0.0] * 7
    assert estimate(lab1, SHIFTED, "central", "float64", 1e-2) == pytest.approx(1.4, abs=1e-6)
    assert np.spacing(np.float32(10**6)) == 0.0625  # what the text says of float32


def test_a_step_of_1e_6_suits_float64_only(lab1: Any) -> None:
    by_dtype = {dtype: errors(lab1, EXAMPLES[0], "central", dtype, [1e-6])[0] for dtype in DTYPES}
    assert by_dtype["float64"] < 1e-9
    assert by_dtype["float32"] > 1e-2
