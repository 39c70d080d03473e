"""What a case is made of: inputs, launch and truth; at which sizes and blocks; what many of them share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Size = tuple[int, ...]
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Unwritten:
    """A buffer in which nothing is stored yet."""

    shape: Size
    dtype: type = np.float32


@dataclass(frozen=True)
class Case:
    """One launch: arrays are copied to the device; `truth` has what an argument must hold afterwards."""

    grid: Size
    block: Size
    arguments: list[Any]
    truth: dict[int, Array]
    shared_mem: int = 0


@dataclass(frozen=True)
class Problem:
    """A function of block and size that makes a case, with the sizes and blocks at which it is tried."""

    make: Callable[..., Case]
    family: "Family"

    def case(self, block: int, size: Size) -> Case:
        """The same numbers for the same block and size."""
        return self.make(np.random.default_rng([block, *size]), block, *size)


@dataclass(frozen=True)
class Family:
    """Sizes around each boundary, for one or more indices; the first of `few` is for wrong kernels."""

    blocks: Size
    sizes: Callable[[int], list[Size]]
    few: list[Size]

    def everything(self) -> list[tuple[int, Size]]:
        """All blocks with all their sizes."""
        return [(block, size) for block in self.blocks for size in self.sizes(block)]

    def some(self) -> list[tuple[int, Size]]:
        """The few sizes, for what is not tried at all of them."""
        return [(block, size) for block in self.blocks for size in self.few]


def around(block: int) -> list[int]:
    """The lengths at which one index goes wrong."""
    return [0, 1, 31, 32, 33, block - 1, block, block + 1, 1000, 2 * block + 7]


LINE = Family((64, 256), lambda block: [(n,) for n in around(block)], [(1000,), (0,), (33,)])
PLANE = Family(
    (8, 16),
    lambda t: [(0, 3), (1, 1), (1, 33), (t - 1, t + 1), (t, t), (t + 1, t - 1), (33, 70), (2 * t + 7, 5)],
    [(33, 21), (0, 3), (17, 40)],
)
PRODUCT = Family(
    (8, 16),
    lambda t: [
        *((0, 3, 4), (3, 0, 5), (1, 1, 1), (5, 33, 3), (33, 2 * t + 7, 20)),
        *((t, t, t), (t - 1, t, t + 1), (t + 1, t - 1, t)),
    ],
    [(17, 35, 20), (5, 33, 3), (3, 0, 5)],
)
ROWS = Family(
    (64, 256),
    lambda block: [(1 + n % 4, n) for n in around(block) if n] + [(33, 10), (block + 6, 3)],
    [(5, 300), (3, 31), (33, 10)],
)
IMAGES = Family(
    (64, 256),
    lambda block: [(0, 1, 4, 5, 2), (1, 1, 3, 3, 3), (2, 3, 7, 5, 3), (3, 2, 8, 11, 2), (1, 1, 12, 31, 1)],
    [(2, 3, 7, 5, 3), (0, 1, 4, 5, 2)],
)
POOLS = Family(
    (64, 256),
    lambda block: [(0, 4, 4), (1, 2, 2), (1, 3, 5), (3, 8, 6), (2, 17, 9), (5, 16, 20)],
    [(3, 9, 16), (0, 4, 4)],
)


def blocks_for(n: int, block: int) -> int:
    """Enough blocks for n elements; at least one, for a grid of none is no grid."""
    return max(1, -(-n // block))


def normal(rng: np.random.Generator, *shape: int) -> Array:
    """Standard normal float32 numbers."""
    return rng.standard_normal(shape).astype(np.float32)


def line(
    n: int, block: int, arguments: list[Any], truth: dict[int, Array], per: int = 1, **launch: Any
) -> Case:
    """One thread for `per` elements; the kernel's last argument is n."""
    return Case((blocks_for(n, per * block),), (block,), [*arguments, np.int32(n)], truth, **launch)


def zero(dtype: type = np.float32) -> Array:
    """One element to add to."""
    return np.zeros(1, dtype)


def one(value: Any, dtype: type = np.float32) -> Array:
    """What it must hold afterwards."""
    return np.array([value], dtype)


def plane(
    tile: int, rows: int, columns: int, arguments: list[Any], truth: dict[int, Array], square: bool = False
) -> Case:
    """A thread for each of rows x columns; blocks are wide, or square for kernels with tiles."""
    width, height = (tile, tile) if square else (2 * tile, tile // 2)
    grid = (blocks_for(columns, width), blocks_for(rows, height))
    return Case(grid, (width, height), [*arguments, np.int32(rows), np.int32(columns)], truth)


def table(n: int, block: int, arguments: list[Any], truth: dict[int, Array], rows: int, columns: int) -> Case:
    """One thread for each of n; the kernel's last arguments are rows and columns."""
    return Case((blocks_for(n, block),), (block,), [*arguments, np.int32(rows), np.int32(columns)], truth)


def row_blocks(block: int, rows: int, columns: int, arguments: list[Any], truth: dict[int, Array]) -> Case:
    """A block for each row."""
    return Case((rows,), (block,), [*arguments, np.int32(rows), np.int32(columns)], truth)


def images(block: int, arguments: list[Any], truth: dict[int, Array], count: int, *sides: int) -> Case:
    """Each thread takes about three of `count` elements."""
    grid = (blocks_for(count, 3 * block),)
    return Case(grid, (block,), [*arguments, *map(np.int32, sides)], truth)


def running_sums(x: Array, length: int) -> Array:
    """Prefix sums that begin anew every `length` elements."""
    padded = np.pad(x, (0, -len(x) % length)).reshape(-1, length)
    return np.cumsum(padded, axis=1).ravel()[: len(x)]


def softmax_of(x: Array) -> Array:
    """Of each row."""
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def windows(x: Array, side: int) -> Array:
    """(N, C, K, K, H', W'): the windows of each image, patch positions last."""
    view = np.lib.stride_tricks.sliding_window_view(x, (side, side), axis=(2, 3))
    return np.ascontiguousarray(view.transpose(0, 1, 4, 5, 2, 3))


def pooled(x: Array) -> tuple[Array, Array]:
    """Maxima of 2 x 2 windows and their places in the flat array."""
    planes, height, width = x.shape
    places = np.arange(x.size).reshape(x.shape)
    square = (planes, height // 2, 2, width // 2, 2)
    inside = np.s_[:, : height // 2 * 2, : width // 2 * 2]
    values = x[inside].reshape(square).transpose(0, 1, 3, 2, 4).reshape(planes, height // 2, width // 2, 4)
    where = places[inside].reshape(square).transpose(0, 1, 3, 2, 4).reshape(values.shape)
    best = values.argmax(axis=3)[..., None]
    return np.take_along_axis(values, best, 3)[..., 0], np.take_along_axis(where, best, 3)[..., 0].astype(
        np.int32
    )
