"""Numbers on the left of an operator."""

import operator

import pytest

from labkit.localise import replayed

pytestmark = pytest.mark.task("reflected-operators")
OPERATORS = {"-": operator.sub, "/": operator.truediv}


@pytest.mark.parametrize("sign", OPERATORS)
def test_a_number_on_the_left(lab, draw, expect, sign):
    """A number on the left: the value is what Python gives for two numbers.
    数在左边：值与 Python 对两个数的结果相同。"""
    for _ in range(3):
        number, x = draw.signed(1, 9), draw.signed(0.5, 2)
        node = OPERATORS[sign](number, lab.graph.variable(x))
        expect.equal(f"({number} {sign} variable({x})).value", node.value, OPERATORS[sign](number, x))


@pytest.mark.parametrize("sign", OPERATORS)
def test_the_result_depends_on_the_node(lab, draw, expect, sign):
    """The result depends on the node on the right: recomputed for another x, it has another value.
    结果依赖于右边的节点：换一个 x 重新计算，值随之改变。"""
    number, here, elsewhere = draw.signed(1, 9), draw.signed(0.5, 2), draw.signed(3, 4)
    x = lab.graph.variable(here)
    (value,) = replayed([OPERATORS[sign](number, x)], {x: elsewhere})
    call = f"{number} {sign} x, made at x = {here}, recomputed at x = {elsewhere}"
    expect.equal(call, value, OPERATORS[sign](number, elsewhere))


def test_several_in_one_formula(lab, draw, expect):
    """Nested formulas with numbers on the left have the right value.
    数在左边的嵌套公式，值正确。"""
    a = draw.uniform(2, 4)
    x = lab.graph.variable(a)
    expect.equal(f"(1 - 3 / x).value, x = {a}", (1 - 3 / x).value, 1 - 3 / a)
    expect.equal(f"(3 / (1 - x)).value, x = {a}", (3 / (1 - x)).value, 3 / (1 - a))
