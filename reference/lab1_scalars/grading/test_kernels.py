"""Backward kernels: what they add, in several orders of threads, and what the checked mode sees.

Numbers are compared first, at every boundary of two block sizes. Mistakes that numbers may not show on a
machine that runs one thread after another have checks of their own, by the reports of the checked mode.
"""

import numpy as np
import pytest

product, logarithm = pytest.mark.task("multiply-backward"), pytest.mark.task("log-backward")
points, cases = pytest.mark.points, pytest.mark.parametrize

BLOCKS = (64, 256)
# Measured by the size of all that is added up: the orders in which 1,000 floats can be added differ by 1e-6.
SUMS = 5e-5
MANY = 1000


def boundaries(blocks):
    """Launches (n, block) around every boundary."""
    return np.array(
        [
            (n, block)
            for block in blocks
            for n in sorted({0, 1, 31, 32, 33, block - 1, block, block + 1, 2 * block + 7, MANY})
        ]
    )


ALL, SOME = boundaries(BLOCKS), np.array([(0, 64), (1, 64), (63, 64), (65, 64), (519, 256), (MANY, 256)])
WHOLE = np.array([(64, 64), (192, 64), (512, 256)])  # whole blocks: no thread is left over
BOUNDS = ["out-of-bounds", "null-pointer", "stack-overflow"]
MEMORY = ["write-to-const", "uninitialised-read", "misaligned"]


def product_inputs(draw, *launches, **more):
    """Inputs of multiply_backward: random signed factors."""
    factors = draw.uniform(0.5, 2, (2, MANY)) * (1 - 2 * draw.integers(0, 2, (2, MANY)))
    return inputs_of("multiply_backward", draw, factors, *launches, **more)


def log_inputs(draw, *launches, **more):
    """Inputs of log_backward."""
    return inputs_of("log_backward", draw, draw.uniform(0.2, 4, (1, MANY)), *launches, **more)


def inputs_of(kernel, draw, operands, launches=ALL, arrived=True, shared=(), aliased=False):
    """Inputs of a backward kernel; without `arrived` nothing stands in the adjoints before."""
    before = draw.normal(operands.shape) * arrived
    if aliased:
        operands[1:], before[1:] = operands[0], before[0]
    for place in shared:
        operands[place] = operands[place, 0]
    return {
        "kernel": kernel,
        "launches": launches,
        "operands": operands,
        "v": np.log(operands[0]) if kernel == "log_backward" else operands[0] * operands[1],
        "upstream": draw.normal(MANY),
        "before": before,
        "shared": list(shared),
        "aliased": aliased,
    }


@pytest.fixture
def safe(compare, no_reports):
    """safe(kinds, inputs): the numbers are right, and there is no report of these kinds."""

    def check(kinds, inputs):
        compare("backward", SUMS, **inputs)
        no_reports("backward", *kinds, **inputs)

    return check


# --- The product --------------------------------------------------------------------------------------------


@product
@points(2)
def test_partial_adjoints_of_both_factors(compare, draw):
    """Both factors' partial adjoints at each point, for all numbers of points and both block sizes.
    每个点上两个因子的部分伴随，点数取遍各个边界，两种块大小。"""
    compare("backward", SUMS, **product_inputs(draw, arrived=False))


@product
@points(1)
def test_threads_of_a_product_without_a_point_touch_nothing(safe, draw):
    """Threads without a point read and write nothing: no access lies outside an array.
    没有对应点的线程什么都不读、不写：没有越界访问。"""
    safe(BOUNDS, product_inputs(draw, SOME, arrived=False))


@product
@points(1)
def test_a_product_adds_to_what_has_arrived(compare, draw):
    """What has arrived from other users stays: the kernel adds to it.
    别的使用者交来的伴随量要保留：核函数在其上累加。"""
    compare("backward", SUMS, **product_inputs(draw))


@product
@points(1)
def test_one_node_as_both_factors(compare, draw):
    """Of x * x both adjoints are one array, and both parts arrive there.
    对 x * x，两个伴随量是同一个数组，两份都要加上。"""
    compare("backward", SUMS, **product_inputs(draw, aliased=True))


@product
@points(1)
@cases("shared", [[0], [1], [0, 1]], ids=["a", "b", "both"])
def test_a_factor_that_all_points_share(compare, draw, shared):
    """The adjoint of a factor that all points share is the sum over the points.
    所有点共用的因子，伴随量是对所有点求和。"""
    compare("backward", SUMS, **product_inputs(draw, shared=shared))


@product
@points(1)
def test_threads_of_a_product_do_not_race(safe, draw):
    """Threads that add to one adjoint do not race, within a block or between blocks.
    往同一个伴随量上加的线程不发生竞争，块内、块间都一样。"""
    for shared in ([0], [1], [0, 1]):
        safe(["race"], product_inputs(draw, WHOLE, shared=shared))


@product
@points(1)
def test_a_product_writes_adjoints_only(safe, draw):
    """Only the adjoints are written; nothing is read that was never written.
    只写伴随量；不读从未写过的内容。"""
    safe(MEMORY, product_inputs(draw, WHOLE, arrived=False))


# --- The logarithm ------------------------------------------------------------------------------------------


@logarithm
@points(2)
def test_partial_adjoints_of_a_logarithm(compare, draw):
    """The partial adjoint at each point, for all numbers of points and both block sizes.
    每个点上的部分伴随，点数取遍各个边界，两种块大小。"""
    compare("backward", SUMS, **log_inputs(draw, arrived=False))


@logarithm
@points(1)
def test_threads_of_a_logarithm_without_a_point_touch_nothing(safe, draw):
    """Threads without a point read and write nothing: no access lies outside an array.
    没有对应点的线程什么都不读、不写：没有越界访问。"""
    safe(BOUNDS, log_inputs(draw, SOME, arrived=False))


@logarithm
@points(1)
def test_a_logarithm_adds_to_what_has_arrived(compare, draw):
    """What has arrived from other users stays: the kernel adds to it.
    别的使用者交来的伴随量要保留：核函数在其上累加。"""
    compare("backward", SUMS, **log_inputs(draw))


@logarithm
@points(1)
def test_an_operand_that_all_points_share(compare, draw):
    """The adjoint of an operand that all points share is the sum over the points.
    所有点共用的操作数，伴随量是对所有点求和。"""
    compare("backward", SUMS, **log_inputs(draw, shared=[0]))


@logarithm
@points(1)
def test_threads_of_a_logarithm_do_not_race(safe, draw):
    """Threads that add to one adjoint do not race, within a block or between blocks.
    往同一个伴随量上加的线程不发生竞争，块内、块间都一样。"""
    safe(["race"], log_inputs(draw, WHOLE, shared=[0]))
