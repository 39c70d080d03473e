"""Differences that know their own error: right where a derivative exists, silent where none does."""

import math
import random

import pytest

from labkit.differences import derivative

FUNCTIONS = {
    "cube": (lambda x: x**3, lambda x: 3 * x * x),
    "sine": (math.sin, math.cos),
    "exponential": (math.exp, math.exp),
    "logarithm": (math.log, lambda x: 1 / x),
    "root": (math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / (x * x)),
    "constant": (lambda x: 7.0, lambda x: 0.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_right_derivative_is_allowed_and_one_a_thousandth_off_is_not(name):
    function, right = FUNCTIONS[name]
    draw = random.Random(name)
    for _ in range(200):
        x = draw.uniform(0.01, 5) * (draw.choice([1, -1]) if name in ("cube", "sine", "reciprocal") else 1)
        found = derivative(function, x)
        assert found is not None, x
        assert found.allows(right(x)), x
        assert not found.allows(right(x) + max(abs(right(x)), 0.1) / 1000), x


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (abs, 0.0),
        (lambda x: max(x, 0.0), 0.0),
        (lambda x: math.copysign(1.0, x), 0.0),
        (math.sqrt, 0.0),
        (lambda x: math.pow(abs(x), 1 / 3), 0.0),
        (lambda x: math.nan, 1.0),
        (lambda x: 1 / x, 0.0),
        (math.log, -1.0),
        (lambda x: x, math.inf),
        (lambda x: math.exp(1000 * x), 1.0),
        (lambda x: random.random(), 1.0),
    ],
)
def test_nothing_is_said_at_kinks_singular_points_and_noise(function, x):
    assert derivative(function, x) is None


@pytest.mark.parametrize("number", [math.nan, math.inf, True, "1", None, 1 + 0j])
def test_only_a_real_number_is_allowed(number):
    assert not derivative(lambda x: x, 1.0).allows(number)
