"""Launch configurations, and the evaluator that launches with them: whole numbers, at every boundary."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("launch-configuration")
points, cases = pytest.mark.points, pytest.mark.parametrize

BLOCKS = (32, 128, 1024)


@points(1)
@cases("block", BLOCKS)
def test_whole_blocks_leave_no_block_over(compare, draw, block):
    """Where the points fill whole blocks, there is no further block.
    点数正好填满若干块时，不多开一块。"""
    compare("configurations", n=block * np.array([1, 2, draw.integers(3, 5000)]), block=block)


@points(1)
@cases("block", BLOCKS)
def test_the_rest_gets_a_block_of_its_own(compare, draw, block):
    """Points that fill no whole block get one of their own.
    填不满一块的剩余点，也要有一块。"""
    compare(
        "configurations", n=block * draw.integers(2, 5000, 3) + draw.integers(2, block - 1, 3), block=block
    )


@points(1)
@cases("block", BLOCKS)
def test_one_point_more_or_less_than_whole_blocks(compare, draw, block):
    """One point more or less than whole blocks, and twice a block and seven.
    比整块多一个或少一个点，以及两块加七个点。"""
    k = draw.integers(3, 5000)
    wanted = [2 * block - 1, block + 1, 2 * block + 1, 2 * block + 7, k * block - 1, k * block + 1]
    compare("configurations", n=np.array(wanted), block=block)


@points(1)
@cases("block", BLOCKS)
def test_fewer_points_than_a_block(compare, draw, block):
    """Fewer points than a block get one whole block: the number of threads in it stays as asked for.
    点数不足一块时，仍是完整的一块：每块线程数保持不变。"""
    compare("configurations", n=np.array([1, draw.integers(2, block - 1), block - 1]), block=block)


@points(1)
@cases("block", BLOCKS)
def test_no_points_still_make_one_block(compare, block):
    """No points at all: one block, because a grid without blocks can't be launched.
    一个点都没有：仍有一块，因为没有块的网格无法启动。"""
    compare("configurations", n=np.array([0]), block=block)


@points(1)
def test_the_evaluator_launches_with_it(compare, draw):
    """The evaluator's values and gradients of given operations, at every boundary of its block.
    求值器用它启动：已给运算的值和梯度，点数取遍块的各个边界。"""
    sizes = np.array([0, 1, 31, 33, 255, 256, 257, 519, 1000])
    compare("evaluated", points=draw.uniform(-2, 2, (1000, 2)), parameter=draw.uniform(1, 2), sizes=sizes)
