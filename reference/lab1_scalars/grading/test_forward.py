"""Forward mode: tangents along a random direction."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("forward-mode")
points, cases = pytest.mark.points, pytest.mark.parametrize


def graph(draw):
    return {"graph": draw.dag(10), "x": draw.uniform(-1.5, 1.5, 3)}


@points(1)
def test_the_lectures_example(compare, draw):
    """Tangents of v1 to v7 of ln x1 + x1 x2 - sin x2 along a random direction.
    ln x1 + x1 x2 - sin x2 的 v1 到 v7 沿随机方向的切量。"""
    compare("lecture_forward", x1=draw.uniform(0.5, 3), x2=draw.uniform(-3, 3), direction=draw.normal(2))


@points(2)
def test_random_graphs(compare, draw):
    """Tangents of random graphs along random directions.
    随机图沿随机方向的切量。"""
    for _ in range(3):
        compare("graph_forward", **graph(draw), direction=draw.normal(3))


@points(1)
@cases("chosen", [[13, 6, 12], [4, 13, 9, 4]], ids=str)
def test_several_outputs_in_the_order_asked_for(compare, draw, chosen):
    """Several outputs, some above others or named twice: tangents come in the order of the outputs.
    多个输出（可有上下依赖或重复）：切量按输出的次序给出。"""
    compare("graph_forward", **graph(draw), direction=draw.normal(3), chosen=chosen)


@points(1)
def test_tangents_are_linear_in_the_direction(compare, submission, draw):
    """The tangent of a combination of directions is the combination of the tangents.
    方向的线性组合的切量，等于切量的线性组合。"""
    at, u, v, a, b = graph(draw), draw.normal(3), draw.normal(3), draw.normal(), draw.normal()
    directions = (a * u + b * v, u, v)
    for direction in directions:
        compare("graph_forward", **at, direction=direction)
    whole, one, two = (submission("graph_forward", **at, direction=d)["tangents"] for d in directions)
    scale = np.linalg.norm(a * one) + np.linalg.norm(b * two)  # of the parts: they may cancel
    assert np.linalg.norm(whole - (a * one + b * two)) <= 1e-11 * scale, (
        "J (a u + b v) is not a J u + b J v / J (a u + b v) 不等于 a J u + b J v"
    )


@points(1)
def test_directions_belong_to_inputs_by_position(compare, draw):
    """Inputs in another order, with their directions: the same tangents.
    输入换一种次序、方向随之而换：切量不变。"""
    compare("graph_forward", **graph(draw), direction=draw.normal(3), order=[2, 0, 1])


@points(1)
def test_outputs_that_no_moving_input_reaches(compare, draw):
    """Outputs that depend on no moving input have tangent 0.
    不依赖任何变化输入的输出，切量为 0。"""
    compare("forward_without_influence", x=draw.uniform(-2, 2, 3), direction=draw.normal(2))


@points(1)
def test_an_input_that_is_an_output(compare, draw):
    """The tangent of an input is its direction.
    输入自身作为输出时，切量就是它的方向。"""
    compare("forward_inputs_as_outputs", x=draw.uniform(-2, 2, 2), direction=draw.normal(2))


@points(2)
def test_all_outputs_in_one_pass(compare, draw):
    """Tangents of all nodes of a fan-shaped graph with 6,000 outputs cost one pass, not thousands.
    一张有 6,000 个输出的扇形图：所有节点的切量只需一次遍历，而不是几千次。"""
    compare("large", shape="fan", x=draw.uniform(-1, 1, 3000), direction=draw.normal())


@points(1)
def test_a_second_pass_gives_the_same(compare, draw):
    """Three passes over one graph, the second in the opposite direction: no trace is left.
    对同一张图遍历三次（第二次方向相反）：不留痕迹。"""
    compare("forward_again", **graph(draw), direction=draw.normal(3))


@points(1)
def test_a_constant_exponent_keeps_its_nan_to_itself(compare, draw):
    """The tangent of a power of a negative base with constant exponent is a number.
    底数为负、指数为常数的幂，切量是一个数（不是 NaN）。"""
    for exponent in (2, 3, -1):
        compare(
            "forward_fixed_exponent", x=draw.uniform(-3, -0.5), exponent=exponent, direction=draw.normal()
        )
