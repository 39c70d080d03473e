"""Central differences, by laws that hold exactly for polynomials."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("central-difference")


def cubes(x):
    """The sum of the entries' cubes."""
    return np.sum(x**3)


def test_the_quotient_for_a_given_step(lab, draw, expect):
    """For x**3 the central quotient with step h is exactly 3 x**2 + h**2.
    对 x**3，步长 h 的中心差商恰好是 3 x**2 + h**2。"""
    x, h = np.array(draw.many(3, -2, 2)), draw.uniform(0.1, 0.5)
    gradient, _ = lab.engine.central_difference(cubes, x, h)
    expect.equal(f"central_difference(cubes, {x.tolist()}, {h})[0]", gradient, 3 * x**2 + h**2)


def test_the_gradient_without_a_given_step(lab, draw, expect):
    """Without a given step, the gradient has eight right digits.
    不给步长时，梯度有八位正确数字。"""
    x = np.array(draw.many(4, -1, 1))
    gradient, _ = lab.engine.central_difference(lambda x: np.sum(np.exp(x)) * x[0], x)
    right = np.exp(x) * x[0]
    right[0] += np.sum(np.exp(x))
    expect.equal(f"central_difference(f, {x.tolist()})[0]", gradient, right, 1e-8)


def test_the_calls_are_counted(lab, expect):
    """f is called 2 N times, each time with a fresh array of x's own dtype, and the count says so.
    f 被调用 2 N 次，每次都得到一份类型同 x 的新数组；返回的次数与此相符。"""
    seen = []

    def f(x):
        seen.append(x)
        return np.sum(x * x)

    for dtype in (np.float64, np.float32):
        seen.clear()
        gradient, count = lab.engine.central_difference(f, np.ones(3, dtype))
        expect.equal("central_difference(f, x)[1], N = 3", count, 6)
        expect.equal("calls of f, N = 3", len(seen), 6)
        expect.equal("different arrays given to f, N = 3", len({id(x) for x in seen}), 6)
        expect.equal("central_difference(f, x)[0].dtype", str(gradient.dtype), np.dtype(dtype).name)
        expect.holds(all(x.dtype == dtype for x in seen), "x.dtype", {str(x.dtype) for x in seen})


def test_f_may_write_into_its_argument(lab, expect):
    """f may change the array it is given: neither the gradient nor your x suffers.
    f 可以改写给它的数组：梯度和你的 x 都不受影响。"""

    def f(x):
        x += 1
        return np.sum(x * x)

    x = np.array([1.0, -2.0, 3.0])
    gradient, _ = lab.engine.central_difference(f, x, 0.125)
    expect.equal("central_difference(f, x)[0]", gradient, np.array([4.0, -2.0, 8.0]))
    expect.equal("x", x, np.array([1.0, -2.0, 3.0]))
