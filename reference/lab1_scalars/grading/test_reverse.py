"""Reverse mode: adjoints from a random, signed seed."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("reverse-mode")
points = pytest.mark.points


def graph(draw):
    return {"graph": draw.dag(10), "x": draw.uniform(-1.5, 1.5, 3)}


@points(1)
def test_the_lectures_example(compare, draw):
    """Adjoints of v1 to v7 of ln x1 + x1 x2 - sin x2 from a random seed.
    ln x1 + x1 x2 - sin x2 的 v1 到 v7 的伴随量，seed 随机。"""
    compare("lecture_reverse", x1=draw.uniform(0.5, 3), x2=draw.uniform(-3, 3), seed=draw.normal())


@points(1)
def test_the_seed_is_one_unless_given(compare, draw):
    """Without a seed the result is the gradient.
    不给 seed 时，结果就是梯度。"""
    compare("graph_reverse", **graph(draw))


@points(1)
def test_random_graphs(compare, draw):
    """Gradients of random graphs from random seeds.
    随机图的梯度，seed 随机。"""
    for _ in range(3):
        compare("graph_reverse", **graph(draw), seed=draw.normal())


@points(1)
def test_adjoints_of_every_node(compare, draw):
    """The result holds the total adjoint of every node on the way, not of the inputs alone.
    结果包含途中每个节点的总伴随量，而不只是输入的。"""
    for _ in range(3):
        compare("graph_reverse", **graph(draw), seed=draw.normal(), every_node=True)


@points(1)
def test_partial_adjoints_are_recorded(compare, draw):
    """record lists each node's partial adjoints, one for each edge; their sum is its total.
    record 列出每个节点的部分伴随，每条边一个；它们的和就是总伴随量。"""
    compare("adjoints_recorded", x=draw.uniform(0.5, 1.5, 2), seed=draw.normal())


@points(1)
def test_adjoints_are_linear_in_the_seed(compare, submission, draw):
    """A seed several times as large and of the other sign makes all adjoints so.
    seed 放大若干倍并变号，所有伴随量随之放大并变号。"""
    at, seed, factor = graph(draw), draw.normal(), draw.uniform(-3, -2)
    for s in (seed, factor * seed):
        compare("graph_reverse", **at, seed=s)
    one, other = (submission("graph_reverse", **at, seed=s)["gradient"] for s in (seed, factor * seed))
    assert np.linalg.norm(other - factor * one) <= 1e-11 * np.linalg.norm(other), (
        f"the seed is multiplied by {factor:.3g}, the adjoints are not "
        f"/ seed 乘了 {factor:.3g}，伴随量却没有随之放大"
    )


@points(1)
def test_taylor_remainder_falls_with_order_two_e63(compare, submission, draw):
    """What the gradient leaves unexplained falls to a quarter when the step is halved.
    步长减半，梯度的线性近似所剩的余项变为四分之一。"""
    direction = draw.normal(4)
    inputs = {"x": draw.uniform(-1, 1, 4), "direction": direction / np.linalg.norm(direction), "h": 0.01}
    compare("taylor", **inputs)
    told = submission("taylor", **inputs)
    here, *ahead = told["values"]
    slope = told["gradient"] @ inputs["direction"]
    far, near = (abs(value - here - h * slope) for value, h in zip(ahead, (0.01, 0.005), strict=True))
    order = np.log2(far / near)
    # The function is convex, so the second order never vanishes and outweighs the third a hundredfold.
    assert abs(order - 2) < 0.1, (
        f"the remainder falls with order {order:.2f} instead of 2 / 余项以 {order:.2f} 阶下降，应为 2 阶"
    )


@points(1)
def test_inputs_without_influence_and_an_input_as_output(compare, draw):
    """Inputs that the output does not need have no adjoint; an output that is an input has the seed.
    输出用不到的输入没有伴随量；输出本身是输入时，伴随量就是 seed。"""
    compare("reverse_without_influence", x=draw.uniform(-2, 2, 3), seed=draw.normal())


@points(1)
def test_a_second_pass_starts_afresh(compare, draw):
    """Four passes over one graph: no adjoint of an earlier pass is left over, no value changes.
    对同一张图反向四次：不残留上一次的伴随量，也不改变任何值。"""
    compare("reverse_again", x=draw.uniform(0.5, 2, 2), seed=draw.normal())


@points(5)
def test_one_pass_gives_all_adjoints(compare, draw):
    """Adjoints of all 18,000 nodes of a large graph cost one pass; a pass for each node would take minutes.
    一张大图的 18,000 个节点的伴随量只需一次遍历；每个节点遍历一次要好几分钟。"""
    compare("large", shape="river", x=draw.uniform(-2, 2, 1000), seed=draw.normal())
