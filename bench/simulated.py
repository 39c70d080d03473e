"""The tiled product of kernels.py for numba's simulator of CUDA, which wants `cuda` to be a module's name."""

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul(a, b, c, n):
    """C = A B, a tile of A and of B at a time in shared memory."""
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = np.float32(0)
    for start in range(0, n, TILE):
        left[y, x] = a[row, start + x]
        right[y, x] = b[start + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    c[row, column] = total


def product(a: np.ndarray) -> np.ndarray:
    """A square matrix times itself."""
    n = len(a)
    given, result = cuda.to_device(a), cuda.device_array((n, n), np.float32)
    matmul[(n // TILE, n // TILE), (TILE, TILE)](given, given, result, n)
    return result.copy_to_host()
