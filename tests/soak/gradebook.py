"""A class of 300 in nbgrader's gradebook: pushed, pushed again, given feedback, each within its time.

    python tests/soak/gradebook.py --students 300

grades eleven submissions of lab 1's sample class, each with the solved notebook, and stores copies of their
results under other names. Exit code 0 if a push takes less than 60 s, a second one less than 10 s, feedback
less than 120 s, and everybody has score and pages.
"""

import argparse
import csv
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from autograder import key
from autograder.batch.depends import dependencies
from autograder.batch.store import Store
from autograder.course import load_course
from autograder.judging.protocol import Graded

ROOT = Path(__file__).parents[2]
KINDS = (
    "right-kahn bom-crlf-chinese untouched child-before-parent adjoint-overwritten half-done nan "
    "megabytes-of-prints syntax-error rounds-down left-over-breakpoint"
).split()
FLOORS = {"push": 60, "push again": 10, "feedback": 120}  # seconds


def run(root: Path, *arguments: str) -> tuple[float, float]:
    """Seconds that `autograder ARGUMENTS` takes in a course's folder: on the clock, and of all cores."""
    began, used = time.monotonic(), _used()
    command = [sys.executable, "-m", "autograder", *arguments, "--lab", "lab1"]
    subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began, _used() - used


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def make_class(root: Path, students: int) -> None:
    """A course of its own, whose class has few kinds of work and a result for each student."""
    for name in ("course.toml", "reference", "labs"):
        (root / name).symlink_to(ROOT / name)
    course = load_course(root)
    lab = course.lab("lab1")
    subprocess.run([sys.executable, "-m", "autograder", "labs"], cwd=ROOT, check=True)
    for kind in KINDS:
        folder = root / "submitted" / kind / "lab1"
        shutil.copytree(ROOT / "examples" / "submitted" / kind / "lab1", folder)
        shutil.copy(ROOT / "build" / "solved" / lab.id / str(lab.notebook), folder)
    run(root, "grade")
    store = Store(course.out / "lab1", key.key_id(key.load_key()))
    for number in range(students):
        kind, student = KINDS[number % len(KINDS)], f"s{number:03}"
        shutil.copytree(root / "submitted" / kind, root / "submitted" / student)
        stored = store.load(kind)
        assert stored is not None
        result = msgspec.structs.replace(stored.result, student=student)
        graded = Graded(result, stored.record.hashes["submission"], stored.facts.checks, stored.facts.details)
        store.keep(graded, dependencies(lab), stored.level)
    for kind in KINDS:
        shutil.rmtree(root / "submitted" / kind)


def complete(root: Path, students: int) -> bool:
    """Whether everybody has a score and both pages."""
    with (root / "gradebook" / "lab1.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    pages = [root / "gradebook" / "feedback" / row["student"] / "lab1" / "lab1.html" for row in rows]
    reports = [page.with_name("feedback.html") for page in pages]
    return len(rows) == students and all(path.exists() for path in (*pages, *reports))


def main() -> int:
    """Print the figures; 1 if one is above its floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=300)
    students: int = parser.parse_args().students
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "key").write_text(bytes(range(32)).hex() + "\n")
        os.environ["ADKIT_KEY_FILE"] = str(root / "key")
        make_class(root, students)
        took = {"push": run(root, "gradebook"), "push again": run(root, "gradebook")}
        took["feedback"] = run(root, "feedback")
        whole = complete(root, students)
    for name, (seconds, of_cores) in took.items():
        print(
            f"{students} students, {name}: {seconds:.1f} s, {of_cores:.1f} s of CPU (floor {FLOORS[name]} s)"
        )
    print("everybody has score and pages" if whole else "somebody is missing")
    return 0 if whole and all(took[name][0] < FLOORS[name] for name in took) else 1


if __name__ == "__main__":
    sys.exit(main())
