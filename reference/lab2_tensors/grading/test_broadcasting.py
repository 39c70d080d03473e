"""Broadcasting: what was repeated is summed on the way back. A wrong alignment has a wrong shape where
lengths differ and wrong numbers where they are equal, so both occur."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("broadcast-to")
points, cases = pytest.mark.points, pytest.mark.parametrize


@pytest.fixture
def spread(compare, draw):
    """spread((from, to), …): broadcast_to in a chain, for each pair of shapes."""

    def check(*pairs):
        for shape, target in pairs:
            at = {"arrays": [draw.normal(shape)], "vector": draw.normal(target)}
            compare("rule", operation="broadcast_to", how={"shape": list(target)}, **at)

    return check


@points(1)
def test_new_axes_in_front(spread):
    """New axes come in front, and are summed away again: (3,) to (4, 3), () to (2, 3), (2,) to (3, 4, 2).
    新轴加在前面，往回传时要沿新轴求和：(3,) 到 (4, 3)，() 到 (2, 3)，(2,) 到 (3, 4, 2)。"""
    spread(((3,), (4, 3)), ((), (2, 3)), ((2,), (3, 4, 2)), ((4, 2), (3, 4, 2)))


@points(1)
def test_new_axes_where_all_lengths_are_equal(spread):
    """Shapes are aligned at the right, also where lengths are equal by chance: (3,) to (3, 3).
    形状从右端对齐，长度碰巧相等时也一样：(3,) 到 (3, 3)。"""
    spread(((3,), (3, 3)), ((3, 3), (3, 3, 3)), ((2,), (2, 2, 2)))


@points(1)
def test_stretched_axes(spread):
    """An axis of length 1 that was stretched is summed and has length 1 again.
    长度为 1 的轴被拉长：往回传时沿它求和，长度恢复为 1。"""
    spread(((3, 1), (3, 4)), ((1, 3), (2, 3)), ((2, 1, 3), (2, 4, 3)), ((1, 1), (3, 3)), ((3, 1), (3, 3)))


@points(1)
def test_new_and_stretched_axes_together(spread):
    """New axes in front of stretched ones: (1, 3) to (2, 4, 3).
    既有新轴，又有拉长的轴：(1, 3) 到 (2, 4, 3)。"""
    spread(((1, 3), (2, 4, 3)), ((3, 1), (2, 3, 4)), ((1,), (2, 3)), ((2, 1, 2), (2, 2, 2, 2)))


@points(1)
def test_axes_of_length_1_that_stay(spread):
    """Axes of length 1 that nothing stretched: (1, 3) to (2, 1, 3).
    没有被拉长的长度为 1 的轴：(1, 3) 到 (2, 1, 3)。"""
    spread(((1, 3), (2, 1, 3)), ((1,), (1, 1, 1)), ((2, 1), (3, 2, 1)))


SIDES = [((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2, 2)), ((2, 1, 3), (4, 1)), ((3, 3), (3,))]


@points(2)
@cases("operation", ["add", "subtract", "multiply", "divide", "power"])
def test_operators_between_tensors_of_different_shapes(compare, draw, operation):
    """Operators broadcast in every direction: either side, both sides, a scalar, a vector beside a matrix.
    运算符可以朝任何方向广播：左边、右边、两边同时、标量、矩阵旁边的向量。"""
    for left, right in SIDES:
        vector = draw.normal(np.broadcast_shapes(left, right))
        for shapes in ((left, right), (right, left)):
            arrays = [draw.normal(shape) for shape in shapes]
            compare("rule", operation=operation, arrays=arrays, vector=vector)


@points(1)
def test_where_and_maximum_between_different_shapes(compare, draw):
    """maximum of a row and a column; where with a condition of another shape.
    行与列的 maximum；条件形状不同的 where。"""
    row, column, vector = draw.normal(4), draw.normal((3, 1)), draw.normal((3, 4))
    compare("rule", operation="maximum", arrays=[row, column], vector=vector)
    compare("rule", operation="where", arrays=[draw.normal((3, 1)), row, draw.normal(())], vector=vector)


@points(1)
def test_shape_and_dtype_of_the_partial_adjoint(compare, draw):
    """The partial adjoint has the shape and the dtype of the input, float32 too, before anything is computed.
    部分伴随的形状和类型与输入相同（float32 也一样），在计算之前就已确定。"""
    for shape, target in (((1, 3), (2, 4, 3)), ((3,), (3, 3)), ((), (2,))):
        for dtype in (np.float64, np.float32):
            x, how = draw.normal(shape), {"shape": list(target)}
            x = np.asarray(x, dtype)
            compare("kinds_of_partials", operation="broadcast_to", arrays=[x], how=how)
            vector = draw.normal(target).astype(dtype)
            compare("rule", operation="broadcast_to", arrays=[x], vector=vector, how=how)


@points(1)
def test_one_operation_serves_inputs_of_several_shapes(compare, draw):
    """One broadcast_to object at inputs of different shapes, the first one twice; it keeps no state.
    同一个 broadcast_to 对象用于不同形状的输入，第一个用两次；它不保存状态。"""
    uses = [[draw.normal(shape)] for shape in ((3,), (3, 1), (1, 1, 3))]
    vectors, how = [draw.normal((2, 3, 3)) for _ in uses], {"shape": [2, 3, 3]}
    compare("one_operation_for_all", operation="broadcast_to", uses=uses, vectors=vectors, how=how)


@points(0)
def test_broadcasting_itself(compare, draw):
    """The values of broadcast_to and of operators between different shapes.
    broadcast_to 的值，以及形状不同的操作数之间运算的值。"""
    compare("given_value", operation="broadcast_to", arrays=[draw.normal((2, 1))], how={"shape": [3, 2, 4]})
    for left, right in SIDES:
        compare("given_value", operation="subtract", arrays=[draw.normal(left), draw.normal(right)])
