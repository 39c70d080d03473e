"""Central differences. With a given step the quotient is fixed: right answers differ by rounding alone."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("central-difference")
points, cases = pytest.mark.points, pytest.mark.parametrize

QUOTIENT = 1e-11  # rounding of 1e-16 over the steps used here is 3e-14 at most, other quotients err by 1e-5


@points(2)
@cases("n", [2, 5])
def test_quotient_with_a_given_step(compare, draw, n):
    """The quotient of n variables with the given step.
    n 个变量、给定步长的差商。"""
    compare("difference", QUOTIENT, function="wave", x=draw.normal(n), h=draw.uniform(0.05, 0.2))


@points(2)
@cases("h", [0.5, 0.125])
def test_the_error_on_a_cube_is_the_step_squared(compare, submission, draw, h):
    """On a sum of cubes the error is exactly the square of the step.
    对立方和，误差恰为步长的平方。"""
    inputs = {"function": "cubes", "x": draw.uniform(-2, 2, 3), "h": h}
    compare("difference", QUOTIENT, **inputs)
    error = submission("difference", **inputs)["gradient"] - 3 * inputs["x"] ** 2
    assert np.allclose(error / h**2, 1, rtol=1e-9), (
        f"errors {error} are not the step's square {h**2} / 误差 {error} 不是步长的平方 {h**2}"
    )


@points(1)
def test_halving_the_step_shows_order_two(compare, submission, draw):
    """Halving the step divides the error by four.
    步长减半，误差变为四分之一。"""
    x = draw.uniform(-1, 1, 3)
    errors = []
    for h in (0.01, 0.005):
        compare("difference", QUOTIENT, function="exponentials", x=x, h=h)
        gradient = submission("difference", function="exponentials", x=x, h=h)["gradient"]
        errors.append(np.linalg.norm(gradient - np.exp(x)))
    order = np.log2(errors[0] / errors[1])
    # Exactly 2 up to terms of order h**2; a one-sided quotient shows 1.
    assert abs(order - 2) < 0.01, (
        f"the error falls with order {order:.2f} instead of 2 / 误差以 {order:.2f} 阶下降，应为 2 阶"
    )


@points(2)
@cases("n", [1, 4, 7])
def test_two_evaluations_for_each_variable(compare, draw, n):
    """Every variable costs two evaluations, and as many are reported.
    每个变量求值两次，报告的次数与实际一致。"""
    compare("evaluations", x=draw.normal(n), h=0.125)


@points(1)
@cases("h", [None, 0.5])
def test_float32_stays_float32(compare, draw, h):
    """A float32 vector gives float32 points and a float32 gradient.
    float32 的向量得到 float32 的点和 float32 的梯度。"""
    # Values near 1 in float32: rounding of 1e-7 over the default step of 5e-3 is 2e-5; 1e-3 leaves room.
    compare("difference_seen", 1e-3, function="wave", x=draw.uniform(-1, 1, 3).astype(np.float32), h=h)


@points(1)
def test_the_function_may_write_into_its_argument_e81(compare, draw):
    """The function may overwrite its argument; x and the gradients of earlier calls stay as they were.
    函数可以改写自己的参数；x 和先前得到的梯度都保持不变。"""
    for x in (np.array([1.0, 2.0]), draw.uniform(1, 3, 3)):  # a square's quotient: any step will do
        compare("difference_seen", 1e-9, function="writes_into_its_argument", x=x, h=0.125)


@points(1)
def test_the_default_step_is_good_to_seven_digits_e62(compare, draw):
    """Without a step the gradient is right to seven digits, for exp at 1 and elsewhere.
    不给步长时，梯度有七位有效数字（exp 在 1 处及其他点）。"""
    # Any sensible step will do: central differences err by 1e-8 or less for steps from 1e-4 to 1e-8,
    # one-sided ones with the default step by 3e-6.
    compare("difference", 1e-7, function="exponentials", x=np.array([1.0]))
    compare("difference", 1e-7, function="wave", x=draw.normal(4))
