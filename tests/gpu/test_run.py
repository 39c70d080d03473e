"""tests/gpu/run.py, as far as it goes here: with a GPU all of it, without one all but the GPU."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.cuda import compile as compiler
from labkit.cuda import devices

SCRIPT = Path(__file__).with_name("run.py")
KERNELS = Path(__file__).parents[2] / "reference" / "lab1_scalars" / "kernels.cu"
needs_compiler = pytest.mark.skipif(
    not compiler.compiler(), reason="no C++ compiler here: apt-get install -y g++"
)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("ADKIT_CUDA_CACHE", str(tmp_path))
    monkeypatch.setenv("ADKIT_CUDA_BACKEND", "cpu")
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return runpy.run_path(str(SCRIPT))


@needs_compiler
@pytest.mark.parametrize("lab", ["lab1_scalars"])
def test_every_kernel_of_the_reference_gives_the_same_in_both_modes_of_the_cpu(
    script: dict[str, Any], lab: str
) -> None:
    rows = script["compared"](lab, ["cpu-check"])
    assert len(rows) == KERNELS.read_text("utf-8").count("__global__") and lab in script["LABS"]
    assert [row for row in rows if not row.agrees] == []


@needs_compiler
def test_a_kernel_that_goes_astray_does_not_pass(script: dict[str, Any], tmp_path: Path) -> None:
    guard, body = "if (i < n)", "v[i] = a[i * a_stride] + b[i * b_stride];"
    before, found, after = KERNELS.read_text("utf-8").partition(body)
    file = tmp_path / "kernels.cu"
    file.write_text(before[: before.rindex(guard)] + "if (true) {" + found + after, "utf-8")
    rows = script["compared"]("lab1_scalars", ["cpu-check"], file)
    assert [row.kernel for row in rows if not row.agrees] == ["add_forward"]


@pytest.mark.parametrize(("got", "expected"), [([1, 2], 0), ([1, 3], 0.5), ([np.nan, 2], np.inf)])
def test_differences_are_relative_and_never_nan(
    script: dict[str, Any], got: list[float], expected: float
) -> None:
    assert script["difference"](np.array(got), np.array([1.0, 2.0])) == expected


def test_the_script_on_the_gpu_or_without_one() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=300)
    if devices.cupy() is None:
        assert done.returncode == 2 and done.stdout.startswith("No GPU") and done.stdout.count("\n") == 1
        pytest.skip("no GPU here: the kernels were not run on one")
    assert done.returncode == 0, done.stdout + done.stderr
