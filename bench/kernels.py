"""Kernels on the CPU beside NumPy and numba's CUDA simulator; run by bench/run.py in a process of its own.

Prints JSON: {name: seconds}. Launches in CPU seconds, compiling as a student waits for it.
"""

import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import turns

sys.path.insert(0, str(Path(__file__).parents[1]))

from labkit import cuda
from labkit.cuda import compile as compiler

LAB1 = Path(__file__).parents[1] / "reference" / "lab1_scalars" / "kernels.cu"
TILE, SMALL, LARGE, MANY = 16, 64, 256, 10**6
CODE = """
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int start = 0; start < n; start += 16) {
        left[y][x] = a[row * n + start + x];
        right[y][x] = b[(start + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""


def least(calls: dict[str, turns.Call], rounds: int) -> dict[str, float]:
    """Name -> least CPU seconds of one call, the thread's: a watchdog makes the process's clock coarse."""
    taken = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.thread_time()
            call()
            taken[name] = min(taken[name], time.thread_time() - begin)
    return taken


def matrix(n: int) -> np.ndarray:
    """Random numbers, shape (n, n)."""
    return np.random.default_rng(n).standard_normal((n, n)).astype(np.float32)


def product(backend: str, n: int) -> turns.Call:
    """A tiled product of two matrices in shared memory, checked once."""
    module = cuda.RawModule(CODE, backend=backend)
    kernel, a, c = module.get_function("matmul"), cuda.asarray(matrix(n)), cuda.empty((n, n), np.float32)

    def call() -> None:
        kernel((n // TILE, n // TILE), (TILE, TILE), (a, a, c, n))

    call()
    right(cuda.asnumpy(c), n)
    assert not list(module.reports)
    return call


def right(found: np.ndarray, n: int) -> None:
    """Ends the program where a product is another one than NumPy's."""
    if not np.allclose(found, matrix(n) @ matrix(n), atol=1e-3):
        sys.exit("a kernel computes another product than NumPy")


def simulated() -> turns.Call:
    """The small product in numba's simulator of CUDA. Raises: ModuleNotFoundError."""
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    import simulated

    return lambda: right(simulated.product(matrix(SMALL)), SMALL)


def sums() -> dict[str, turns.Call]:
    """The sum of two vectors of a million numbers, by a kernel and by NumPy."""
    values = np.ones(MANY, np.float32)
    kernel = cuda.RawModule(CODE, backend="cpu").get_function("add")
    a, c = cuda.asarray(values), cuda.empty(MANY, np.float32)
    blocks = -(-MANY // 256)
    return {"add": lambda: kernel((blocks,), (256,), (a, a, c, MANY)), "add, numpy": lambda: values + values}


def compiling(mode: str) -> dict[str, float]:
    """Wall seconds that lab 1's file takes to be compiled, and to be found again; the least of three."""
    text = LAB1.read_text(encoding="utf-8")
    taken: dict[str, list[float]] = {"compile": [], "cached": []}
    for number in range(3):
        for name in taken:
            begin = time.perf_counter()
            compiler.build(f"{text}// {number}\n", "kernels.cu", mode)
            taken[name].append(time.perf_counter() - begin)
    return {f"{name}, {mode}": min(seconds) for name, seconds in taken.items()}


def main() -> None:
    """Measures everything."""
    turns.pin()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ADKIT_CUDA_CACHE": folder, "ADKIT_CUDA_BACKEND": "cpu"}
        compiler.build_runtime()
        peers = turns.installed({"numba": simulated})
        found = {f"matmul {SMALL}, {name}": turns.sample(call, 1) for name, call in peers.items()}
        found |= least(sums(), rounds=30)
        for backend in ("cpu", "cpu-check"):
            calls = {f"matmul {n}, {backend}": product(backend, n) for n in (SMALL, LARGE)}
            found |= least(calls, rounds=5)
        for mode in compiler.MODES:
            found |= compiling(mode)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
