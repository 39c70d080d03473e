"""The kernel of the column sum: its numbers in several orders of threads, and what the checked mode sees.

Numbers are compared first, at every boundary of two block sizes. Mistakes that numbers may not show on a
machine that runs one thread after another have checks of their own, by the reports of the checked mode.
"""

import numpy as np
import pytest

pytestmark = pytest.mark.task("column-sum")
points, cases = pytest.mark.points, pytest.mark.parametrize

BLOCKS = (64, 256)
# Measured by the size of what a column adds up: the orders in which 1,000 floats can be added differ by 1e-6.
SUMS = 5e-5
MANY = 1000
SIZES = {block: [1, 31, 32, 33, block - 1, block, block + 1, 2 * block + 7, MANY] for block in BLOCKS}

LEFT_OVER = np.array([(7, 1, 64), (5, 63, 64), (65, 33, 64), (3, 129, 128), (2, 519, 256), (4, 0, 64)])
WHOLE = np.array([(3, 64, 64), (33, 128, 64), (2, 512, 256)])  # whole blocks: no thread is left over
BOUNDS = ["out-of-bounds", "null-pointer", "stack-overflow", "misaligned"]
WRITTEN = ["unwritten-output", "uninitialised-read", "write-to-const"]
TOGETHER = ["race", "barrier-missed", "barrier-divergent", "warp-mask"]


def inputs_of(draw, launches):
    """Inputs of column_sum: random signed entries, none near 0."""
    size = max(rows * columns for rows, columns, _ in launches)
    return {
        "numbers": draw.uniform(0.5, 2, size) * (1 - 2 * draw.integers(0, 2, size)),
        "launches": np.array(launches),
    }


@pytest.fixture
def safe(compare, no_reports, draw):
    """safe(kinds, launches): the numbers are right, and there is no report of these kinds."""

    def check(kinds, launches):
        inputs = inputs_of(draw, launches)
        compare("column_sums", SUMS, **inputs)
        no_reports("column_sums", *kinds, **inputs)

    return check


@points(2)
@cases("block", BLOCKS)
def test_every_number_of_columns(compare, draw, block):
    """The sum of each column, for all numbers of columns around the boundaries of a block.
    每一列的和，列数取遍块的各个边界。"""
    for rows in (1, 3, 33):
        compare("column_sums", SUMS, **inputs_of(draw, [(rows, columns, block) for columns in SIZES[block]]))
    compare("column_sums", SUMS, **inputs_of(draw, [(2, 40_000, block)]))  # more than a short counts


@points(1)
@cases("block", BLOCKS)
def test_every_number_of_rows(compare, draw, block):
    """All rows are added, from one row to 1,000, however many columns there are.
    每一行都要加上，行数从 1 到 1000，与列数多少无关。"""
    for columns in (1, 7, 65):
        compare("column_sums", SUMS, **inputs_of(draw, [(rows, columns, block) for rows in SIZES[block]]))


@points(1)
@cases("block", [32, 48, 128, 1024])
def test_any_size_of_block(compare, draw, block):
    """The sums don't depend on how many threads a block has.
    和与每块的线程数无关。"""
    shapes = [(5, 5), (64, 64), (9, 100), (100, 9), (3, 1025)]
    compare("column_sums", SUMS, **inputs_of(draw, [(*shape, block) for shape in shapes]))


@points(1)
def test_columns_stay_apart(compare, draw):
    """A NaN shows in the sum of its own column alone.
    NaN 只影响它所在那一列的和。"""
    rows, columns = 6, 100
    inputs = inputs_of(draw, [(rows, columns, block) for block in BLOCKS])
    for _ in range(3):  # not infinite: sums with a correction (Kahan's) make NaN of inf
        inputs["numbers"][draw.integers(0, rows * columns)] = np.nan
    compare("column_sums", SUMS, **inputs)


@points(1)
def test_no_rows_make_zeros(compare, draw):
    """The sum of no rows is 0, and it is written.
    没有行时和为 0，也要写入。"""
    launches = [(rows, columns, 64) for columns in (1, 64, 70) for rows in (0, 1)]
    compare("column_sums", SUMS, **inputs_of(draw, launches))


@points(1)
def test_threads_without_a_column_touch_nothing(safe):
    """Threads without a column read and write nothing: no access lies outside an array.
    没有对应列的线程什么都不读、不写：没有越界访问。"""
    safe(BOUNDS, LEFT_OVER)


@points(1)
def test_every_sum_is_written_and_nothing_else_is_read(safe):
    """Every entry of v is written, also with no rows; nothing is read that was never written.
    v 的每个元素都写到了，没有行时也一样；不读从未写过的内容。"""
    safe(WRITTEN, np.array([(0, 70, 64), (1, 64, 64), (33, 129, 128)]))


@points(1)
@cases("launches", [WHOLE, LEFT_OVER], ids=["whole-blocks", "left-over"])
def test_threads_do_not_race(safe, launches):
    """No two threads write one place, and every thread of a block comes to its barriers.
    没有两个线程写同一处；块内若有屏障，每个线程都会走到。"""
    safe(TOGETHER, launches)
