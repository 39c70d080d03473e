"""NVIDIA's own compilers take what runs here and refuse what they must; CuPy without a GPU is passed over."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.cuda import nvrtc

ROOT = Path(__file__).parents[3]
KERNELS = """
__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
    return v;
}
extern "C" __global__ void words(const float* x, float* y, int64_t n) {
    __shared__ float s[32];
    extern __shared__ double more[];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x % 32] = fminf(INFINITY, __expf(x[0])) + rsqrtf(2.0f) + powf(2.0f, 3.0f) + max(1, 2) + M_PI;
    more[0] = atan2(1.0, 2.0) + fabs(-1.0) + FLT_MAX + INT_MAX;
    __syncthreads();
    __syncwarp();
    float4 four = make_float4(1, 2, 3, 4);
    if (i < n) atomicAdd(&y[i], warp_sum(s[0]) + four.w + float(more[0]));
    if (__syncthreads_or(i == 0) && __any_sync(0xffffffff, i == 1))
        atomicMax((int*)y, atomicCAS((int*)y, 1, 2));
    assert(isnan(y[0]) || __float_as_int(y[0]) != __popc(7));
    printf("%d", warpSize);
}
template <int N> __global__ void filled(float* y) { y[threadIdx.x] = N; }
"""
TOO_MUCH = "__shared__ float s[20000]; s[threadIdx.x] = y[0]; __syncthreads();"
MANIFEST = """
id = "k"
title = { zh = "一", en = "One" }
language = "zh"
modules = []
kernels = ["kernels.cu"]
[[task]]
id = "nothing"
title = { zh = "无", en = "Nothing" }
points = 1
file = ["kernels.cu"]
blanks = []
"""
NOTHING = '''
import pytest

@pytest.mark.task("nothing")
def test_nothing():
    """Nothing is asked.
    什么都不要求。
    """
'''
WRONG = {
    "a typing error": ("{\n y[0] = 1\n}", ":3: "),
    "a name of nobody": ("{\n y[0] = nobody;\n}", ":2: "),
    "80 kB of shared memory": (
        f"{{\n{TOO_MUCH} y[0] = s[1]; }}",
        "shared",
    ),
}


@pytest.fixture(autouse=True)
def cxx() -> None:
    """Instead of the room's: these do not depend on the C++ compiler."""


@pytest.mark.skipif(nvrtc.version() is None, reason="the extra nvrtc is not installed")
def test_nvrtc_takes_the_words_that_kernels_use() -> None:
    assert nvrtc.check(KERNELS, names=["filled<3>"]) == []


@pytest.mark.skipif(nvrtc.version() is None, reason="the extra nvrtc is not installed")
@pytest.mark.parametrize("name", WRONG)
def test_nvrtc_names_the_students_line(name: str) -> None:
    body, said = WRONG[name]
    errors = nvrtc.check(f'extern "C" __global__ void k(float* y) {body}', "mine.cu")
    assert errors and said in errors[0]
    assert errors[0].startswith("mine.cu:") or said == "shared"


@pytest.mark.skipif(nvrtc.version() is None, reason="the extra nvrtc is not installed")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("y[0] = 1;", "takes kernels.cu"),
        (f"{TOO_MUCH} y[0] = s[1];", "refuses kernels.cu"),
    ],
)
def test_a_student_hears_what_nvidias_compiler_says_and_it_decides_nothing(
    tmp_path: Path, body: str, said: str
) -> None:
    (tmp_path / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "kernels.cu").write_text(f'extern "C" __global__ void k(float* y) {{ {body} }}', "utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_nothing.py").write_text(NOTHING, encoding="utf-8")
    command = [sys.executable, "-m", "labkit", "check", str(tmp_path), "--language", "en"]
    environment = os.environ | {"ADKIT_CUDA_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("NVRTC") == done.stdout.count(said) == 1


def test_without_the_wheel_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "PACKAGES", ())
    nvrtc._library.cache_clear()
    assert nvrtc.version() is None and nvrtc.check(KERNELS) is None
    nvrtc._library.cache_clear()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")
def test_nvcc_takes_them_too(tmp_path: Path) -> None:
    file = tmp_path / "kernels.cu"
    file.write_text(
        "#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstdint>\n"
        "#include <cassert>\n#include <cstdio>\n" + nvrtc.prelude(KERNELS, "kernels.cu")
    )
    command = ["nvcc", "-arch=sm_75", "-std=c++17", "-cubin", "-o", str(tmp_path / "out"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="the extra gpu is not installed")
def test_cupy_without_a_gpu_is_said_once_and_kernels_run_on_the_cpu() -> None:
    script = """if True:
        from labkit import cuda
        import cupy
        if cupy.cuda.is_available():
            raise SystemExit(5)
        assert cuda.backend_name() == cuda.backend_name() == "cpu-check"
        module = cuda.RawModule('extern "C" __global__ void k(float* y) { y[threadIdx.x] = 1; }')
        y = cuda.empty(4)
        module.get_function("k")((1,), (4,), (y,))
        print(module.backend, cuda.asnumpy(y).tolist())
        try:
            cuda.RawModule("", backend="gpu")
        except RuntimeError as error:
            print(error)
    """
    environment = {name: value for name, value in os.environ.items() if name != "ADKIT_CUDA_BACKEND"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120
    )
    if done.returncode == 5:
        pytest.skip("there is a GPU here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "cpu-check [1.0, 1.0, 1.0, 1.0]"
    assert "cupy-cuda12x" in done.stdout.splitlines()[1]
    assert done.stderr.count("no GPU that it can use") == 1
