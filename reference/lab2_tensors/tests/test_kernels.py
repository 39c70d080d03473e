"""The kernel of the column sum by its laws.

It runs in the checked mode, which sees every access of every thread; without a compiler it doesn't run.
"""

import numpy as np
import pytest

from labkit import cuda

pytestmark = pytest.mark.task("column-sum")
TOLERANCE = 1e-5


@pytest.fixture
def column_sum(kernels, expect):
    """Launches the kernel on an array, and brings back v; nothing may be reported."""
    module = kernels.ready("column_sum")

    def launch(a, block=64):
        rows, columns = a.shape
        v = cuda.empty(columns, np.float32)
        grid = (max(1, -(-columns // block)),)
        module.get_function("column_sum")(grid, (block,), (cuda.asarray(a), v, rows, columns))
        sums = cuda.asnumpy(v)
        expect.no_reports(f"column_sum, a: {a.shape}, block = {block}", module)
        return sums

    return launch


@pytest.fixture
def matrix(draw):
    """A random matrix of signed numbers."""

    def make(rows, columns):
        return np.array(draw.many(rows * columns, -2, 2), np.float32).reshape(rows, columns)

    return make


@pytest.mark.parametrize("columns", [1, 63, 64, 65, 200])
def test_each_entry_adds_to_its_own_column(column_sum, matrix, draw, expect, columns):
    """A matrix with one entry that isn't 0 has that entry as the sum of its column. No thread goes astray.
    只有一个元素非零的矩阵，该列的和就是这个元素。没有线程越界。"""
    for rows in (1, 5, 33):
        a = np.zeros((rows, columns), np.float32)
        i, j = draw.index(rows), draw.index(columns)
        a[i, j] = draw.signed(0.5, 2)
        right = np.zeros(columns, np.float32)
        right[j] = a[i, j]
        expect.equal(
            f"column_sum: a {a.shape} is {a[i, j]} at ({i}, {j}), else 0", column_sum(a), right, TOLERANCE
        )


@pytest.mark.parametrize("block", [32, 48, 128])
def test_rows_add_up(column_sum, matrix, expect, block):
    """The sums of all rows are those of the first rows plus those of the rest, for any size of block.
    所有行的和，等于前几行的和加上其余各行的和；块取任何大小都如此。"""
    for rows, columns in ((2, 129), (40, 7), (7, 40), (70, 70)):
        a = matrix(rows, columns)
        first = column_sum(a[:1].copy(), block)
        expect.equal(f"column_sum, one row of {columns}, block = {block}", first, a[0], TOLERANCE)
        call = f"column_sum, a: {a.shape}, block = {block}"
        expect.equal(call, column_sum(a, block), first + column_sum(a[1:].copy(), block), TOLERANCE)


def test_columns_stay_apart(column_sum, matrix, expect):
    """Columns in another order have their sums in that order.
    列的次序变了，和的次序也跟着变。"""
    a = matrix(9, 100)
    expect.equal(
        "column_sum, columns reversed", column_sum(a[:, ::-1].copy()), column_sum(a)[::-1], TOLERANCE
    )


def test_no_rows_make_zeros(column_sum, expect):
    """The sum of no rows is 0, and it is written.
    没有行时和为 0，也要写入。"""
    expect.equal(
        "column_sum, a: (0, 70)", column_sum(np.zeros((0, 70), np.float32)), np.zeros(70, np.float32)
    )


def test_no_columns_are_no_work(column_sum, expect):
    """With no columns there is nothing to write.
    没有列时什么都不用写。"""
    expect.equal("column_sum, a: (3, 0)", column_sum(np.zeros((3, 0), np.float32)), np.zeros(0, np.float32))
