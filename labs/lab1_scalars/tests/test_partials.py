"""Local derivatives against central differences of an operation's own compute."""

import math

import pytest

pytestmark = pytest.mark.task("local-derivatives")

BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


@pytest.mark.parametrize("sign", BINARY)
def test_arithmetic(lab, draw, expect, sign):
    """Both local derivatives agree with differences.
    两个局部导数都与差分一致。"""
    for _ in range(3):
        a, b = draw.signed(0.5, 3), draw.signed(0.5, 3)
        node = BINARY[sign](lab.graph.variable(a), lab.graph.variable(b))
        expect.partials(f"partials: {a} {sign} {b}", node)


def test_powers(lab, draw, expect):
    """a ** b by a and by b agrees with differences.
    a ** b 对 a、对 b 的导数都与差分一致。"""
    for _ in range(3):
        a, b = draw.uniform(0.3, 3), draw.signed(0.5, 3)
        expect.partials(f"partials: {a} ** {b}", lab.graph.variable(a) ** lab.graph.variable(b))


@pytest.mark.parametrize("exponent", [3, 2, -1, -3, 0])
def test_powers_of_negative_numbers(lab, draw, expect, exponent):
    """For a negative base and a whole exponent, the power rule holds as it stands.
    底数为负、指数为整数时，幂法则照用。"""
    base = -draw.uniform(0.5, 2)
    call = f"partials: {base} ** {exponent}"
    answer = expect.local_derivatives(call, lab.graph.variable(base) ** exponent)
    expect.equal(f"{call}[0]", answer[0], exponent * base ** (exponent - 1.0))


@pytest.mark.parametrize("name", ["log", "sin", "cos", "exp", "tanh"])
def test_functions(lab, draw, expect, name):
    """The local derivative agrees with differences, at points of either sign where they exist.
    局部导数与差分一致，正负两边的点都要对。"""
    for _ in range(4):
        x = draw.uniform(0.2, 4) if name == "log" else draw.signed(0.2, 4)
        expect.partials(f"partials: {name}({x})", getattr(lab.graph, name)(lab.graph.variable(x)))


@pytest.mark.parametrize("name", ["log", "sin"])
def test_asking_twice_gives_the_same(lab, draw, expect, name):
    """One operation serves all nodes: asking about another node in between changes nothing.
    一个运算为所有节点服务：中间问过别的节点，结果也不变。"""
    function = getattr(lab.graph, name)
    one, other = function(lab.graph.variable(draw.uniform(1, 2))), function(lab.graph.variable(5.0))
    call = f"partials: {name}({one.inputs[0].value})"
    first = expect.local_derivatives(call, one)
    expect.partials(f"partials: {name}(5.0)", other)
    again = expect.local_derivatives(call, one)
    expect.holds(again == first, call, again)


@pytest.mark.task("corners")
@pytest.mark.parametrize(
    ("a", "b", "slot", "value"),
    [
        (0.0, 2.0, 0, 0.0),
        (0.0, 0.0, 0, 0.0),
        (0.0, 0.5, 0, math.inf),
        (0.0, -1.0, 0, -math.inf),
        (-2.0, -3.0, 0, -0.1875),
        (0.0, 2.0, 1, 0.0),
    ],
)
def test_powers_at_singular_points(lab, expect, a, b, slot, value):
    """At singular points the local derivative is what the README's table says, never an exception.
    在奇异点，局部导数如 README 的表所列，绝不抛异常。"""
    call = f"partials: {a} ** {b}"
    answer = expect.local_derivatives(call, lab.graph.variable(a) ** lab.graph.variable(b))
    expect.equal(f"{call}[{slot}]", answer[slot], value)


@pytest.mark.task("corners")
def test_division_by_zero_and_log_of_zero(lab, expect):
    """Division by 0 and log at 0 have infinite local derivatives, never an exception.
    除以 0 和 log 在 0 处的局部导数是无穷，绝不抛异常。"""
    log, quotient = lab.graph.log(lab.graph.variable(0.0)), lab.graph.variable(-3.0) / 0.0
    for call, node, right in (("log(0.0)", log, [math.inf]), ("-3.0 / 0.0", quotient, [math.inf, math.inf])):
        answer = expect.local_derivatives(f"partials: {call}", node)
        expect.equal(f"partials: {call}", list(answer), right)
