"""Right work has full marks on inputs that nobody has drawn before: the reference, and alternates in turn.

    python tests/soak/seeds.py --seeds 1000

grades each lab's reference on so many further seeds, 16 a key, and one of its alternates on the same. Exit
code 0 if nothing failed; else each failure with its key's number, its variant and the first remark.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring.audit_right import full_marks, read_alternates
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import Modules, solved_modules
from autograder.course import CourseError, Lab, load_course
from autograder.key import VARIANTS
from autograder.reporting.console import FindLevel
from autograder.reporting.table import first_remark

ROOT = Path(__file__).parents[2]


def failures(lab: Lab, works: dict[str, Modules], number: int, level: FindLevel) -> Iterator[str]:
    """What does not have full marks of these works, on all variants of a key of their own."""
    with tempfile.TemporaryDirectory(prefix="adkit-seeds-") as folder:
        key = Path(folder, "key")
        key.write_text(hashlib.sha256(f"seeds {number}".encode()).hexdigest() + "\n", encoding="utf-8")
        os.environ["ADKIT_KEY_FILE"] = str(key)
        jobs = len(os.sched_getaffinity(0))
        runs = Runs(lab, Path(folder, "kept"), level, jobs, lambda _: None, lambda: None)
        try:
            runs.run(Work(name, works[name], variant) for name in works for variant in range(VARIANTS))
        except CourseError as error:  # the reference fails a check of its own
            yield f"key {number}: {error}"
    everything = {task.id for task in lab.tasks}
    for name in works:
        for result in runs.of(name):
            if not full_marks(result, everything):
                yield f"{name}, key {number}, variant {result.variant}: {first_remark(result)}"


def main() -> int:
    """Grade; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1000)
    keys = -(-parser.parse_args().seeds // VARIANTS)
    failed, level = 0, FindLevel()
    for lab in load_course(ROOT).labs:
        begun = time.monotonic()
        reference, alternates = solved_modules(lab), list(read_alternates(lab).items())
        for number in range(keys):
            turn = dict([alternates[number % len(alternates)]] if alternates else [])
            for failure in failures(lab, {"reference": reference} | turn, number, level):
                failed += 1
                print(f"{lab.id}, {failure}", flush=True)
        took = time.monotonic() - begun
        print(f"{lab.id}: {keys * VARIANTS} seeds in {took:.0f} s; {failed} failures so far", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
