"""Sums over any axes. Lengths tell nothing: tensors are cubes as well as boxes."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("sum")
points, cases = pytest.mark.points, pytest.mark.parametrize


def axes(axis):
    """As NumPy wants them."""
    return tuple(axis) if isinstance(axis, list) else axis


@pytest.fixture
def summed(compare, draw):
    """summed(shapes, axes): each reduction in a chain, over each of the axes."""

    def check(shapes, axis_list, operation="sum", keepdims=False):
        for shape in shapes:
            for axis in axis_list:
                target = np.sum(np.ones(shape), axis=axes(axis), keepdims=keepdims).shape
                call = {
                    "operation": operation,
                    "arrays": [draw.normal(shape)],
                    "how": {"axis": axis, "keepdims": keepdims},
                }
                compare("rule", vector=draw.normal(target), **call)
                compare("kinds_of_partials", **call)

    return check


@points(1)
def test_over_all_axes(summed):
    """The sum of all entries.
    全部元素之和。"""
    summed([(2, 3, 4), (3, 3), (5,), ()], [None])


@points(1)
@cases("axis", [0, 1, 2])
def test_over_one_axis_of_a_box(summed, axis):
    """The sum over one axis, given as an integer, of a tensor whose lengths all differ.
    沿一个轴（整数）求和，张量各轴长度都不同。"""
    summed([(2, 3, 4)], [axis])


@points(1)
@cases("axis", [0, 1, 2])
def test_over_one_axis_of_a_cube(summed, axis):
    """The sum over one axis of a tensor whose lengths are all equal.
    沿一个轴求和，张量各轴长度都相等。"""
    summed([(3, 3, 3), (2, 2, 2, 2)], [axis])


@points(1)
def test_axes_from_the_end(summed):
    """Negative axes count from the end.
    负数轴从末尾数起。"""
    summed([(2, 3, 4), (3, 3, 3)], [-1, -2, [-1, -3]])


@points(1)
def test_over_several_axes_in_any_order(summed):
    """Several axes, sorted or not.
    沿几个轴求和，次序任意。"""
    summed([(2, 3, 4), (3, 3, 3)], [[0, 2], [2, 0], [1, 0], [2, 1, 0]])


@points(1)
def test_over_no_axes(summed):
    """An empty tuple of axes means no axes: nothing is summed.
    空的轴元组表示不沿任何轴：什么都不求和。"""
    summed([(2, 3), (3, 3)], [[]])


@points(1)
def test_with_kept_axes(summed):
    """With keepdims the summed axes stay, with length 1.
    keepdims 保留被求和的轴，长度为 1。"""
    summed([(2, 3, 4), (3, 3, 3)], [None, 1, [2, 0], []], keepdims=True)


@points(1)
def test_axes_of_length_1(summed):
    """Axes of length 1 among the summed ones and among the others.
    求和的轴与其他轴中都有长度为 1 的轴。"""
    summed([(2, 1, 3), (1, 3, 1)], [0, 1, [0, 2]])


@points(1)
def test_means_in_float32(compare, draw):
    """Means, sums divided by a number: float32 stays float32.
    平均值（和除以一个数）：float32 仍是 float32。"""
    for axis, target in ((None, ()), (1, (2, 4)), ([0, 2], (3,))):
        arrays = [draw.normal((2, 3, 4)).astype(np.float32)]
        vector = np.asarray(draw.normal(target), np.float32)
        for operation in ("mean", "sum"):
            compare("rule", operation=operation, arrays=arrays, vector=vector, how={"axis": axis})


@points(1)
def test_one_operation_serves_inputs_of_several_shapes(compare, draw):
    """One sum object at inputs of different shapes, the first one twice; shapes are the input's.
    同一个求和对象用于不同形状的输入，第一个用两次；部分伴随的形状与输入相同。"""
    uses = [[draw.normal(shape)] for shape in ((2, 3), (3, 2), (4, 2))]
    for keepdims, targets in ((False, [2, 3, 4]), (True, [(2, 1), (3, 1), (4, 1)])):
        vectors, how = [draw.normal(target) for target in targets], {"axis": [1], "keepdims": keepdims}
        compare("one_operation_for_all", operation="sum", uses=uses, vectors=vectors, how=how)
        compare("kinds_of_partials", operation="sum", arrays=uses[0], how=how)


@points(0)
@cases("operation", ["sum", "mean", "max"])
def test_reductions_themselves(compare, draw, operation):
    """The values of sum, mean and max over any axes.
    sum、mean、max 沿任意轴的值。"""
    for axis in (None, 1, -1, [2, 0]):
        for keepdims in (False, True):
            how = {"axis": axis, "keepdims": keepdims}
            compare("given_value", operation=operation, arrays=[draw.normal((2, 3, 4))], how=how)
