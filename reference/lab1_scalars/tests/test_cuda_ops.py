"""Launch configurations by their laws, and the evaluator against the numbers of its graph."""

import math

import numpy as np
import pytest

pytestmark = pytest.mark.task("launch-configuration")


def sizes(block, draw):
    """Numbers of points around every boundary, and some others."""
    k = 2 + draw.index(1000)
    return [
        1,
        block - 1,
        block,
        block + 1,
        2 * block + 7,
        k * block,
        k * block + draw.index(block),
        1_000_000,
    ]


@pytest.mark.parametrize("block", [32, 256, 1024])
def test_a_thread_for_each_point_and_no_block_too_many(lab, draw, expect, block):
    """There is a thread for each point, and no block without any point. Grid and block are tuples of one int.
    每个点都有线程，且没有一个点都不管的块。网格和块都是一个整数的元组。"""
    for n in sizes(block, draw):
        call = f"launch_configuration({n}, {block})"
        answer = lab.cuda_ops.launch_configuration(n, block)
        shaped = isinstance(answer, tuple) and [type(part) for part in answer] == [tuple, tuple]
        expect.holds(shaped and [len(part) for part in answer] == [1, 1], call, answer)
        (blocks,), (threads,) = answer
        expect.holds(type(blocks) is int and threads == block, call, answer)
        expect.holds(0 <= blocks * block - n < block, call, answer)


def test_no_points_make_one_block(lab, expect):
    """No points at all still make one block: a grid without blocks can't be launched.
    一个点都没有也要有一块：没有块的网格无法启动。"""
    answer = lab.cuda_ops.launch_configuration(0, 128)
    expect.holds(answer == ((1,), (128,)), "launch_configuration(0, 128)", answer)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 600])
def test_the_evaluator_at_many_points(lab, kernels, draw, expect, n):
    """The evaluator finds what the graph says, at every point; here of given operations only.
    求值器在每个点上得到与计算图一致的值；这里只用已给的运算。"""
    kernels.ready()
    graph, scale = lab.graph, draw.signed(0.5, 2)
    x, c = graph.variable(1.0), graph.variable(scale)
    evaluator = lab.cuda_ops.DeviceEvaluator(graph.tanh(graph.cos(x) - c), [x], backend="cpu-check")
    points = np.linspace(-2, 2, n, dtype=np.float32)[:, None]
    got = evaluator.value(points)
    right = [math.tanh(math.cos(one) - scale) for one in points[:, 0].tolist()]
    expect.equal(f"evaluator.value(points), n = {n}", got, np.array(right, np.float32), 1e-5)
    expect.no_reports(f"evaluator.value(points), n = {n}", evaluator.module)
