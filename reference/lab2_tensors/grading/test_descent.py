"""A step of gradient descent, as the notebook's cell defines it."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("descent")
points = pytest.mark.points
SHAPES = ((4, 3), (3,), ())


@pytest.fixture
def step(compare, draw):
    """step(dtype, only): the program's answer, and what came in."""

    def run(dtype, only):
        weights, gradients = ([np.array(draw.normal(shape), dtype) for shape in SHAPES] for _ in range(2))
        rate = float(draw.uniform(0.1, 0.9))
        told = compare("step_of_descent", only=only, weights=weights, gradients=gradients, rate=rate)
        right = [weight - rate * gradient for weight, gradient in zip(weights, gradients, strict=True)]
        for one, array in zip(told["stepped"], right, strict=True):
            assert np.allclose(one, array, rtol=1e-5)

    return run


@points(2)
def test_weights_after_a_step(step):
    """The old weights less the learning rate times the gradient.
    旧权重减去学习率乘梯度。"""
    step(np.float64, ["stepped"])


@points(1)
def test_a_step_changes_nothing_that_was_handed_in(step):
    """What was handed in stays as it was, and float32 stays float32.
    传入的数组不变，float32 仍是 float32。"""
    step(np.float32, ["stepped", "weights", "gradients"])
