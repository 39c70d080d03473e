"""What CUDA would refuse, or carry out with other bytes than were meant, is refused with one clear line."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import MonkeyPatch

from labkit import cuda
from labkit.cuda import compile as compiler
from labkit.cuda import launcher

CODE = """
extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
extern "C" __global__ void large(double* y, double v, unsigned long long n, bool b) {
    __shared__ double s[4096];
    s[threadIdx.x] = v;
    if (b) y[threadIdx.x] = s[threadIdx.x] + n;
}
extern "C" __global__ void dynamic(float* y) {
    extern __shared__ float s[];
    s[threadIdx.x] = 2;
    y[threadIdx.x] = s[threadIdx.x];
}
template <int N> __global__ void filled(float* y) { y[threadIdx.x] = N; }
extern "C" __global__ void beyond(float* y) { __shared__ float s[12289]; s[threadIdx.x] = 1; y[0] = s[0]; }
"""
F, I64 = np.float32, np.int64


@pytest.fixture(params=["cpu", "cpu-check"])
def module(request: pytest.FixtureRequest) -> cuda.RawModule:
    return cuda.RawModule(CODE, backend=request.param, name_expressions=["filled<3>"])


def arrays(n: int = 64) -> tuple[Any, Any]:
    return cuda.asarray(np.ones(n, F)), cuda.zeros(n)


def test_a_right_launch_of_each_kernel(module: cuda.RawModule) -> None:
    x, y = arrays()
    module.get_function("scale")((2,), (32,), (x, y, F(3), 64))
    assert (y.get() == 3).all()
    z = cuda.zeros(8, np.float64)
    module.get_function("large")((1,), (8,), (z, 2.5, 7, True))
    assert (cuda.asnumpy(z) == 9.5).all()
    module.get_function("dynamic")((1,), (8,), (y,), shared_mem=4 * 8)
    module.get_function("filled<3>")((1, 1, 1), (8,), (y[8:16],))
    assert y.get()[:16].tolist() == [2] * 8 + [3] * 8
    assert not list(module.reports)


WRONG = {
    "too few arguments": ("scale", (2,), (32,), lambda x, y: (x, y, F(3)), "takes 4 arguments, not 3"),
    "no tuple of arguments": ("scale", (2,), (32,), lambda x, y: x, "must be a tuple"),
    "a NumPy array": ("scale", (2,), (32,), lambda x, y: (x.get(), y, F(3), 64), "Argument 1 (x)"),
    "float64 for float*": (
        *("scale", (2,), (32,)),
        lambda x, y: (cuda.zeros(64, np.float64), y, F(3), 64),
        "must be an array of float32, not float64",
    ),
    "a number for an array": (
        "scale",
        (2,),
        (32,),
        lambda x, y: (x, 3, F(3), 64),
        "array of float32, not int 3",
    ),
    "an array for a number": ("scale", (2,), (32,), lambda x, y: (x, y, x, 64), "one value of type float32"),
    "a Python float for float": ("scale", (2,), (32,), lambda x, y: (x, y, 3.0, 64), "numpy.float32"),
    "an int for float": (
        "scale",
        (2,),
        (32,),
        lambda x, y: (x, y, 3, 64),
        "one value of type float32, not int 3",
    ),
    "a float for int": ("scale", (2,), (32,), lambda x, y: (x, y, F(3), 64.0), "one value of type int32"),
    "a bool for int": ("scale", (2,), (32,), lambda x, y: (x, y, F(3), True), "one value of type int32"),
    "an int64 for int": ("scale", (2,), (32,), lambda x, y: (x, y, F(3), I64(4)), "int32, not int64"),
    "an int that is too large": (
        "scale",
        (2,),
        (32,),
        lambda x, y: (x, y, F(3), 2**31),
        "does not fit into int32",
    ),
    "every second element": ("scale", (2,), (32,), lambda x, y: (x[::2], y, F(3), 32), "not contiguous"),
    "a negative unsigned": (
        *("large", (1,), (8,)),
        lambda x, y: (cuda.zeros(8, np.float64), 1.0, -1, True),
        "does not fit into uint64",
    ),
    "grid 0": ("scale", (0,), (32,), lambda x, y: (x, y, F(3), 64), "The grid (0,)"),
    "a negative grid": ("scale", (1, -1), (32,), lambda x, y: (x, y, F(3), 64), "The grid (1, -1)"),
    "a high grid": ("scale", (1, 65536), (32,), lambda x, y: (x, y, F(3), 64), "The grid"),
    "a grid of float": (
        "scale",
        (2.0,),
        (32,),
        lambda x, y: (x, y, F(3), 64),
        "grid of scale must be a tuple",
    ),
    "a grid that is a number": (
        "scale",
        2,
        (32,),
        lambda x, y: (x, y, F(3), 64),
        "grid of scale must be a tuple",
    ),
    "four sizes": (
        "scale",
        (1, 1, 1, 1),
        (32,),
        lambda x, y: (x, y, F(3), 64),
        "must be a tuple of one to three",
    ),
    "a block of 2048": ("scale", (1,), (2048,), lambda x, y: (x, y, F(3), 64), "The block (2048,)"),
    "a block of 33 x 32": ("scale", (1,), (33, 32), lambda x, y: (x, y, F(3), 64), "at most 1024 threads"),
    "a deep block": ("scale", (1,), (1, 1, 65), lambda x, y: (x, y, F(3), 64), "The block (1, 1, 65)"),
    "static shared memory": ("beyond", (1,), (32,), lambda x, y: (y,), "49156 bytes of shared memory"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_launch_is_refused_and_leaves_a_report(module: cuda.RawModule, name: str) -> None:
    kernel, grid, block, arguments, said = WRONG[name]
    x, y = arrays()
    with pytest.raises(cuda.LaunchError) as error:
        module.get_function(kernel)(grid, block, arguments(x, y))
    assert said in str(error.value)
    (report,) = module.reports
    assert (report.kind, report.severity, report.kernel) == ("launch", "error", kernel)
    assert report.line > 0 and report.message == str(error.value)
    assert not y.get().any()


def test_dynamic_and_static_shared_memory_share_48_kib(module: cuda.RawModule) -> None:
    y = cuda.zeros(8, np.float64)
    kernel = module.get_function("large")
    kernel((1,), (8,), (y, 1.0, 0, True), shared_mem=16384)
    with pytest.raises(cuda.LaunchError, match="49153 bytes"):
        kernel((1,), (8,), (y, 1.0, 0, True), shared_mem=16385)


def test_a_kernel_that_is_not_there_and_a_template_that_is_not_instantiated(module: cuda.RawModule) -> None:
    with pytest.raises(cuda.LaunchError, match=r"no kernel scales in kernels\.cu\. It has: scale, large"):
        module.get_function("scales")
    with pytest.raises(cuda.LaunchError, match='name_expressions=\\("filled<16>",\\)'):
        module.get_function("filled")
    assert [report.kind for report in module.reports] == ["launch", "launch"]


def test_a_compile_error_names_the_students_own_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text('extern "C" __global__ void k(float* y) {\n\n    y[0] = undefined_name;\n}\n')
    with pytest.raises(cuda.CompileError, match=r"^mine.cu:3: .*undefined_name") as error:
        cuda.RawModule(path=file, backend="cpu")
    assert (error.value.file, error.value.line) == ("mine.cu", 3)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("backend", ["cpu", "cpu-check"])
def test_an_array_whose_length_is_no_constant_is_refused(
    compiler: str, backend: str, monkeypatch: MonkeyPatch
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler} here")
    monkeypatch.setenv("ADKIT_CXX", compiler)
    text = 'extern "C" __global__ void k(float* y, int n) {\n    float t[n + 1];\n    y[0] = t[0] = 1;\n}\n'
    with pytest.raises(cuda.CompileError, match="variable length array") as error:
        cuda.RawModule(code=text, backend=backend)
    assert error.value.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "#include <cstdlib>\n",
        '%:include "/etc/passwd"\n',
        "# /* */ include_next <x>\n",
        "__attribute__((constructor)) void f() { }\n",
        "[[gnu::constructor]] void f() { }\n",
        'void f() { asm("syscall"); }\n',
        '#define J(a, b) a##b\nvoid f() { J(as, m)("syscall"); }\n',
        'void f() { a\\\nsm("syscall"); }\n',
        'extern "C" int system(const char*);\n',
        "void f() { __builtin_trap(); }\n",
        "void f() { host_launch(0); }\n",
        "void f(float* y) { k<<<1, 1>>>(y); }\n",
        "void f(float** y) { cudaMalloc(y, 4); }\n",
        "#line 7\n",
        'auto a = R"x(")x"; void f() { asm("syscall"); }\n',
        "int a = 1'0; void f() { asm(\"syscall\"); } char c = 'a';\n",
        'int a = \'a"\'; void f() { asm("syscall"); }\n',
        "struct A { A() {} }; thread_local A a;\n",
    ],
)
def test_what_is_no_kernel_code_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(cuda.CompileError) as error:
        cuda.RawModule('// "asm" and /* #include */ in comments are nothing\n' + text, backend="cpu")
    assert error.value.line in (2, 3) and str(error.value).startswith(f"kernels.cu:{error.value.line}:")


@pytest.mark.parametrize("call", ["exit(0)", "abort()", "_exit(0)", "kill(1, 9)", "malloc(4)", "system(0)"])
def test_a_kernel_sees_nothing_of_the_host(call: str) -> None:
    with pytest.raises(cuda.CompileError, match=r"^kernels\.cu:1:"):
        cuda.RawModule(f'extern "C" __global__ void k() {{ {call}; }}', backend="cpu")


def test_without_a_compiler_the_mend_is_named_and_the_cache_still_serves(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    cuda.RawModule(CODE, backend="cpu")
    monkeypatch.setenv("ADKIT_CXX", "no-such-compiler")
    compiler.compiler.cache_clear()
    x, y = arrays()
    cuda.RawModule(CODE, backend="cpu").get_function("scale")((2,), (32,), (x, y, F(2), 64))
    assert (y.get() == 2).all()
    monkeypatch.setenv("ADKIT_CUDA_CACHE", str(tmp_path))
    with pytest.raises(cuda.CompileError, match="apt-get install -y g\\+\\+"):
        cuda.RawModule(CODE, backend="cpu")
    monkeypatch.setattr(compiler, "works_here", lambda: False)
    with pytest.raises(cuda.CompileError, match="WSL"):
        cuda.RawModule(CODE, backend="cpu")


def test_device_arrays_do_not_become_host_arrays_by_themselves() -> None:
    x = cuda.asarray([[1, 2, 3], [4, 5, 6]], np.int32)
    assert (x.shape, x.dtype, x.size, x.nbytes, x.ndim, len(x)) == ((2, 3), np.int32, 6, 24, 2, 2)
    assert x[1].get().tolist() == [4, 5, 6] and x.reshape(3, 2)[2, 1].get() == 6
    assert cuda.asarray(x) is x
    with pytest.raises(TypeError, match="asnumpy"):
        np.asarray(x)
    with pytest.raises(TypeError, match="silently"):
        cuda.asarray(x, np.float32)
    with pytest.raises(IndexError):
        x[[0, 1]]
    with pytest.raises(TypeError, match="numbers"):
        cuda.asarray(["a"])
    assert np.isnan(cuda.empty(3).get()).all()


def test_an_array_without_elements_and_one_passed_twice(module: cuda.RawModule) -> None:
    x, y = arrays()
    kernel = module.get_function("scale")
    kernel((1,), (32,), (cuda.zeros(0), cuda.zeros(0), F(1), 0))
    kernel((2,), (32,), (x, x, F(5), 64))
    assert (x.get() == 5).all() and not list(module.reports)
    kernel((1,), (32,), (cuda.zeros(0), y, F(1), 1))
    assert [report.kind for report in module.reports] == ["out-of-bounds"]


def test_fast_mode_goes_on_after_a_thread_ran_into_the_guard_page() -> None:
    code = """extern "C" __global__ void k(float* y) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        y[i] = 1; }"""
    module = cuda.RawModule(code, backend="cpu")
    y = cuda.zeros(1000)
    module.get_function("k")((8,), (128,), (y,))
    (report,) = module.reports
    assert (report.kind, report.line, report.thread, report.element) == (
        "out-of-bounds",
        3,
        (104, 0, 0),
        1000,
    )
    assert report.count == 24 and (y.get() == 1).all()


@pytest.mark.parametrize(
    ("body", "kind"), [("y[0] = 3 / n;", "division-by-zero"), ("while (true) n++;", "timeout")]
)
def test_fast_mode_survives(monkeypatch: MonkeyPatch, body: str, kind: str) -> None:
    monkeypatch.setattr(launcher, "SECONDS", 0.2)
    module = cuda.RawModule(
        f'extern "C" __global__ void k(volatile int* y, int n) {{\n{body} }}', backend="cpu"
    )
    module.get_function("k")((1,), (4,), (cuda.zeros(1, np.int32), 0))
    (report,) = module.reports
    assert (report.kind, report.line) == (kind, 2)


def test_thread_orders() -> None:
    code = 'extern "C" __global__ void k(int* y, int* next) { y[next[0]++] = blockIdx.x * 4 + threadIdx.x; }'
    seen = {}
    for order in ("forward", "reverse", "shuffled"):
        y = cuda.zeros(8, np.int32)
        module = cuda.RawModule(code, backend="cpu", order=order)
        module.get_function("k")((2,), (4,), (y, cuda.zeros(1, np.int32)))
        seen[order] = y.get().tolist()
    assert seen["forward"] == list(range(8)) and seen["reverse"] == list(range(8))[::-1]
    assert sorted(seen["shuffled"]) == list(range(8)) and seen["shuffled"] not in (
        seen["forward"],
        seen["reverse"],
    )


def test_python_keeps_its_own_signals_and_faults() -> None:
    """After launches that crashed, a fault of Python's own still ends it, and its timer still rings."""
    script = """
        import ctypes, os, signal, sys
        import numpy as np
        from labkit import cuda
        rung = []
        signal.signal(signal.SIGPROF, lambda *_: rung.append(1))
        code = 'extern "C" __global__ void k(float* y) { y[threadIdx.x + 5000] = 1; }'
        k = cuda.RawModule(code, backend="cpu")
        k.get_function("k")((1,), (4,), (cuda.zeros(1),))
        assert [r.kind for r in k.reports] == ["out-of-bounds"]
        os.kill(os.getpid(), signal.SIGPROF)
        assert rung
        print("ready", flush=True)
        ctypes.string_at(8)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ},
        timeout=60,
    )
    assert done.stdout.strip() == "ready" and done.returncode == -signal.SIGSEGV


def test_what_a_kernel_prints_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code = 'extern "C" __global__ void k(float* y) { if (threadIdx.x == 3) printf("%d: %.1f\\n", 3, y[3]); }'
    cuda.RawModule(code, backend="cpu").get_function("k")((1,), (8,), (cuda.zeros(8),))
    assert capsys.readouterr().out == "3: 0.0\n"
