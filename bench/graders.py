"""The grader beside others: the same ten checks over 20 submissions, in CPU seconds per submission.

CPU time is that of the whole command with all its processes, start included. A peer that is not installed
gives None; one that does not give full marks to right submissions is an error.
"""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from ten_checks.notebook import write_notebook, write_otter_tests

ROOT = Path(__file__).parents[1]
TEN_CHECKS = Path(__file__).parent / "ten_checks"
AUTOGRADER = ROOT / ".venv" / "bin" / "autograder"
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
SUBMISSIONS = 20
OTTER_SUBMISSIONS = 2  # each takes about 17 seconds; one more goes first, uncounted, to fill caches


def environment(home: Path) -> dict[str, str]:
    """An environment with nothing of the user's in it and one thread for each library."""
    home.mkdir(exist_ok=True)
    threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    # A notebook's kernel is started as `python`, so the peers' own comes first.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **threads}


def run(command: list[str | Path], folder: Path) -> tuple[str, float]:
    """Standard output, and the CPU seconds of the command and of all processes below it."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what outlives the command is waited for here
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder / "home"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{Path(command[0]).name} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peer(name: str) -> Path | None:
    """A peer's command in this virtual environment, if it is there."""
    command = Path(sys.executable).with_name(name)
    return command if command.exists() else None


def students() -> list[str]:
    """The ids of the class."""
    return [f"s{number:02}" for number in range(SUBMISSIONS)]


def cpu_of_ours(folder: Path) -> float:
    """CPU seconds per submission of `autograder grade`."""
    shutil.copytree(TEN_CHECKS, folder, ignore=shutil.ignore_patterns("__pycache__", "notebook.py"))
    run([AUTOGRADER, "labs"], folder)
    for student in students():
        handed_in = folder / "submitted" / student / "ten"
        handed_in.mkdir(parents=True)
        shutil.copy(TEN_CHECKS / "reference" / "ten" / "ten.py", handed_in)
    printed, seconds = run([AUTOGRADER, "grade", "--lab", "ten", "--json"], folder)
    results = json.loads(printed)["students"]
    if {student: result["points"] for student, result in results.items()} != dict.fromkeys(students(), 10):
        sys.exit("autograder grade did not give full marks to right submissions")
    return seconds / SUBMISSIONS


def cpu_of_nbgrader(folder: Path) -> float | None:
    """CPU seconds per submission of `nbgrader autograde`."""
    nbgrader = peer("nbgrader")
    if nbgrader is None:
        return None
    write_notebook(folder / "source" / "ten" / "ten.ipynb")
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'ten'\n")
    run([nbgrader, "generate_assignment", "ten"], folder)
    for student in students():
        write_notebook(folder / "submitted" / student / "ten" / "ten.ipynb")
    _, seconds = run([nbgrader, "autograde", "ten"], folder)
    with sqlite3.connect(folder / "gradebook.db") as gradebook:
        scores = gradebook.execute("SELECT auto_score FROM grade").fetchall()
    if scores != [(1.0,)] * 10 * SUBMISSIONS:
        sys.exit("nbgrader autograde did not give full marks to right submissions")
    return seconds / SUBMISSIONS


def cpu_of_otter(folder: Path) -> float | None:
    """CPU seconds per submission of `otter run`, of a few submissions."""
    otter = peer("otter")
    if otter is None:
        return None
    write_otter_tests(folder / "tests")
    run(
        [otter, "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment", "--no-requirements"],
        folder,
    )
    spent = []
    for student in students()[: 1 + OTTER_SUBMISSIONS]:
        write_notebook(folder / student / "ten.ipynb")
        command = [otter, "run", "-a", "autograder.zip", "-o", student, f"{student}/ten.ipynb"]
        spent.append(run(command, folder)[1])
        results = json.loads((folder / student / "results.json").read_text(encoding="utf-8"))
        if sum(test["score"] for test in results["tests"] if test["name"] != "Public Tests") != 10:
            sys.exit("otter run did not give full marks to a right submission")
    return sum(spent[1:]) / OTTER_SUBMISSIONS
