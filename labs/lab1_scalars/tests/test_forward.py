"""Forward mode against differences along the direction."""

import pytest

pytestmark = pytest.mark.task("forward-mode")


def test_the_lectures_numbers(lab, lecture, expect):
    """The lecture's example at (2, 5): 5.5 along x1, 1.716 along x2.
    课上的例子在 (2, 5)：沿 x1 为 5.5，沿 x2 为 1.716。"""
    v = lecture(2.0, 5.0)
    for direction, right in (([1.0, 0.0], 5.5), ([0.0, 1.0], 1.7163378145367738)):
        got = lab.engine.forward_mode(v, v[:2], direction)
        expect.tangents(f"forward_mode(v, [v1, v2], {direction})", v, got, v[:2], direction)
        got = lab.engine.forward_mode(v[6], v[:2], direction)
        expect.equal(f"forward_mode(v7, [v1, v2], {direction})", got, [right], 1e-12)


def test_random_graphs(lab, random_graph, draw, expect):
    """Tangents of every node agree with differences along the direction.
    每个节点的切量都与沿该方向的差分一致。"""
    for _ in range(2):
        nodes, direction = random_graph(), draw.many(3, -2, 2)
        inputs = nodes[:3]
        got = lab.engine.forward_mode(nodes, inputs, direction)
        expect.tangents(f"forward_mode(nodes, inputs, {direction})", nodes, got, inputs, direction)


def test_outputs_in_the_order_asked_for(lab, lecture, draw, expect):
    """Tangents come in the order of the outputs, also where one is named twice or is an input.
    切量按输出的次序给出；有重复的输出或输出就是输入时也一样。"""
    v = lecture(draw.uniform(1, 3), draw.signed(0.5, 3))
    direction = draw.many(2, -2, 2)
    every = lab.engine.forward_mode(v, v[:2], direction)
    got = lab.engine.forward_mode([v[6], v[2], v[4], v[6], v[0]], v[:2], direction)
    right = [every[6], every[2], every[4], every[6], every[0]]
    expect.equal(f"forward_mode([v7, v3, v5, v7, v1], [v1, v2], {direction})", got, right)


def test_what_does_not_move(lab, expect):
    """A constant contributes nothing, even if its local derivative is NaN; what stands still has tangent 0.0.
    常量不作贡献，即使它的局部导数是 NaN；不动的输出，切量为 0.0。"""
    a, b = lab.graph.variable(-2.0, "a"), lab.graph.variable(3.0, "b")
    got = lab.engine.forward_mode([a**3, lab.graph.cos(b)], [a], [1.0])
    expect.equal("forward_mode([a ** 3, cos(b)], [a], [1.0]), a = -2", got, [12.0, 0.0])


def test_a_second_pass_starts_afresh(lab, lecture, expect):
    """Nothing of an earlier pass is left over.
    不残留上一次遍历的结果。"""
    v1, v2, *_, v7 = lecture(2.0, 5.0)
    first = lab.engine.forward_mode(v7, [v1], [1.0])
    other = lab.engine.forward_mode(v7, [v2], [1.0])
    expect.equal("forward_mode(v7, [v1], [1.0]), the first time", first, [5.5])
    expect.equal("forward_mode(v7, [v2], [1.0]), after that", other, [1.7163378145367738])


def test_one_pass_for_all_outputs(lab, expect):
    """6,000 outputs cost one pass, not 6,000.
    6,000 个输出只需一次遍历，而不是 6,000 次。"""
    x = lab.graph.variable(0.5, "x")
    outputs = [x]
    for _ in range(6000):
        outputs.append(outputs[-1] * 0.5 + x)
    got = lab.engine.forward_mode(outputs, [x], [1.0])
    expect.equal("forward_mode(outputs, [x], [1.0])[-1]", got[-1], 2.0)
