"""Large graphs, for both modes; test_order.py has their order. A wrong order of cost needs many times the CPU
limit, and a seed for every node side by side many times the memory."""

import pytest

pytestmark = pytest.mark.task("scale")
points = pytest.mark.points


@points(1)
def test_both_modes_on_a_chain_of_10000_e36(compare, draw):
    """Both modes on a chain 10,000 deep, at Python's own recursion limit.
    两种模式在深 10,000 层的链上（Python 默认递归上限）。"""
    x = [draw.normal(), draw.uniform(0.9999, 1.0001), 1e-3]
    at = {"shape": "chain", "x": x, "seed": draw.normal(), "direction": draw.normal()}
    compare("at_the_recursion_limit", what="modes", **at)


@points(1)
def test_both_modes_along_2_to_the_40_paths_e37(compare, draw):
    """Both modes through 40 doublings: 2**40 paths.
    两种模式经过 40 次倍增：2**40 条路径。"""
    compare("large", shape="doublings", x=draw.normal(1), seed=draw.normal(), direction=draw.normal())


@points(2)
def test_reverse_mode_through_an_hourglass(compare, draw):
    """2,000 inputs run together into one node and fan out again: all 12,000 adjoints in one pass.
    2,000 个输入汇成一个节点，再散开：一次遍历得到全部 12,000 个伴随量。"""
    compare("large", shape="hourglass", x=draw.uniform(-2, 2, 2000), seed=draw.normal())
