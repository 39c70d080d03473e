"""The floors of speed, measured in CPU time, and in the best of some tries: other processes run here too."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pytest import MonkeyPatch

from labkit import cuda

CODE = """
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
template <int T> __global__ void matmul(const float* A, const float* B, float* C, int n) {
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * T + y, c = blockIdx.x * T + x;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += T) {
        a[y][x] = A[r * n + k0 + x];
        b[y][x] = B[(k0 + y) * n + c];
        __syncthreads();
        for (int k = 0; k < T; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[r * n + c] = sum;
}
"""


def seconds(tries: int, run: Callable[[], object]) -> float:
    taken = []
    for _ in range(tries):
        start = time.thread_time()
        run()
        taken.append(time.thread_time() - start)
    return min(taken)


def test_a_million_sums_take_at_most_thirty_times_as_long_as_in_numpy() -> None:
    n = 10**6
    x = np.ones(n, np.float32)
    a, c = cuda.asarray(x), cuda.empty(n)
    kernel = cuda.RawModule(CODE, backend="cpu").get_function("add")
    assert seconds(9, lambda: kernel((-(-n // 256),), (256,), (a, a, c, n))) < 30 * seconds(9, lambda: x + x)
    assert (c.get() == 2).all()


@pytest.mark.parametrize(("backend", "limit"), [("cpu", 1.0), ("cpu-check", 5.0)])
def test_a_tiled_product_of_256(backend: str, limit: float) -> None:
    n, name = 256, "matmul<16>"
    matrix = np.random.default_rng(1).standard_normal((n, n)).astype(np.float32)
    a, c = cuda.asarray(matrix), cuda.empty((n, n))
    module = cuda.RawModule(CODE, backend=backend, name_expressions=[name])
    assert seconds(1, lambda: module.get_function(name)((16, 16), (16, 16), (a, a, c, n))) < limit
    np.testing.assert_allclose(c.get(), matrix @ matrix, atol=1e-3)
    assert not list(module.reports)


def test_a_compiled_file_is_not_compiled_again(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setenv("ADKIT_CUDA_CACHE", str(tmp_path))
    cuda.RawModule(CODE, backend="cpu")
    files = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    start = time.perf_counter()
    cuda.RawModule(CODE, backend="cpu")
    assert time.perf_counter() - start < 0.5
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == files
