"""What tests/gpu/run.py launches of lab 1: every kernel of kernels.cu, by the names of its parameters."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from labkit.cuda import screen

BLOCKS = (64, 256)
MOST = 1000  # points


def launches(kernels: list[screen.KernelText]) -> Iterator[tuple[str, int, int, tuple[Any, ...]]]:
    """(kernel, blocks, threads in a block, arguments): around every boundary, operands shared or not."""
    random = np.random.default_rng(1)
    for kernel in kernels:
        names = [parameter.name for parameter in kernel.parameters]
        strides = [name for name in names if name.endswith("_stride")]
        for block in BLOCKS:
            for n in sorted({0, 1, 31, 32, 33, block - 1, block, block + 1, 2 * block + 7, MOST}):
                for chosen in product((1, 0), repeat=len(strides)):
                    known = {"n": np.int32(n), **dict(zip(strides, map(np.int32, chosen), strict=True))}
                    arguments = tuple(argument(name, n, known, random) for name in names)
                    yield kernel.name, max(1, -(-n // block)), block, arguments


def argument(name: str, n: int, known: dict[str, Any], random: np.random.Generator) -> Any:
    """A number that is known, or an array. All are positive, so that no sum is small by cancellation."""
    if name in known:
        return known[name]
    shared = known.get(f"{name[0]}_stride") == 0
    return random.uniform(0.25, 0.95, 1 if shared else n).astype(np.float32)
