"""Topological order, judged by its edges and never against a list."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("topological-order")
points, cases = pytest.mark.points, pytest.mark.parametrize


def graph(draw, outputs):
    """A random graph of at least 17 nodes, and which of them are outputs."""
    return {
        "code": draw.dag(14),
        "x": draw.uniform(-1, 1, 3),
        "chosen": 8 + np.argsort(draw.uniform(0, 1, 9))[:outputs],
    }


@points(3)
def test_every_input_stands_before_its_users(compare, draw):
    """In random graphs every input stands before the nodes that use it.
    随机图中，每个输入都排在使用它的节点之前。"""
    for _ in range(3):
        compare("order_of_graph", **graph(draw, 2), law="edges_broken")


@points(2)
def test_every_node_appears_exactly_once(compare, draw):
    """In random graphs with shared nodes every node appears exactly once.
    有共享节点的随机图中，每个节点恰好出现一次。"""
    for _ in range(3):
        compare("order_of_graph", **graph(draw, 2), law="not_exactly_once")


@points(1)
def test_exactly_what_the_outputs_depend_on(compare, draw):
    """The order holds all nodes that the outputs depend on and no others.
    次序中恰好包含输出所依赖的全部节点，不多不少。"""
    for outputs in (1, 2, 3):
        compare("order_of_graph", **graph(draw, outputs), law="missing_or_foreign")


@points(2)
@cases("chosen", [["w", "t"], ["t", "w"], ["t", "v", "a"]], ids="-".join)
def test_several_outputs(compare, draw, chosen):
    """One order for several outputs; the list of outputs itself stays as it was.
    多个输出共用一个次序；传入的输出列表保持不变。"""
    compare("order_of_outputs", x=draw.uniform(0.5, 1.5, 2), chosen=chosen)


@points(1)
@cases("chosen", [["w", "u"], ["u", "w"], ["v", "a", "v"]], ids="-".join)
def test_an_output_below_another_output(compare, draw, chosen):
    """An output may be an input of another output, a leaf, or named twice.
    一个输出可以是另一个输出的输入，可以是叶节点，也可以重复。"""
    compare("order_of_outputs", x=draw.uniform(0.5, 1.5, 2), chosen=chosen)


@points(1)
@cases("leaf", [True, False])
def test_one_node_without_a_list(compare, draw, leaf):
    """A single node, a leaf or not, may be passed without a list.
    可以直接传入单个节点（叶节点或非叶节点），不必放进列表。"""
    compare("order_of_one_node", x=draw.uniform(-2, 2, 2), leaf=leaf)
