"""Bypasses: a node that several others use collects what arrives along every path."""

import pytest

pytestmark = pytest.mark.task("bypass")
points, cases = pytest.mark.points, pytest.mark.parametrize


@points(1)
@cases("square_first", [True, False])
def test_square_plus_itself_adds_both_paths(compare, draw, square_first):
    """x * x + x, and x + x * x.
    x * x + x 和 x + x * x。"""
    compare("square_plus_itself", x=draw.normal(), square_first=square_first, seed=draw.normal())


@points(1)
@cases("name", ["add", "subtract", "multiply"])
def test_one_node_in_both_slots_e33(compare, draw, name):
    """x + x, x - x and x * x: each slot contributes on its own.
    x + x、x - x、x * x：每个位置各有贡献。"""
    compare("both_slots", name=name, x=draw.normal(), seed=draw.normal())


@points(1)
@cases("x", [3.0, -0.7])
def test_a_node_over_itself_does_not_change_e33(compare, draw, x):
    """x / x is constant.
    x / x 是常数。"""
    compare("both_slots", name="divide", x=x, seed=draw.normal())


@points(2)
@cases("short_first", [True, False], ids=["short-path-built-first", "long-path-built-first"])
@cases("left", [True, False], ids=["short-path-left", "short-path-right"])
def test_paths_of_unequal_length(compare, draw, short_first, left):
    """Paths of two and of six operations from one node, built and written in either order.
    从同一节点出发、长短不一的路径（两个运算与六个运算），以任意次序构造和书写。"""
    compare("unequal_paths", x=draw.uniform(0.3, 1.2), short_first=short_first, left=left, seed=draw.normal())


@points(1)
@cases("n", [1, 4, 10])
def test_the_logistic_map(compare, draw, n):
    """The logistic map l = 4 l (1 - l), in which every step uses its input twice.
    逻辑斯谛映射 l = 4 l (1 - l)，每一步都两次用到输入。"""
    # Slopes grow like 4**n and rounding with them, in every right order of operations: 1e-16 * 4**10 is
    # 1e-10; whoever goes by float32 in between is off by 6e-8.
    compare("logistic_map", 1e-9 if n == 10 else None, l1=draw.uniform(0.1, 0.9), n=n)


@points(2)
def test_many_bypasses_in_one_pass(compare, draw):
    """Adjoints of all 12,000 nodes of a graph with bypasses side by side and one inside the other: one pass.
    一张有 12,000 个节点的图，旁路并列又嵌套：一次遍历得到所有伴随量。"""
    compare("large", shape="river", x=draw.uniform(-2, 2, 680), seed=draw.normal())
