"""relu, which chooses, and gather, which looks up."""

import numpy as np
import pytest

relu, gather = pytest.mark.task("relu"), pytest.mark.task("gather")
points, cases = pytest.mark.points, pytest.mark.parametrize


@relu
@points(1)
@cases("shape", [(), (6,), (3, 4), (2, 3, 2)], ids=str)
def test_relu_passes_the_adjoint_where_its_input_is_positive(compare, draw, shape):
    """relu in the middle of a chain, with signed adjoints.
    链中的 relu，伴随量有正有负。"""
    compare("rule", operation="relu", arrays=[draw.normal(shape)], vector=draw.normal(shape))


@relu
@points(1)
def test_relu_of_numbers_far_from_1(compare, draw):
    """Inputs of 1e-200 and 1e200 count like all others: only their sign matters.
    1e-200 和 1e200 的输入与其他输入一样：只看符号。"""
    x = np.array([1e-200, -1e-200, 1e200, -1e200, 0.3, -0.3])
    compare("rule", operation="relu", arrays=[x], vector=draw.normal(6), alone=True)


@relu
@points(1)
def test_relu_has_second_derivatives(compare, draw):
    """The derivative of the derivative: what the rule returns is a graph with rules of its own.
    导数的导数：规则返回的是图，其中的运算也有规则。"""
    at = {"arrays": [draw.normal((3, 4))], "vector": draw.normal((3, 4)), "directions": [draw.normal((3, 4))]}
    compare("rule_twice", operation="relu", **at)


@relu
@points(1)
def test_relu_changes_nothing_that_is_not_its_own(compare, draw):
    """Neither its input nor the adjoint is overwritten, which others use too; float32 stays float32.
    既不改写输入，也不改写别处还要用的伴随量；float32 仍是 float32。"""
    for dtype in (np.float64, np.float32):
        x, vector = draw.normal((3, 3)).astype(dtype), draw.normal((3, 3)).astype(dtype)
        compare("undisturbed", operation="relu", arrays=[x], vector=vector)
        compare("kinds_of_partials", operation="relu", arrays=[x])


@relu
@points(0)
def test_relu_itself(compare, draw):
    """The values of relu.
    relu 的值。"""
    compare("given_value", operation="relu", arrays=[draw.normal((3, 4))])


@pytest.fixture
def looked_up(compare, draw):
    """looked_up(shape, indices, axis): gather in a chain."""

    def check(shape, indices, axis=0, dtype=np.float64):
        indices = np.asarray(indices, np.int64)
        vector = np.asarray(draw.normal(np.take(np.ones(shape), indices, axis).shape), dtype)
        arrays = [draw.normal(shape).astype(dtype), indices]
        compare("rule", operation="gather", arrays=arrays, vector=vector, how={"axis": axis})

    return check


@gather
@points(1)
def test_different_rows(looked_up):
    """Rows looked up once each, in another order; rows that nobody looks up.
    各查一次的行，次序不同；还有没查的行。"""
    looked_up((4, 3), [2, 0, 3])
    looked_up((5,), [4, 1])


@gather
@points(2)
def test_the_same_row_twice_adds_up(looked_up):
    """What is looked up several times receives the sum.
    查了几次的，得到几份之和。"""
    looked_up((3, 2), [1, 1, 0, 1])
    looked_up((3,), [2, 2, 2])
    looked_up((3, 3), [[0, 0], [2, 0]])


@gather
@points(1)
def test_along_other_axes(looked_up):
    """Along other axes, also where all lengths are equal; indices of two axes.
    沿其他轴查找，各轴长度相等时也一样；二维的下标。"""
    looked_up((2, 4, 3), [3, 0, 3], 1)
    looked_up((3, 3, 3), [2, 0, 2], 1)
    looked_up((3, 3, 3), [2, 2, 0], -1)
    looked_up((2, 4), [[1, 1, 3], [0, 2, 1]], 1)


@gather
@points(1)
def test_negative_single_and_no_indices(looked_up):
    """Indices from the end, one index, and none.
    从末尾数起的下标、单个下标、没有下标。"""
    looked_up((3, 2), [-1, 0, 2])
    looked_up((3, 2), 1)
    looked_up((3, 2), -2, 1)
    looked_up((3, 2), np.empty(0))


@gather
@points(1)
def test_lookups_have_second_derivatives_and_indices_none(compare, draw):
    """The derivative of the derivative; integers have no gradient; float32 stays float32.
    导数的导数；整数没有梯度；float32 仍是 float32。"""
    arrays, vector = [draw.normal((3, 2)), np.array([1, 1, 0, -1])], draw.normal((4, 2))
    compare("rule_twice", operation="gather", arrays=arrays, vector=vector, directions=[draw.normal((3, 2))])
    compare("kinds_of_partials", operation="gather", arrays=[arrays[0].astype(np.float32), arrays[1]])
    uses, vectors = [[draw.normal((5, 2)), np.array([4, 4])], arrays], [draw.normal((2, 2)), vector]
    compare("one_operation_for_all", operation="gather", uses=uses, vectors=vectors)


@gather
@points(0)
def test_lookups_themselves(compare, draw):
    """The values of gather.
    gather 的值。"""
    for axis in (0, 1):
        arrays = [draw.normal((3, 3)), np.array([[1, 1], [-1, 0]])]
        compare("given_value", operation="gather", arrays=arrays, how={"axis": axis})
