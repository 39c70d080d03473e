"""How fast `autograder grade` goes on two cores, how much memory it takes at most, and what kernels cost."""

import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

import psutil
from graders import AUTOGRADER, ROOT, environment, run

COPIES = 20
SAMPLE_S = 0.1
LAB1 = ROOT / "reference" / "lab1_scalars"
ENGINE, KERNELS = ("graph.py", "engine.py"), ("cuda_ops.py", "kernels.cu")


def hand_in(folder: Path, *files: str) -> None:
    """Copies of these files of the right submission of lab 1; no two are the same file."""
    for number in range(COPIES):
        handed_in = folder / f"s{number:02}" / "lab1"
        handed_in.mkdir(parents=True)
        for name in files:
            mark = "//" if name.endswith(".cu") else "#"
            text = (LAB1 / name).read_text(encoding="utf-8")
            (handed_in / name).write_text(f"{text}{mark} {number}\n", encoding="utf-8")


def start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    """The grader at work, with an output folder of its own so that nothing is taken from an earlier run."""
    command = [AUTOGRADER, "grade", "--lab", "lab1", "--jobs", "2"]
    command += ["--submitted", folder / "submitted", "--out", folder / out]
    errors = (folder / f"{out}.log").open("wb")
    home = environment(folder / "home")
    return subprocess.Popen(
        command, cwd=ROOT, env=home, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors
    )


def finished(grader: subprocess.Popen[bytes], folder: Path, out: str) -> int:
    """The number of checks that were graded, all of them passed."""
    if grader.wait():
        log = (folder / f"{out}.log").read_text(encoding="utf-8", errors="replace")
        sys.exit(f"autograder grade ended with {grader.returncode}:\n{log[-2000:]}")
    return graded(folder / out, ENGINE)


def graded(out: Path, files: Sequence[str]) -> int:
    """The number of checks of tasks in these files, all of them passed."""
    tasks = tomllib.loads((LAB1 / "lab.toml").read_text(encoding="utf-8"))["task"]
    wanted = {task["id"] for task in tasks if task["file"] in files}
    records = [json.loads(path.read_text(encoding="utf-8")) for path in out.glob("lab1/*/record.json")]
    found = [task for record in records for task in record["result"]["tasks"]]
    checks = [check for task in found if task["id"] in wanted for check in task["checks"]]
    if len(records) != COPIES or any(check["outcome"] != "passed" for check in checks):
        sys.exit("autograder grade did not give full marks to right submissions")
    return len(checks)


def memory(process: psutil.Process) -> int:
    """Bytes of the process and everything it started, shared pages counted once (PSS)."""
    total = 0
    for each in [process, *process.children(recursive=True)]:
        try:
            total += each.memory_full_info().pss
        except psutil.AccessDenied:  # a sandboxed process, when the grader isn't root: its own pages at least
            total += max(0, each.memory_info().rss - each.memory_info().shared)
        except psutil.NoSuchProcess:
            continue
    return total


def measure(folder: Path) -> tuple[float, float]:
    """Checks per second of the whole command, start included; peak memory in MB, from a run of its own."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    hand_in(folder / "submitted", *ENGINE)
    begin = time.perf_counter()
    checks = finished(start(folder, "timed"), folder, "timed")
    seconds = time.perf_counter() - begin

    peak = 0
    grader = start(folder, "watched")
    while grader.poll() is None:
        peak = max(peak, memory(psutil.Process(grader.pid)))
        time.sleep(SAMPLE_S)
    finished(grader, folder, "watched")
    return checks / seconds, peak / 2**20


def cpu_of_kernels(folder: Path) -> float:
    """CPU seconds per submission that lab 1's kernels take: with all of its files, less without these.

    Each submission's kernels.cu is another file, so that each is compiled; so is the reference's, once.
    """
    spent = {}
    for name, files in (("without", ENGINE), ("with", ENGINE + KERNELS)):
        hand_in(folder / name, *files)
        command = [
            AUTOGRADER,
            "grade",
            "--lab",
            "lab1",
            "--submitted",
            folder / name,
            "--out",
            folder / f"{name}-out",
        ]
        spent[name] = run(command, ROOT)[1]
        graded(folder / f"{name}-out", files)
    return (spent["with"] - spent["without"]) / COPIES
