"""Singular points, with the answers that the lab's docstrings announce: inf or NaN, never an exception."""

import pytest

pytestmark = pytest.mark.task("corners")
points = pytest.mark.points


@points(1)
def test_power_of_zero_by_its_base_e14(compare):
    """The power of a base 0, by the base: 0, 1, 0, +inf, -inf for exponents 2, 1, 0, 1/2, -1.
    底数为 0 的幂对底数的导数：指数 2、1、0、1/2、-1 时为 0、1、0、+inf、-inf。"""
    for exponent in (2, 1, 0, 0.5, -1):
        compare("power_by_base", base=0.0, exponent=exponent)


@points(1)
def test_power_of_a_negative_base_e15(compare):
    """The power of a negative base, by the base: the rule holds, and nothing is raised.
    底数为负的幂对底数的导数：幂法则照用，不抛异常。"""
    for base, exponent in ((-2.0, -3), (-2.0, 3), (-2.0, 0.5), (-1.5, 0)):
        compare("power_by_base", base=base, exponent=exponent)


@points(1)
def test_power_by_its_exponent_e16(compare):
    """The power of 0, 1 and 2, by the exponent.
    底数为 0、1、2 的幂对指数的导数。"""
    for at in ([0.0, 2.0], [0.0, 0.5], [0.0, 0.0], [2.0, 3.0], [1.0, 5.0]):
        compare("operation", name="power", at=at)


@points(1)
def test_division_by_zero(compare):
    """A number over 0: both local derivatives are infinite, with the right signs.
    除以 0：两个局部导数都是无穷，符号正确。"""
    for numerator in (2.0, -3.0):
        compare("operation", name="divide", at=[numerator, 0.0])


@points(1)
def test_logarithm_at_extreme_points(compare):
    """The derivative of log at 0, and at very small and very large numbers.
    log 在 0 处以及极小、极大的数处的导数。"""
    for x in (0.0, 1e-300, 1e300):
        compare("operation", name="log", at=[x])
