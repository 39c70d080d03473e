"""`make bench`: measures, prints a table, writes build/bench.json. A missed goal is written, not hidden."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import graders
import report
import throughput
from report import Row, at_least, at_most, information

ENGINES = {"micrograd": 0.75, "torch": 0.3, "autograd": 0.15}


def ratio(ours: float, peer: float | None) -> float | None:
    """Ours in units of the peer's, if there is a peer."""
    return None if peer is None else ours / peer


def engine_rows(folder: Path) -> Iterator[Row]:
    """Lab 1's engine beside other engines."""
    script = Path(__file__).with_name("logistic_map.py")
    # -P: the lab's modules are imported by plain name, and nothing of this folder may stand in for them.
    command = [sys.executable, "-P", script]
    home = graders.environment(folder / "home")
    done = subprocess.run(command, env=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    nanoseconds: dict[str, float] = json.loads(done.stdout)
    ours = nanoseconds["ours"]
    yield information("lab1/logistic_map", ours, "ns per node")
    for name, goal in ENGINES.items():
        yield at_most(f"lab1/logistic_map/{name}", ratio(ours, nanoseconds.get(name)), goal, "x", name)


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
    """Measures one part after the other; about four minutes."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="adkit-bench-") as temporary:
        for part in (engine_rows, sandbox_rows, grader_rows, student_rows):
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
