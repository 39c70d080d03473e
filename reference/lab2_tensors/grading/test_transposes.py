"""Transposes by any axes; two axes that change places hide the inverse, three that go round do not."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("transpose")
points, cases = pytest.mark.points, pytest.mark.parametrize


@pytest.fixture
def turned(compare, draw):
    """turned(shape, axes): a transpose in a chain."""

    def check(shape, axes):
        vector = draw.normal(np.ones(shape).transpose(axes).shape)
        compare("rule", operation="transpose", arrays=[draw.normal(shape)], vector=vector, how={"axes": axes})

    return check


@points(1)
def test_axes_reversed(turned):
    """Without axes they are reversed: matrices and a tensor of three axes.
    不给次序就全部倒过来：矩阵和三个轴的张量。"""
    for shape in ((2, 3), (3, 3), (2, 3, 4)):
        turned(shape, None)


@points(2)
@cases("axes", [[1, 2, 0], [2, 0, 1], [1, 3, 0, 2]], ids=str)
def test_axes_that_go_round(turned, axes):
    """Three or four axes that go round: the way back is another way round.
    三个或四个轴轮换：往回传是另一种轮换。"""
    turned((2, 3, 4, 5)[: len(axes)], axes)


@points(1)
def test_axes_that_go_round_in_a_cube(turned):
    """The same where all lengths are equal, so that a wrong way round has the right shape.
    各轴长度相等时也一样：转错了方向，形状却是对的。"""
    for axes in ([1, 2, 0], [2, 0, 1]):
        turned((3, 3, 3), axes)


@points(1)
def test_axes_from_the_end_and_partial_swaps(turned):
    """Negative axes; the last two axes swapped, as for stacks of matrices; axes that stay.
    负数轴；只交换最后两个轴（矩阵的堆叠）；不动的轴。"""
    for axes in ([-1, 0, -2], [0, 2, 1], [0, 1, 2]):
        turned((2, 3, 4), axes)


@points(1)
def test_transposes_again(compare, draw):
    """The derivative of the derivative; one object at several inputs, float32 too.
    导数的导数；同一个对象用于几个输入，float32 也一样。"""
    x, vector, how = draw.normal((2, 3, 4)), draw.normal((4, 2, 3)), {"axes": [2, 0, 1]}
    directions = [draw.normal((2, 3, 4))]
    compare("rule_twice", operation="transpose", arrays=[x], vector=vector, directions=directions, how=how)
    uses = [[draw.normal((2, 3, 4))], [draw.normal((3, 1, 2))]]
    vectors = [vector, draw.normal((2, 3, 1))]
    compare("one_operation_for_all", operation="transpose", uses=uses, vectors=vectors, how=how)
    compare("kinds_of_partials", operation="transpose", arrays=[x.astype(np.float32)], how=how)


@points(0)
def test_shapes_themselves(compare, draw):
    """The values of transposes.
    转置的值。"""
    for axes in (None, [1, 2, 0], [-1, 0, 1]):
        compare("given_value", operation="transpose", arrays=[draw.normal((2, 3, 4))], how={"axes": axes})
