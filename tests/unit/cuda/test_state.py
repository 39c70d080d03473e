"""Nothing of a launch or a module reaches another: reports, shared memory, remembered accesses, variables."""

import random
from typing import Any

import numpy as np
import pytest
from pytest import MonkeyPatch

from labkit import cuda
from labkit.cuda import launcher

K = 'extern "C" __global__ void k(float* y) {\n'
KERNELS = {
    "race": K + "y[0] += threadIdx.x; }",
    "same names": K + "__shared__ float s[8];\nif (threadIdx.x < 8) s[threadIdx.x] = 1;\n__syncthreads();\n"
    "y[threadIdx.x] = s[threadIdx.x % 8]; }",
    "reads what another left": K + "__shared__ float s[8];\ny[threadIdx.x] = s[threadIdx.x % 8]; }",
    "dynamic": K + "extern __shared__ float s[];\nif (threadIdx.x) s[threadIdx.x] = 1;\ny[0] = s[0]; }",
    "crash": K + "y[threadIdx.x + 30] = 1; }",
    "missed": K + "if (threadIdx.x < 4) return;\n__syncthreads();\ny[threadIdx.x] = 1; }",
    "endless": K + "while (y[0] > 0);\n}",
    "right": K + "y[threadIdx.x] = 1; }",
    "bytes": K + "__shared__ unsigned char s[32];\ns[threadIdx.x] = 1;\n__syncthreads();\n"
    "y[threadIdx.x] = s[31 - threadIdx.x]; }",
}


def run(module: cuda.RawModule) -> tuple[list[cuda.Report], Any]:
    y = cuda.asarray(np.ones(32, np.float32))
    module.reports.clear()
    module.get_function("k")((1,), (32,), (y,), shared_mem=128)
    return list(module.reports), y.get()


def test_a_kernel_says_the_same_whatever_ran_before(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "SECONDS", 0.1)
    first = {}
    modules = {}
    for name, code in KERNELS.items():
        modules[name] = cuda.RawModule(code, backend="cpu-check")
        first[name] = run(modules[name])
    assert not first["right"][0] and all(reports for name, (reports, _) in first.items() if name not in RIGHT)
    names = list(KERNELS) * 3
    random.Random(1).shuffle(names)
    for name in names:
        reports, values = run(modules[name])
        assert reports == first[name][0], name
        np.testing.assert_array_equal(values, first[name][1])
    for name, code in reversed(KERNELS.items()):  # and in modules of the same text that were loaded later
        assert run(cuda.RawModule(code, backend="cpu-check"))[0] == first[name][0]


RIGHT = ("right", "same names", "bytes")


@pytest.mark.parametrize("backend", ["cpu", "cpu-check"])
def test_variables_of_a_module_last_and_are_its_own(backend: str) -> None:
    code = '__device__ int launches = 5;\nextern "C" __global__ void k(int* y) { y[0] = ++launches; }'
    one, other = (cuda.RawModule(code + "\n" * i, backend=backend) for i in range(2))
    y = cuda.zeros(1, np.int32)
    seen = []
    for module in (one, one, other, one):
        module.get_function("k")((1,), (1,), (y,))
        seen.append(int(y.get()[0]))
    assert seen == [6, 7, 6, 8]
    assert not list(one.reports) and not list(other.reports)


def test_two_modules_of_one_text_do_not_share_variables() -> None:
    code = '__device__ int launches;\nextern "C" __global__ void k(int* y) { y[0] = ++launches; }'
    y = cuda.zeros(1, np.int32)
    for _ in range(2):
        cuda.RawModule(code, backend="cpu").get_function("k")((1,), (1,), (y,))
        assert y.get()[0] == 1


def test_shared_memory_holds_nothing_of_the_block_before_in_fast_mode_too() -> None:
    code = K + "__shared__ float s[1];\ny[blockIdx.x] = s[0]; s[0] = 5; }"
    y = cuda.zeros(32)
    cuda.RawModule(code, backend="cpu").get_function("k")((32,), (1,), (y,))
    assert np.isnan(y.get()).all()


def test_reports_of_many_launches_are_counted_together_until_they_are_cleared() -> None:
    module = cuda.RawModule(KERNELS["race"], backend="cpu-check")
    kernel = module.get_function("k")
    for _ in range(3):
        kernel((1,), (2,), (cuda.zeros(1),))
    (report,) = module.reports
    assert report.count == 6
    module.reports.clear()
    assert not list(module.reports)


def test_a_hundred_thousand_mistakes_are_few_reports() -> None:
    code = K + "for (int i = 0; i < 100; i++) y[i] += 1;\n" + "y[-1] = 0; }"
    module = cuda.RawModule(code, backend="cpu-check")
    module.get_function("k")((5,), (256,), (cuda.zeros(100),))
    counts = {report.kind: report.count for report in module.reports}
    assert counts.keys() == {"race", "out-of-bounds"}
    assert counts["out-of-bounds"] == 5 * 256 and counts["race"] >= 100_000


def test_there_is_an_end_to_different_reports() -> None:
    lines = "\n".join(f"y[{i}] += 1;" for i in range(400))
    module = cuda.RawModule(K + lines + "\n}", backend="cpu-check")
    module.get_function("k")((1,), (2,), (cuda.zeros(400),))
    assert 100 <= len(list(module.reports)) <= 200


def test_an_output_is_judged_when_it_is_read_or_at_the_reports() -> None:
    code = K + "y[threadIdx.x] = 1; }"
    module = cuda.RawModule(code, backend="cpu-check")
    kernel = module.get_function("k")
    in_two_steps, forgotten = cuda.empty(64), cuda.empty(64)
    kernel((1,), (32,), (in_two_steps,))
    kernel((1,), (32,), (in_two_steps[32:],))
    assert (in_two_steps.get() == 1).all() and not list(module.reports)
    kernel((1,), (32,), (forgotten[16:48],))
    (report,) = module.reports
    assert (report.kind, report.element, report.count) == ("unwritten-output", 0, 32)
    assert list(module.reports) == [report]
