"""The labs' own kernels on a real GPU, through CuPy, beside both modes of the CPU.

    python tests/gpu/run.py

launches every kernel of each lab in LABS three times with the same arguments, and compares what the arrays
hold afterwards. Exit code 0 if all agree, 1 if something does not, 2 without a GPU. A lab joins with a module
that says what is launched, and a line in LABS. NumPy and CuPy are all it needs.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import lab1

from labkit import cuda
from labkit.cuda import devices, screen

ROOT = Path(__file__).parents[2]
LABS = {"lab1_scalars": lab1.launches}
TOLERANCE = 2e-5  # relative to an array's largest number: sums of 1,000 float32 in any order, expf, powf


class Row(NamedTuple):
    """How a kernel did: per mode, the largest difference from the CPU's fast mode in all launches."""

    kernel: str
    launches: int
    differences: dict[str, float]
    reports: int  # of the checked mode

    @property
    def agrees(self) -> bool:
        """Whether all modes give the same numbers, and nothing was reported."""
        return not self.reports and all(one <= TOLERANCE for one in self.differences.values())


def compared(lab: str, modes: Sequence[str], file: Path | None = None) -> list[Row]:
    """Each kernel of a lab in these modes beside "cpu". Raises: CompileError, or what CuPy raises."""
    file = file or ROOT / "reference" / lab / "kernels.cu"
    modules = {mode: cuda.RawModule(path=file, backend=mode) for mode in ("cpu", *modes)}
    worst: dict[str, dict[str, float]] = {}
    counts: dict[str, int] = {}
    reported: dict[str, int] = {}
    for name, blocks, threads, arguments in LABS[lab](screen.kernels(file.read_text("utf-8"))):
        right, *others = (launched(modules[mode], name, blocks, threads, arguments) for mode in modules)
        seen = worst.setdefault(name, dict.fromkeys(modes, 0.0))
        for mode, arrays in zip(modes, others, strict=True):
            seen[mode] = max(seen[mode], *map(difference, arrays, right))
        counts[name] = counts.get(name, 0) + 1
        for module in modules.values():
            reported[name] = reported.get(name, 0) + len(list(module.reports))
            module.reports.clear()
    return [Row(name, counts[name], worst[name], reported[name]) for name in worst]


def launched(module: Any, name: str, blocks: int, threads: int, arguments: Sequence[Any]) -> list[Any]:
    """What all arrays hold after a launch where the module's kernels run."""
    os.environ["ADKIT_CUDA_BACKEND"] = module.backend  # where arrays are made
    given = [cuda.asarray(one) if isinstance(one, np.ndarray) else one for one in arguments]
    module.get_function(name)((blocks,), (threads,), tuple(given))
    return [cuda.asnumpy(one) for one in given if not isinstance(one, np.generic)]


def difference(got: Any, right: Any) -> float:
    """The largest difference of two arrays, relative to the larger of 1 and the largest number."""
    if not right.size:
        return 0.0
    found = float(np.max(np.abs(got - right)) / max(1.0, float(np.max(np.abs(right)))))
    return float("inf") if np.isnan(found) else found


def main() -> int:
    """Runs all labs and prints a line for each kernel."""
    cupy = devices.cupy()
    if cupy is None:
        print(
            "No GPU that CuPy can use: nothing was run. It takes an NVIDIA GPU and pip install cupy-cuda12x."
        )
        return 2
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CuPy {cupy.__version__}, driver {cupy.cuda.runtime.driverGetVersion()}")
    modes, fine = ("gpu", "cpu-check"), True
    print(
        f"{'largest difference from the fast mode on the CPU':50}" + "".join(f"{mode:>12}" for mode in modes)
    )
    for lab in LABS:
        rows = compared(lab, modes)
        for row in rows:
            numbers = "".join(f"{row.differences[mode]:12.1e}" for mode in modes)
            print(
                f"{lab + ' ' + row.kernel:38}{row.launches:3} launches{numbers}{'' if row.agrees else '  NO'}"
            )
        fine &= all(row.agrees for row in rows)
    print("All agree." if fine else f"NO: over {TOLERANCE:g}, or with reports of the checked mode.")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
