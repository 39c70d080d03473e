"""Local derivatives of the operations whose partials are blanks, asked for directly."""

import pytest

pytestmark = pytest.mark.task("local-derivatives")
points, cases = pytest.mark.points, pytest.mark.parametrize


def away_from_zero(draw):
    return draw.uniform(0.5, 2.5) * (1 - 2 * draw.integers(0, 2))


@points(2)
def test_division(compare, draw):
    """Both local derivatives of a quotient, operands of either sign.
    商的两个局部导数，操作数可正可负。"""
    for _ in range(3):
        compare("operation", name="divide", at=[away_from_zero(draw), away_from_zero(draw)])


@points(2)
def test_power_with_two_variables(compare, draw):
    """Both local derivatives of a power with positive base.
    底数为正的幂：两个局部导数。"""
    for _ in range(3):
        compare("operation", name="power", at=[draw.uniform(0.3, 3), away_from_zero(draw)])


@points(2)
def test_power_with_a_fixed_exponent(compare, draw):
    """Powers with exponent 0, 1, 2, 3, -1 and 1/2, by the base.
    指数为 0、1、2、3、-1、1/2 的幂，对底数求导。"""
    for exponent in (0, 1, 2, 3, -1, 0.5):
        compare("power_by_base", base=draw.uniform(1.5, 3), exponent=exponent)


@points(2)
def test_power_of_a_negative_base(compare, draw):
    """Powers of a negative base with a whole exponent, by the base.
    底数为负、指数为整数的幂，对底数求导。"""
    for exponent in (0, 1, 2, 3, -1, -2):
        compare("power_by_base", base=draw.uniform(-3, -0.5), exponent=exponent)


@points(2)
def test_logarithm(compare, draw):
    """The local derivative of log, as a tuple of one.
    log 的局部导数，一个元素的元组。"""
    for _ in range(3):
        compare("operation", name="log", at=[draw.uniform(0.1, 5)])


@points(2)
def test_sine(compare, draw):
    """The local derivative of sin, as a tuple of one.
    sin 的局部导数，一个元素的元组。"""
    for low, high in ((-1.4, 1.4), (1.8, 4.4), (5, 9)):  # where the derivative is positive, negative, either
        compare("operation", name="sin", at=[draw.uniform(low, high)])


@points(1)
@cases("name", ["divide", "power"])
def test_one_node_in_both_slots(compare, draw, name):
    """A node divided by itself or raised to itself: one local derivative for each slot.
    节点除以自身、以自身为指数：每个位置各有一个局部导数。"""
    compare("one_node_in_both_slots", name=name, x=draw.uniform(0.5, 3))


@points(2)
def test_in_the_middle_of_a_chain(compare, draw):
    """Local derivatives of nodes whose inputs are results of other operations.
    输入本身也是运算结果时的局部导数。"""
    compare("partials_along_a_chain", x=draw.uniform(1.5, 3), y=draw.uniform(0.5, 2))


@points(1)
@cases("name", ["divide", "power", "log", "sin"])
def test_operations_keep_no_state(compare, draw, name):
    """Asked at one point, at another and at the first again, an operation gives the same; values stay.
    在一点、另一点、再回到原来的点求导，结果一致；传入的值不被改动。"""
    size = 2 if name in ("divide", "power") else 1
    compare("partials_again", name=name, at=draw.uniform(0.5, 3, size), elsewhere=draw.uniform(0.5, 3, size))
