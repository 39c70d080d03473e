"""What the kernels of the corpus compute, and the truth from NumPy, at any size and block."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import (
    IMAGES,
    LINE,
    PLANE,
    POOLS,
    PRODUCT,
    ROWS,
    Case,
    Family,
    Problem,
    Unwritten,
    blocks_for,
    images,
    line,
    normal,
    one,
    plane,
    pooled,
    row_blocks,
    running_sums,
    softmax_of,
    table,
    windows,
    zero,
)

PROBLEMS: dict[str, Problem] = {}


def problem(family: Family) -> Callable[[Callable[..., Case]], Callable[..., Case]]:
    """Adds the function under its own name."""

    def add(make: Callable[..., Case]) -> Callable[..., Case]:
        PROBLEMS[make.__name__] = Problem(make, family)
        return make

    return add


@problem(LINE)
def add(rng: np.random.Generator, block: int, n: int, per: int = 1) -> Case:
    a, b = normal(rng, n), normal(rng, n)
    return line(n, block, [a, b, Unwritten((n,))], {2: a + b}, per)


@problem(LINE)
def add_quarter(rng: np.random.Generator, block: int, n: int) -> Case:
    return add(rng, block, n, per=4)


@problem(LINE)
def add_strided(rng: np.random.Generator, block: int, n: int) -> Case:
    return add(rng, block, n, per=3)


@problem(PLANE)
def add_plane(rng: np.random.Generator, tile: int, rows: int, columns: int) -> Case:
    a, b = normal(rng, rows, columns), normal(rng, rows, columns)
    return plane(tile, rows, columns, [a, b, Unwritten((rows, columns))], {2: a + b})


@problem(LINE)
def axpy(rng: np.random.Generator, block: int, n: int, per: int = 1) -> Case:
    x, y = normal(rng, n), normal(rng, n)
    return line(n, block, [np.float32(1.5), x, y], {2: y + np.float32(1.5) * x}, per)


@problem(LINE)
def axpy_strided(rng: np.random.Generator, block: int, n: int) -> Case:
    return axpy(rng, block, n, per=3)


@problem(LINE)
def relu(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    return line(n, block, [x, Unwritten((n,))], {1: np.maximum(x, 0)}, per=3)


@problem(LINE)
def relu_backward(rng: np.random.Generator, block: int, n: int) -> Case:
    x, dy = normal(rng, n), normal(rng, n)
    x[::7] = 0
    return line(n, block, [x, dy, Unwritten((n,))], {2: np.where(x > 0, dy, 0)}, per=3)


@problem(LINE)
def sigmoid(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    return line(n, block, [x, Unwritten((n,))], {1: 1 / (1 + np.exp(-x))})


@problem(LINE)
def multiply_backward(rng: np.random.Generator, block: int, n: int) -> Case:
    a, b, dy = rng.standard_normal((3, n))
    empty = Unwritten((n,), np.float64)
    return line(n, block, [a, b, dy, empty, empty], {3: dy * b, 4: dy * a})


@problem(LINE)
def log_backward(rng: np.random.Generator, block: int, n: int) -> Case:
    x, (dy, dx) = rng.uniform(1, 2, n), rng.standard_normal((2, n))
    return line(n, block, [x, dy, dx], {2: dx + dy / x})


@problem(LINE)
def pixels(rng: np.random.Generator, block: int, n: int) -> Case:
    x = rng.integers(0, 256, n).astype(np.uint8)
    return line(n, block, [x, Unwritten((n,))], {1: x.astype(np.float32) / 255})


@problem(LINE)
def momentum(rng: np.random.Generator, block: int, n: int) -> Case:
    w, v, g = normal(rng, 3, n)
    after = np.float32(0.9) * v + g
    arguments = [w, v, g, np.float32(0.1), np.float32(0.9)]
    return line(n, block, arguments, {0: w - np.float32(0.1) * after, 1: after})


@problem(LINE)
def reverse_blocks(rng: np.random.Generator, block: int, n: int) -> Case:
    x, blocks = normal(rng, n), blocks_for(n, block)
    padded = np.zeros(blocks * block, np.float32)
    padded[:n] = x
    return line(n, block, [x, Unwritten(padded.shape)], {1: padded.reshape(blocks, block)[:, ::-1].ravel()})


@problem(LINE)
def smooth(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    wide = np.pad(x, 1)
    return line(n, block, [x, Unwritten((n,))], {1: (wide[:-2] + wide[1:-1] + wide[2:]) / 3})


@problem(LINE)
def shift(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    return line(n, block, [x], {0: np.append(x[1:], x[-1:])})


@problem(LINE)
def sum(rng: np.random.Generator, block: int, n: int, per: int = 1, **launch: Any) -> Case:
    x = normal(rng, n)
    return line(n, block, [x, zero()], {1: one(x.sum())}, per, **launch)


@problem(LINE)
def sum_dynamic(rng: np.random.Generator, block: int, n: int) -> Case:
    return sum(rng, block, n, shared_mem=4 * block)


@problem(LINE)
def sum_dynamic_half(rng: np.random.Generator, block: int, n: int) -> Case:
    return sum(rng, block, n, shared_mem=2 * block)


@problem(LINE)
def sum_dynamic_too_much(rng: np.random.Generator, block: int, n: int) -> Case:
    return sum(rng, block, n, shared_mem=64 * 1024)


@problem(LINE)
def sum_into_nothing(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    return line(n, block, [x, Unwritten((1,))], {1: one(x.sum())})


@problem(LINE)
def sum_strided(rng: np.random.Generator, block: int, n: int) -> Case:
    return sum(rng, block, n, per=3)


@problem(LINE)
def block_sums(rng: np.random.Generator, block: int, n: int) -> Case:
    x, blocks = normal(rng, n), blocks_for(n, block)
    sums = np.pad(x, (0, blocks * block - n)).reshape(blocks, block).sum(axis=1)
    return line(n, block, [x, Unwritten((blocks,))], {1: sums})


@problem(LINE)
def largest(rng: np.random.Generator, block: int, n: int) -> Case:
    x = rng.integers(-900, 900, n).astype(np.int32)
    floor = np.array([-1000000], np.int32)
    return line(n, block, [x, floor], {1: x.max(keepdims=True, initial=-1000000)})


@problem(LINE)
def dot(rng: np.random.Generator, block: int, n: int) -> Case:
    a, b = rng.standard_normal((2, n))
    return line(n, block, [a, b, zero(np.float64)], {2: one(a @ b, np.float64)})


@problem(LINE)
def count_positive(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    x[::7] = 0
    return line(n, block, [x, zero(np.int32)], {1: one((x > 0).sum(), np.int32)})


@problem(LINE)
def histogram(rng: np.random.Generator, block: int, n: int) -> Case:
    labels = rng.integers(0, 10, n).astype(np.int32)
    arguments = [labels, np.zeros(10, np.int32), np.int32(n), np.int32(10)]
    truth = np.bincount(labels, minlength=10).astype(np.int32)
    return Case((blocks_for(n, block),), (block,), arguments, {1: truth})


@problem(LINE)
def prefix_sums(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    return line(n, block, [x, Unwritten((n,))], {1: running_sums(x, block)})


@problem(LINE)
def warp_prefix_sums(rng: np.random.Generator, block: int, n: int) -> Case:
    x = normal(rng, n)
    return line(n, block, [x, Unwritten((n,))], {1: running_sums(x, 32)})


@problem(PRODUCT)
def matmul(rng: np.random.Generator, tile: int, m: int, k: int, n: int, square: bool = False) -> Case:
    a, b = normal(rng, m, k), normal(rng, k, n)
    case = plane(tile, m, n, [], {2: a @ b}, square)
    arguments = [a, b, Unwritten((m, n)), np.int32(m), np.int32(k), np.int32(n)]
    return Case(case.grid, case.block, arguments, case.truth)


@problem(PRODUCT)
def matmul_tiles(rng: np.random.Generator, tile: int, m: int, k: int, n: int) -> Case:
    return matmul(rng, tile, m, k, n, square=True)


@problem(ROWS)
def matmul_row_dynamic(rng: np.random.Generator, block: int, m: int, k: int, n: int = 37) -> Case:
    a, b = normal(rng, m, k), normal(rng, k, n)
    arguments = [a, b, Unwritten((m, n)), np.int32(m), np.int32(k), np.int32(n)]
    return Case((m,), (block,), arguments, {2: a @ b}, shared_mem=4 * k)


@problem(PLANE)
def transpose(rng: np.random.Generator, tile: int, rows: int, columns: int, square: bool = False) -> Case:
    x = normal(rng, rows, columns)
    return plane(tile, rows, columns, [x, Unwritten((columns, rows))], {1: x.T}, square)


@problem(PLANE)
def transpose_tiles(rng: np.random.Generator, tile: int, rows: int, columns: int) -> Case:
    return transpose(rng, tile, rows, columns, square=True)


@problem(ROWS)
def matvec(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    a, x = normal(rng, rows, columns), normal(rng, columns)
    return table(32 * rows, block, [a, x, Unwritten((rows,))], {2: a @ x}, rows, columns)


@problem(ROWS)
def column_sum(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    x = normal(rng, rows, columns)
    return table(columns, block, [x, Unwritten((columns,))], {1: x.sum(axis=0)}, rows, columns)


@problem(ROWS)
def column_sum_atomic(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    x = normal(rng, rows, columns)
    return table(rows * columns, block, [x, np.zeros(columns, np.float32)], {1: x.sum(axis=0)}, rows, columns)


@problem(ROWS)
def add_bias(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    x, bias = normal(rng, rows, columns), normal(rng, columns)
    return table(rows * columns, block, [x, bias], {0: x + bias}, rows, columns)


@problem(ROWS)
def gather(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    words, index = normal(rng, 7, columns), rng.integers(0, 7, rows).astype(np.int32)
    arguments = [words, index, Unwritten((rows, columns))]
    return table(rows * columns, block, arguments, {2: words[index]}, rows, columns)


@problem(ROWS)
def gather_backward(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    dy, index = normal(rng, rows, columns), rng.integers(0, 2, rows).astype(np.int32)
    truth = np.zeros((2, columns), np.float32)
    np.add.at(truth, index, dy)
    arguments = [dy, index, np.zeros((2, columns), np.float32)]
    return table(rows * columns, block, arguments, {2: truth}, rows, columns)


@problem(ROWS)
def softmax(rng: np.random.Generator, block: int, rows: int, columns: int, spread: int = 50) -> Case:
    x = spread * normal(rng, rows, columns)
    return row_blocks(block, rows, columns, [x, Unwritten(x.shape)], {1: softmax_of(x)})


@problem(ROWS)
def softmax_mild(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    return softmax(rng, block, rows, columns, spread=1)


@problem(ROWS)
def softmax_thread(rng: np.random.Generator, block: int, rows: int, columns: int, spread: int = 50) -> Case:
    x = spread * normal(rng, rows, columns)
    return table(rows, block, [x, Unwritten(x.shape)], {1: softmax_of(x)}, rows, columns)


@problem(ROWS)
def softmax_thread_mild(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    return softmax_thread(rng, block, rows, columns, spread=1)


@problem(ROWS)
def cross_entropy(rng: np.random.Generator, block: int, rows: int, columns: int, spread: int = 50) -> Case:
    x, labels = spread * normal(rng, rows, columns), rng.integers(0, columns, rows).astype(np.int32)
    hot, most = np.eye(columns, dtype=np.float32)[labels], x.max(axis=1)
    losses = np.log(np.exp(x - most[:, None]).sum(axis=1)) + most - x[np.arange(rows), labels]
    arguments = [x, labels, Unwritten((rows,)), Unwritten(x.shape)]
    return row_blocks(block, rows, columns, arguments, {2: losses, 3: softmax_of(x) - hot})


@problem(ROWS)
def cross_entropy_mild(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    return cross_entropy(rng, block, rows, columns, spread=1)


@problem(ROWS)
def row_sum(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    x = normal(rng, rows, columns)
    return row_blocks(block, rows, columns, [x, Unwritten((rows,))], {1: x.sum(axis=1)})


@problem(ROWS)
def normalise(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    x = normal(rng, rows, columns)
    y = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-3)
    return row_blocks(block, rows, columns, [x, Unwritten(x.shape)], {1: y.astype(np.float32)})


@problem(ROWS)
def best_class(rng: np.random.Generator, block: int, rows: int, columns: int) -> Case:
    x = np.round(normal(rng, rows, columns))  # with ties: the first column counts
    best = x.argmax(axis=1).astype(np.int32)
    return row_blocks(block, rows, columns, [x, Unwritten((rows,), np.int32)], {1: best})


@problem(IMAGES)
def im2col(rng: np.random.Generator, block: int, n: int, c: int, h: int, w: int, side: int) -> Case:
    x = normal(rng, n, c, h, w)
    patches = windows(x, side)
    return images(block, [x, Unwritten(patches.shape)], {1: patches}, patches.size, n, c, h, w, side)


@problem(IMAGES)
def col2im(rng: np.random.Generator, block: int, n: int, c: int, h: int, w: int, side: int) -> Case:
    x = np.zeros((n, c, h, w), np.float32)
    patches = normal(rng, n, c, side, side, h - side + 1, w - side + 1)
    truth = x.copy()
    for dy in range(side):
        for dx in range(side):
            truth[:, :, dy : dy + h - side + 1, dx : dx + w - side + 1] += patches[:, :, dy, dx]
    return images(block, [patches, x], {1: truth}, patches.size, n, c, h, w, side)


@problem(PLANE)
def convolve(rng: np.random.Generator, tile: int, rows: int, columns: int) -> Case:
    x, weights = normal(rng, rows + 2, columns + 2), normal(rng, 3, 3)
    y = np.zeros((rows, columns), np.float32)
    for (dy, dx), weight in np.ndenumerate(weights):
        y += weight * x[dy : dy + rows, dx : dx + columns]
    case = plane(tile, rows, columns, [], {2: y})
    arguments = [x, weights, Unwritten(y.shape), np.int32(rows + 2), np.int32(columns + 2), np.int32(3)]
    return Case(case.grid, case.block, arguments, case.truth)


@problem(POOLS)
def max_pool(rng: np.random.Generator, block: int, planes: int, height: int, width: int) -> Case:
    x = np.round(normal(rng, planes, height, width))  # with ties: the first place counts
    y, places = pooled(x)
    arguments = [x, Unwritten(y.shape), Unwritten(y.shape, np.int32), np.int32(planes)]
    return table(y.size, block, arguments, {1: y, 2: places}, height, width)


@problem(LINE)
def max_pool_backward(rng: np.random.Generator, block: int, n: int) -> Case:
    dy, places = normal(rng, n), rng.integers(0, n // 2 + 1, n).astype(np.int32)
    dx = np.zeros(n // 2 + 1, np.float32)
    truth = dx.copy()
    np.add.at(truth, places, dy)
    return line(n, block, [dy, places, dx], {2: truth})


@problem(POOLS)
def average_pool_backward(rng: np.random.Generator, block: int, planes: int, height: int, width: int) -> Case:
    dy = normal(rng, planes, height // 2, width // 2)
    dx = np.zeros((planes, height, width), np.float32)
    spread = np.repeat(np.repeat(dy / 4, 2, axis=1), 2, axis=2)
    dx[:, : spread.shape[1], : spread.shape[2]] = spread
    arguments = [dy, Unwritten(dx.shape), np.int32(planes)]
    return table(dx.size, block, arguments, {1: dx}, height, width)
