"""Derivatives of derivatives, on all operations together: the rules must stay in the graph."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("higher-order")
points, cases = pytest.mark.points, pytest.mark.parametrize

HIGHER = 1e-10  # third derivatives of tame functions: rounding of 1e-14, wrong rules err by more than 1e-3


@points(1)
def test_first_second_and_third_derivatives(compare, draw):
    """Three times a gradient of a gradient, by sums of tensors.
    连续三次求梯度，中间用张量求和。"""
    compare("orders", HIGHER, x=draw.normal(3), order=3)


@points(1)
@cases(
    "formula",
    ["broadcast_to", "stretch", "sum", "mean", "transpose", "matmul", "stack", "relu", "gather"]
    + ["logsumexp", "softmax", "cross_entropy", "max"],
)
def test_second_derivatives_of_every_operation(compare, draw, formula):
    """Second derivatives through every operation, given or yours.
    经过每个运算的二阶导数，无论是给出的还是你写的。"""
    shape = {"sum": (3,), "mean": (), "gather": (3, 4), "logsumexp": (3,), "cross_entropy": (3,), "max": (3,)}
    shape = {**shape, "stack": (3, 1, 3)}.get(formula, (3, 3))
    arrays, directions = ([draw.normal((3, 3)) for _ in range(2)] for _ in range(2))
    at = {"arrays": arrays, "vector": draw.normal(shape), "directions": directions}
    compare("second_order", HIGHER, formula=formula, **at)


@points(1)
def test_random_graphs_of_any_operations(compare, draw):
    """Random graphs in which every operation occurs, first and second derivatives.
    每个运算都出现的随机图，一阶和二阶导数。"""
    for _ in range(3):
        arrays, directions = ([draw.uniform(-1, 1, (3, 3)) for _ in range(3)] for _ in range(2))
        at = {"graph": draw.dag(9), "arrays": arrays, "vector": draw.normal((3, 3)), "directions": directions}
        compare("anything", HIGHER, **at)


@points(1)
def test_a_whole_hessian_is_symmetric(compare, submission, draw):
    """The Hessian of a function of a matrix, entry by entry, and its symmetry.
    矩阵函数的海森矩阵，逐个元素，以及它的对称性。"""
    x = draw.normal((3, 2))
    compare("whole_hessian", HIGHER, x=x)
    matrix = submission("whole_hessian", x=x)["hessian"].reshape(6, 6)
    assert np.linalg.norm(matrix - matrix.T) <= 1e-10 * np.linalg.norm(matrix), (
        "the Hessian is not symmetric / 海森矩阵不对称"
    )


@points(1)
def test_a_gradient_inside_a_function(compare, draw):
    """The gradient, by the weights, of the squared length of a gradient by the data.
    先对数据求梯度，再对这个梯度的平方长度按权重求梯度。"""
    compare("penalty", HIGHER, x=draw.normal((4, 3)), weights=draw.normal((3, 2)), bias=draw.normal(2))


@points(1)
def test_a_networks_loss(compare, draw):
    """Loss, gradients and Hessian products of a perceptron with a hidden layer.
    有一个隐藏层的感知机：损失、梯度和海森-向量积。"""
    shapes = [(5, 4), (4, 6), (6,), (6, 3)]
    arrays, vectors = ([draw.normal(shape) for shape in shapes] for _ in range(2))
    compare("network", HIGHER, arrays=arrays, labels=np.array([0, 2, 1, 1, 0]), vectors=vectors)
