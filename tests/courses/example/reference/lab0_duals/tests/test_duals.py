"""Dual numbers against what is known of them."""

import pytest


@pytest.mark.task("product")
def test_the_product_rule(lab, draw, expect):
    """The tangent of a product follows the product rule.
    乘积的切量符合乘积法则。"""
    a, b, da, db = draw.many(4, 0.5, 2)
    y = lab.duals.Dual(a, da) * lab.duals.Dual(b, db)
    expect.equal(f"(Dual({a}, {da}) * Dual({b}, {db})).tangent", y.tangent, da * b + a * db)


@pytest.mark.task("derivative")
def test_a_cube(lab, draw, expect):
    """The derivative of x * x * x is three times the square.
    x * x * x 的导数是平方的三倍。"""
    x = draw.uniform(0.5, 2)
    got = lab.duals.derivative(lambda x: x * x * x, x)
    expect.equal(f"derivative(lambda x: x * x * x, {x})", got, 3 * x * x)
