"""Large graphs. Sizes are such that a wrong order of cost needs twenty times the CPU limit and more."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("scale")
points = pytest.mark.points


@points(1)
def test_the_order_of_a_chain_of_10000_e36(compare, draw):
    """Topological order of a chain 10,000 deep, at Python's own recursion limit.
    深 10,000 层的链的拓扑次序（Python 默认递归上限）。"""
    compare("large", shape="chain", x=np.array([draw.normal(), 1.0001]), mode="order")


@points(1)
def test_reverse_mode_on_a_chain_of_10000_e36(compare, draw):
    """Reverse mode on a chain 10,000 deep, at Python's own recursion limit.
    深 10,000 层的链的反向模式（Python 默认递归上限）。"""
    x = np.array([draw.normal(), draw.uniform(0.9999, 1.0001)])
    compare("large", shape="chain", x=x, mode="reverse", number=draw.normal())


@points(1)
def test_the_order_of_2_to_the_40_paths_e37(compare, draw):
    """Topological order of 40 doublings: 80 edges, 2**40 paths.
    40 次倍增的拓扑次序：80 条边，2**40 条路径。"""
    compare("large", shape="doublings", x=draw.normal(1), mode="order")


@points(1)
def test_reverse_mode_along_2_to_the_40_paths_e37(compare, draw):
    """Reverse mode through 40 doublings: 2**40 paths.
    40 次倍增的反向模式：2**40 条路径。"""
    compare("large", shape="doublings", x=draw.normal(1), mode="reverse", number=draw.normal())


@points(2)
def test_reverse_mode_on_a_tree_of_8192_leaves(compare, draw):
    """One reverse pass for 8,192 inputs at the leaves of a balanced tree.
    平衡树的 8,192 个叶节点都是输入，一次反向遍历。"""
    compare("large", shape="tree", x=draw.uniform(-2, 2, 8192), mode="reverse", number=draw.normal())
