"""Several outputs: their adjoints add."""

import pytest

pytestmark = pytest.mark.task("several-outputs")
points, cases = pytest.mark.points, pytest.mark.parametrize

SHAPES = {"a": (2, 2), "u": (2, 2), "v": (3,), "w": (4,)}


@pytest.fixture
def outputs(compare, draw):
    """outputs("w", "u"): gradients of these outputs together."""

    def check(*names):
        arrays = [draw.normal((2, 2)), draw.normal(3)]
        compare(
            "several", arrays=arrays, names=list(names), vectors=[draw.normal(SHAPES[one]) for one in names]
        )

    return check


@points(1)
def test_outputs_of_different_shapes(outputs):
    """Two outputs that have nothing to do with each other, in either order; all of them count.
    两个互不相关、形状不同的输出，次序任意；都要算进去。"""
    outputs("u", "v")
    outputs("v", "w")


@points(1)
def test_an_output_above_another_output(outputs):
    """An output that another one uses, listed before or after it.
    一个输出被另一个输出使用，列在它前面或后面。"""
    outputs("w", "u")
    outputs("u", "w")


@points(1)
def test_an_output_listed_twice(outputs):
    """An output listed twice counts twice, each time with its own output gradient.
    列出两次的输出算两次，每次用各自的 output_gradients。"""
    outputs("u", "u")
    outputs("w", "v", "w")


@points(1)
def test_an_output_that_is_an_input(outputs):
    """An output that is an input itself: what is given for it arrives there, and adds to the rest.
    输出本身就是输入：给它的伴随量直接到达，并与其他的相加。"""
    outputs("a", "u")
    outputs("w", "a", "v")


@points(1)
def test_random_graphs_with_three_outputs(compare, draw):
    """Three outputs of random graphs, anywhere in the graph.
    随机图的三个输出，位置任意。"""
    for chosen in ([-1, 5, 8], [4, -1, 4], [9, 7, -1]):
        at = {"graph": draw.dag(10), "arrays": [draw.uniform(-1.5, 1.5, (2, 2)) for _ in range(3)]}
        vectors = [draw.normal((2, 2)) for _ in chosen]
        compare("graph_gradients", 1e-11, **at, chosen=chosen, vectors=vectors)
