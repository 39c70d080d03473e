"""Large graphs, at Python's own recursion limit. A pass over each takes a small part of a second."""

import sys

import pytest

pytestmark = pytest.mark.task("scale")
PYTHONS_OWN = 1000  # recursion limit


def test_a_deep_chain(lab, chain, expect):
    """A chain 20,000 deep: the order and the gradient, without recursion.
    深 20,000 层的链：次序和梯度，不用递归。"""
    a, _, output = chain(20_000)
    sys.setrecursionlimit(PYTHONS_OWN)
    expect.equal("len(topological_order(y))", len(lab.graph.topological_order(output)), 20_002)
    expect.equal("sys.getrecursionlimit()", sys.getrecursionlimit(), PYTHONS_OWN)
    expect.equal("reverse_mode(y)[a]", lab.engine.reverse_mode(output)[a], 1.0001**20_000)


def test_very_many_paths(lab, expect):
    """40 times y = y + y: 41 nodes, but 2**40 paths.
    做 40 次 y = y + y：41 个节点，却有 2**40 条路径。"""
    x = y = lab.graph.variable(0.5, "x")
    for _ in range(40):
        y = y + y
    expect.equal("len(topological_order(y))", len(lab.graph.topological_order(y)), 41)
    expect.equal("reverse_mode(y)[x]", lab.engine.reverse_mode(y)[x], 2.0**40)


def test_many_nodes(lab, chain, expect):
    """60,000 nodes take twice the time of 30,000, not four times.
    60,000 个节点用时是 30,000 个的两倍，而不是四倍。"""
    _, _, output = chain(60_000, 1.0)
    expect.equal("len(topological_order(y))", len(lab.graph.topological_order(output)), 60_002)
