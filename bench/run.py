"""`make bench`: measures, prints a table, writes build/bench.json. A missed goal is written, not hidden."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graders
import report
import throughput
from report import Row, at_least, at_most, information

ENGINES = {"micrograd": 0.75, "torch": 0.3, "autograd": 0.15}


def ratio(ours: float, peer: float | None) -> float | None:
    """Ours in units of the peer's, if there is a peer."""
    return None if peer is None else ours / peer


def measured(script: str, folder: Path) -> Any:
    """What a script of this folder prints as JSON, run in a process of its own."""
    command = [sys.executable, Path(__file__).with_name(script)]
    home = graders.environment(folder / "home")
    done = subprocess.run(command, env=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def engine_rows(folder: Path) -> Iterator[Row]:
    """Lab 1's engine beside other engines."""
    nanoseconds: dict[str, float] = measured("logistic_map.py", folder)
    ours = nanoseconds["ours"]
    yield information("lab1/logistic_map", ours, "ns per node")
    for name, goal in ENGINES.items():
        yield at_most(f"lab1/logistic_map/{name}", ratio(ours, nanoseconds.get(name)), goal, "x", name)


def tensor_rows(folder: Path) -> Iterator[Row]:
    """Lab 2's executor beside NumPy by hand and other engines."""
    found: dict[str, dict[str, float]] = measured("tensors.py", folder)

    def beside(workload: str, peer: str, goal: float) -> Row:
        times = found[workload]
        return at_most(f"lab2/{workload}/{peer}", ratio(times["ours"], times.get(peer)), goal, "x", peer)

    step, rosenbrock, hessian = found["perceptron"], found["rosenbrock"], found["hessian"]
    yield information("lab2/perceptron", 1e6 * step["ours"], "us per step")
    yield beside("perceptron", "hand", 1.1)
    yield beside("perceptron", "torch", 0.8)
    yield beside("perceptron", "autograd", 0.4)
    for name in ("hand", "products"):  # NumPy by hand, and its products of matrices alone, beside torch
        yield information(f"lab2/perceptron/torch/{name}", ratio(step[name], step.get("torch")), "x", "torch")
    yield beside("perceptron_peak", "hand", 1.3)
    yield beside("small_operations", "hand", 2.6)
    yield beside("small_operations", "autograd", 0.17)
    yield at_most("lab2/rosenbrock/gradient", rosenbrock["gradient"] / rosenbrock["value"], 4, "x")
    yield at_most("lab2/rosenbrock/hvp", rosenbrock["hvp"] / rosenbrock["gradient"], 4, "x")
    yield beside("hessian", "torch", 2)
    anew = ratio(hessian["ours, built anew"], hessian.get("torch"))
    yield information("lab2/hessian/torch/built_anew", anew, "x", "torch")
    yield at_most("lab2/large_arrays", found["large_arrays"]["ours"], 24, "arrays")


def kernel_rows(folder: Path) -> Iterator[Row]:
    """CUDA kernels on the CPU beside NumPy and numba's simulator; what grading them takes."""
    seconds: dict[str, float] = measured("kernels.py", folder)
    for backend in ("cpu", "cpu-check"):
        beside = ratio(seconds[f"matmul 64, {backend}"], seconds.get("matmul 64, numba"))
        yield at_most(f"cuda/{backend}/matmul_64/numba", beside, 1 / 20, "x", "numba's simulator")
    yield at_most("cuda/cpu/add_1e6/numpy", seconds["add"] / seconds["add, numpy"], 30, "x")
    yield at_most("cuda/cpu/matmul_256", seconds["matmul 256, cpu"], 1, "CPU s")
    yield at_most("cuda/cpu-check/matmul_256", seconds["matmul 256, cpu-check"], 5, "CPU s")
    for mode in ("fast", "check"):
        yield at_most(f"cuda/compile/{mode}", seconds[f"compile, {mode}"], 3, "s")
        yield at_most(f"cuda/compile/{mode}/cached", seconds[f"cached, {mode}"], 0.05, "s")
    yield at_most("cuda/grading", throughput.cpu_of_kernels(folder / "grading"), 4, "CPU s per submission")


def sandbox_rows(folder: Path) -> Iterator[Row]:
    """The grader's speed and memory on a class of right submissions of lab 1."""
    checks_per_second, peak = throughput.measure(folder)
    yield at_least("sandbox/checks", checks_per_second, 100, "per second")
    yield information("sandbox/peak_memory", peak, "MB")


def grader_rows(folder: Path) -> Iterator[Row]:
    """CPU time for the same ten checks beside other graders."""
    ours = graders.cpu_of_ours(folder / "ours")
    yield information("sandbox/ten_checks", ours, "CPU s per submission")
    peer = "nbgrader autograde"
    nbgrader = graders.cpu_of_nbgrader(folder / "nbgrader")
    yield at_most("sandbox/ten_checks/nbgrader", ratio(ours, nbgrader), 1 / 6, "x", peer)
    peer = f"otter run, {graders.OTTER_SUBMISSIONS} submissions only"
    otter = graders.cpu_of_otter(folder / "otter")
    yield at_most("sandbox/ten_checks/otter", ratio(ours, otter), 1 / 50, "x", peer)


def student_rows(folder: Path) -> Iterator[Row]:
    """What a student waits for at `labkit check`, on the solved lab; and the pages of a class of 300."""
    python, home = graders.ROOT / ".venv/bin/python", graders.environment(folder / "home")

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            [python, *command], cwd=graders.ROOT, env=home, capture_output=True, text=True, check=True
        )
        return done.stdout

    run("-m", "autograder", "labs")
    begin = time.perf_counter()
    run("-m", "labkit", "check", "build/solved/lab1")
    yield at_most("lab1/labkit_check", time.perf_counter() - begin, 5, "s")
    sample = ("--lab", "lab1", "--submitted", "examples/submitted")
    run("-m", "autograder", "grade", *sample, "--out", folder / "graded", "--json")
    yield at_most("reporting/pages_of_300", float(run("bench/pages.py", folder / "graded")), 30, "s")


def main() -> None:
    """Measures one part after the other; about six minutes."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="adkit-bench-") as temporary:
        for part in (engine_rows, tensor_rows, kernel_rows, sandbox_rows, grader_rows, student_rows):
            folder = Path(temporary) / part.__name__
            folder.mkdir()
            print(f"{part.__doc__} ...", file=sys.stderr)
            rows += part(folder)
    written = graders.ROOT / "build" / "bench.json"
    report.write(rows, written)
    print(report.table(rows))
    print(f"Written to {written.relative_to(graders.ROOT)}. Ratios: ours / theirs, in the same run.")


if __name__ == "__main__":
    main()
