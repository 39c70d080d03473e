"""Large graphs. Whoever walks each path or recurses needs many times the limits."""

import pytest

pytestmark = pytest.mark.task("scale")
points = pytest.mark.points


@points(1)
def test_a_deep_chain(compare, draw):
    """A chain 10,000 deep, at Python's own recursion limit, which stays as it is.
    深 10,000 层的链（Python 默认递归上限，且不得改动它）。"""
    at = {"x": draw.normal(2), "factor": draw.uniform(0.9999, 1.0001, 2), "vector": draw.normal(2)}
    compare("deep_chain", 1e-9, **at, depth=10_000)


@points(1)
def test_2_to_the_60_paths(compare, draw):
    """60 doublings: 60 nodes, 2**60 paths.
    60 次倍增：60 个节点，2**60 条路径。"""
    compare("doublings", x=draw.normal(3), vector=draw.normal(3), times=60)


@points(1)
def test_gradient_graphs_grow_linearly(compare, draw):
    """The graph of a gradient has a few nodes for each node of the function, however long that is.
    梯度的图对函数的每个节点只增加几个节点，函数再长也一样。"""
    compare("growth", x=draw.uniform(0.1, 0.9, 2), lengths=[20, 200])
