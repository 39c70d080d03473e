"""Predictions in the notebook, with each student's own numbers; the mathematics stands here once more."""

import math

import numpy as np
import pytest

points = pytest.mark.points
HUNDREDTHS = 0.0151  # answers are rounded to two decimals, and may be off by one in the last


def example(number):
    """The student's (x1, x2) in the lecture's example."""
    return [1.5, 2.5, 3.0, 4.0][number % 4], [1.0, 2.0, 3.0, 4.0][number // 4]


def within(right):
    """The tolerance by which no entry may be off by more than a hundredth and its rounding."""
    return HUNDREDTHS / np.linalg.norm(right)


@points(3)
@pytest.mark.task("predict-nodes")
def test_nodes_in_order_of_creation(compare, personal):
    """Constants become nodes when the operator beside them is called, the rest by precedence.
    常量在旁边的运算被调用时才成为节点，其余次序由优先级决定。"""
    compare("predict_creation", number=personal)


@points(2)
@pytest.mark.task("predict-sweeps")
def test_predicted_tangents(compare, personal):
    """The seven tangents in the direction (1, 0).
    方向 (1, 0) 上的七个切量。"""
    x1, x2 = example(personal)
    right = [1, 0, 1 / x1, x2, 0, 1 / x1 + x2, 1 / x1 + x2]
    compare("predict_tangents", within(right), number=personal)


@points(2)
@pytest.mark.task("predict-sweeps")
def test_predicted_adjoints(compare, personal):
    """The seven adjoints.
    七个伴随量。"""
    x1, x2 = example(personal)
    right = [1 / x1 + x2, x1 - math.cos(x2), 1, 1, -1, 1, 1]
    compare("predict_adjoints", within(right), number=personal)


@points(1)
@pytest.mark.task("predict-sweeps")
def test_predicted_arrivals(compare, personal):
    """How many partial adjoints each node receives.
    每个节点收到几个部分伴随。"""
    compare("predict_arrivals", number=personal)


@points(2)
@pytest.mark.task("predict-wrong-engines")
def test_gradients_that_survive_overwriting(compare, personal):
    """The variables whose gradient is right although the engine overwrites.
    引擎覆盖梯度时，仍然正确的变量。"""
    compare("predict_survivors", number=personal)


@points(2)
@pytest.mark.task("predict-wrong-engines")
def test_nodes_that_breadth_first_order_gets_wrong(compare, personal):
    """The nodes whose adjoint is wrong in a breadth-first traversal.
    按层遍历时伴随量出错的节点。"""
    compare("predict_breadth_first", number=personal)


@pytest.mark.parametrize("step", ["large_step", "small_step"])
@points(3)
@pytest.mark.task("predict-differences")
def test_predicted_differences_in_float32(compare, personal, step):
    """Central differences of θ² + 10⁶ in float32, with a large and a small step.
    θ² + 10⁶ 在 float32 下的中心差分，步长一大一小。"""
    theta = (3, 7, 9, 12, 14, 17, 19, 22)[personal % 8] / 10
    h = {"large_step": 1.0, "small_step": 0.01}[step]
    sixteenths = [round(16 * (theta + side) ** 2) for side in (h, -h)]
    right = (sixteenths[0] - sixteenths[1]) / 32 / h
    near = HUNDREDTHS / abs(right) if right else HUNDREDTHS
    compare("predict_difference", near, number=personal, step=step)
