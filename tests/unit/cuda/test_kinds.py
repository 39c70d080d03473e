"""Each kind of report from the smallest kernel that earns it, and right kernels that earn none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from labkit import cuda
from labkit.cuda import launcher
from labkit.cuda.reports import KINDS
from labkit.messages import Message

I = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
SHARED = "__shared__ float s[32];"
INT, FLOAT, DOUBLE = np.int32, np.float32, np.float64
CPP = {INT: "int", FLOAT: "float", DOUBLE: "double"}


@dataclass
class Case:
    """A kernel of one array y of `size` ones, run by blocks of 32 threads; its lines are counted from 2."""

    body: str
    kind: str = ""
    line: int = 0
    thread: int | None = 0
    element: int | None = None
    count: int = 1
    severity: str = "error"
    size: int = 32
    dtype: Any = FLOAT
    grid: int = 1
    shared_mem: int = 0
    qualifier: str = ""
    empty: bool = False

    def run(self) -> list[cuda.Report]:
        code = f'extern "C" __global__ void k({self.qualifier} {CPP[self.dtype]}* y) {{\n{self.body}\n}}'
        y = cuda.empty(self.size, self.dtype) if self.empty else cuda.asarray(np.ones(self.size, self.dtype))
        module = cuda.RawModule(code, backend="cpu-check")
        module.get_function("k")((self.grid,), (32,), (y,), shared_mem=self.shared_mem)
        return list(module.reports)


WRONG = {
    "no barrier between a read and a store": Case(
        f"{SHARED}\ns[threadIdx.x] = 1; __syncthreads();\ns[threadIdx.x] += s[31 - threadIdx.x];",
        *("race", 4, 16, 15, 32),
    ),
    "a sum without atomics": Case("y[0] += 1;", "race", 2, 1, 0, 62),
    "a read beside atomicAdd": Case("atomicAdd(y, 1.0f);\nif (y[0] < 0) y[1] = 0;", "race", 2, 1, 0, 62),
    "different values in one place": Case(f"{I}\ny[0] = i / 16;", "race", 3, 16, 0, 31),
    "equal values in one place": Case("y[0] = 3;", "race", 2, 1, 0, 31, "warning"),
    "a CAS loop that some threads leave without CAS": Case(
        f"{I} int old = y[0];\nwhile (old < i) {{ int seen = old; old = atomicCAS(y, seen, i); }}",
        *("race", 3, 2, 0, 2, "warning"),
        dtype=INT,
    ),
    "blocks that were thought to wait for each other": Case(
        f"{I}\ny[i] = 2; __syncthreads();\nif (i == 32) y[32] = y[0];",
        *("race", 4, 0, 0),
        grid=2,
        size=64,
    ),
    "a warp that was thought to keep step": Case(
        "__shared__ float s[64]; int i = threadIdx.x;\ns[i] = 1; s[i + 32] = 1; __syncwarp();\n"
        "s[i] += s[i + 16];\ns[i] += s[i + 8];",
        *("race", 4, 8, 8, 24),
    ),
    "no tail guard": Case("y[threadIdx.x] = 1;", "out-of-bounds", 2, 31, 31, size=31),
    "an element before the first": Case(
        "int i = threadIdx.x; if (i == 5) y[i] = y[i - 7];", "out-of-bounds", 2, 5, -2
    ),
    "the inner size of a tile": Case(
        "__shared__ float s[32][8];\ns[threadIdx.x][threadIdx.x % 8 + 1] = 1;", "out-of-bounds", 3, 7, 8, 4
    ),
    "a shared array through a pointer": Case(
        f"{SHARED}\nfloat* p = s; p += threadIdx.x;\np[1] = 1;", "out-of-bounds", 4, 31, 32
    ),
    "too little dynamic shared memory": Case(
        "extern __shared__ double s[];\ns[threadIdx.x] = 1;", "out-of-bounds", 3, 31, 31, shared_mem=31 * 8
    ),
    "another thread's local variable": Case(
        "__shared__ int* p; int own = 0;\nif (threadIdx.x == 0) p = &own;\n__syncthreads();\n"
        "if (threadIdx.x == 1) *p = 3;",
        *("out-of-bounds", 5, 1),
    ),
    "an address of nobody": Case("*(float*)0x7000000000 = 1;", "out-of-bounds", 2, 0, None, 32),
    "shared memory that nobody filled": Case(
        f"{SHARED}\ny[threadIdx.x] = s[threadIdx.x];", "uninitialised-read", 3, 0, 0, 32
    ),
    "an output that was not set to zero": Case(
        "atomicAdd(&y[0], 1.0f);", "uninitialised-read", 2, 0, 0, size=1, empty=True
    ),
    "an output with holes": Case(
        "if (threadIdx.x % 2) y[threadIdx.x] = 1;", "unwritten-output", 1, None, 0, 16, empty=True
    ),
    "a return before the barrier": Case(
        "if (threadIdx.x < 8) return;\n__syncthreads();", "barrier-missed", 3, 8
    ),
    "a barrier in each branch, in one line": Case(
        "if (threadIdx.x < 8) __syncthreads(); else __syncthreads();", "barrier-divergent", 2, 0, None, 24
    ),
    "a shuffle that half of its warp does not reach": Case(
        "float v = 1; if (threadIdx.x < 16)\nv = __shfl_down_sync(0xffffffff, v, 8);\ny[threadIdx.x] = v;",
        *("warp-mask", 3, 0, None, 9),
    ),
    "a store in const": Case(
        "((float*)y)[threadIdx.x] = 1;", "write-to-const", 2, 0, 0, 32, qualifier="const"
    ),
    "a float4 in the middle of another": Case("((float4*)(y + 1))->x = 1;", "misaligned", 2, 0, None, 32),
    "an integer divided by zero": Case(
        "int n = y[0] - 1;\ny[threadIdx.x] = 3 / n;", "division-by-zero", 3, 0, None, 32
    ),
    "a null pointer": Case("float* p = nullptr;\nif (threadIdx.x == 9) p[2] = 1;", "null-pointer", 3, 9),
    "a failed assert": Case("assert(threadIdx.x < 9);", "launch", 2, 9, None, 23),
    "an endless loop that waits for another thread": Case(
        "volatile float* flag = y;\nwhile (threadIdx.x == 3 && flag[0] > 0) flag[1] = 2;",
        *("timeout", 3, 3),
    ),
}
RIGHT = {
    "a CAS loop that adds": Case(
        "int old = y[0], seen;\ndo { seen = old; old = atomicCAS(y, seen, seen + 1); } while (old != seen);",
        dtype=INT,
    ),
    "a tree of a warp": Case(
        f"{SHARED} int i = threadIdx.x; s[i] = y[i]; __syncwarp();\nfor (int k = 16; k > 0; k /= 2) {{\n"
        "float v = i < k ? s[i + k] : 0; __syncwarp();\ns[i] += v; __syncwarp(); }\nif (i == 0) y[0] = s[0];",
    ),
    "an array of bytes": Case(
        "__shared__ unsigned char s[33]; int i = threadIdx.x; s[i] = i; __syncthreads();\ny[i] = s[31 - i];"
    ),
    "votes and counts": Case(
        "int i = threadIdx.x; y[i] = __syncthreads_count(i < 5) * 100 + __syncthreads_or(i == 3) * 10;\n"
        "assert(y[i] == 510 && __syncthreads_and(i < 32) && !__syncthreads_and(i < 31));\n"
        "assert(__ballot_sync(0xffffffff, i == 2) == 4 && __any_sync(0xffffffff, i == 2));"
    ),
    "atomics of many blocks": Case("atomicAdd(&y[threadIdx.x % 3], 1.0f);", grid=9),
    "an output that is written": Case("y[threadIdx.x] = 1;", empty=True),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "SECONDS", 0.2)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kernel_earns_its_report_and_the_same_each_time(name: str) -> None:
    case = WRONG[name]
    reports = case.run()
    report = next((report for report in reports if report.kind == case.kind), None)
    assert report, [str(report) for report in reports]
    thread = None if case.thread is None else (case.thread, 0, 0)
    found = (report.kind, report.line, report.thread, report.element, report.count, report.severity)
    assert found == (case.kind, case.line, thread, case.element, case.count, case.severity)
    assert (report.kernel, report.file) == ("k", "kernels.cu")
    assert {other.kind for other in reports if other.severity == "error"} <= {case.kind}
    assert case.run() == reports


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_earns_none(name: str) -> None:
    assert [str(report) for report in RIGHT[name].run()] == []


def test_every_kind_has_a_kernel_above_and_a_sentence_in_both_languages() -> None:
    kinds = {case.kind: case for case in WRONG.values()} | {"stack-overflow": OVERFLOW}
    assert kinds.keys() == set(KINDS)
    for case in kinds.values():
        if case is not OVERFLOW:
            report = case.run()[0]
            english, chinese = (report.said.text(language) for language in ("en", "zh"))
            assert english != chinese and f"{english} / {chinese}" == report.message
            told = Message("judging.law", {"text": report.message})
            assert told.text("en").endswith(f": {english}") and told.text("zh").endswith(f"：{chinese}")
            assert "{" not in report.message.replace("({", "")


OVERFLOW = Case("", "stack-overflow")


@pytest.mark.parametrize("backend", ["cpu", "cpu-check"])
def test_endless_recursion_ends_its_threads_alone(backend: str) -> None:
    module = cuda.RawModule(
        "__device__ int deeper(int n) {\nvolatile int a[64]; a[n % 64] = n;\nreturn deeper(n + 1) + a[0]; }\n"
        'extern "C" __global__ void k(float* y) {\nif (threadIdx.x < 2) y[0] = deeper(1);\n'
        "else y[threadIdx.x] = 7; }",
        backend=backend,
    )
    y = cuda.zeros(32)
    module.get_function("k")((1,), (32,), (y,))
    (report,) = module.reports
    assert (report.kind, report.count) == ("stack-overflow", 2) and report.line in (1, 2, 3)
    assert y.get()[2:].tolist() == [7] * 30
