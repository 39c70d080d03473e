"""Jacobian-vector products: tangents along random directions."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("jvp")
points, cases = pytest.mark.points, pytest.mark.parametrize

GRAPHS = 1e-11


def graph(draw):
    return {"graph": draw.dag(8), "arrays": [draw.uniform(-1.5, 1.5, (2, 2)) for _ in range(3)]}


def directions(draw):
    return [draw.normal((2, 2)) for _ in range(3)]


@points(1)
def test_the_lectures_example(compare, draw):
    """The tangent of ln x1 + x1 x2 - sin x2 along a random direction.
    ln x1 + x1 x2 - sin x2 沿随机方向的切量。"""
    arrays, tangents = [draw.uniform(0.5, 3), draw.uniform(-3, 3)], [draw.normal(), draw.normal()]
    compare("pushed_forward", formula="lecture", arrays=arrays, tangents=tangents)


@points(1)
@cases("formula", ["divide", "power", "square_plus", "long_first", "concatenate"])
def test_tangents_of_tensors(compare, draw, formula):
    """Tangents have the shape of the output; only the function's own variables are fed.
    切量的形状与输出相同；只需给函数自己的变量输入数组。"""
    arrays, tangents = [draw.uniform(0.5, 1.2, (2, 3))], [draw.normal((2, 3))]
    compare("pushed_forward", formula=formula, arrays=arrays, tangents=tangents)


@points(1)
def test_random_graphs(compare, draw):
    """Tangents of random graphs as three inputs move at once.
    随机图在三个输入同时移动时的切量。"""
    for _ in range(3):
        compare("graph_tangents", GRAPHS, **graph(draw), tangents=directions(draw))


@points(1)
@cases("chosen", [[-1, 4, 7], [7, -1], [6, 9, 6]], ids=str)
def test_several_outputs_in_their_order(compare, draw, chosen):
    """Tangents come in the order of the outputs, some of which lie above others or are named twice.
    切量按输出的次序给出；输出之间可有上下依赖，也可重复。"""
    compare("graph_tangents", GRAPHS, **graph(draw), tangents=directions(draw), chosen=chosen)


@points(1)
def test_forward_and_backward_agree(compare, submission, draw):
    """<v, J t> = <v J, t> for random v and t.
    对随机的 v 和 t，<v, J t> = <v J, t>。"""
    at, t, v = graph(draw), directions(draw), draw.normal((2, 2))
    compare("graph_tangents", GRAPHS, **at, tangents=t)
    compare("graph_gradients", GRAPHS, **at, chosen=[-1], vectors=[v])
    forward = submission("graph_tangents", **at, tangents=t)["tangents"][0]
    backward = submission("graph_gradients", **at, chosen=[-1], vectors=[v])["gradients"]
    left, right = (
        np.sum(v * forward),
        sum(np.sum(one * other) for one, other in zip(backward, t, strict=True)),
    )
    scale = np.linalg.norm(v) * np.linalg.norm(forward)
    assert abs(left - right) <= 1e-10 * scale, f"<v, J t> = {left}, <v J, t> = {right}"


@points(1)
def test_outputs_that_nothing_moves_and_inputs_as_outputs(compare, draw):
    """What no moving input reaches has zeros of its shape; an input's tangent is its direction.
    移动的输入到达不了的输出，切量是同形状的零；输入自身的切量就是它的方向。"""
    arrays, tangents = [draw.normal((2, 2)) for _ in range(3)], [draw.normal((2, 2)) for _ in range(2)]
    compare("tangents_without_influence", arrays=arrays, tangents=tangents)


@points(1)
def test_dtypes(compare, draw):
    """float32 stays float32; a condition has no tangent and passes one of the branches.
    float32 仍是 float32；条件没有切量，只通过其中一个分支的切量。"""
    arrays = [draw.normal((2, 2)).astype(np.float32) for _ in range(2)]
    compare("pushed_forward", formula="mixed", arrays=arrays, tangents=[one[::-1].copy() for one in arrays])
    arrays, tangents = (
        [draw.normal((2, 2)), draw.uniform(0.5, 1, (2, 2))],
        [draw.normal((2, 2)) for _ in range(2)],
    )
    compare("pushed_forward", formula="conditions", arrays=arrays, tangents=tangents)


@points(1)
def test_tangents_of_tangents(compare, draw):
    """A tangent is graph: along a second direction, and back from it.
    切量也是图：可以再沿第二个方向求切量，也可以从它往回求梯度。"""
    compare("tangent_of_tangent", GRAPHS, arrays=[draw.normal(4)], tangents=[draw.normal(4), draw.normal(4)])
