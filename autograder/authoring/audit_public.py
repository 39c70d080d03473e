"""Which mutants the public tests see: `python -m labkit check` on the lab as a student would have it.

The mutants are the course team's own text, so this runs as it does at a student's, without the sandbox. What
takes its process down, or does not end, counts as seen: students are told of it.
"""

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.authoring.labs import Tree, solved_files
from autograder.authoring.mutants import Mutant
from autograder.course import Course, CourseError, Lab
from labkit.check.run import Run, run_tests
from labkit.lab import WrongUse, read_lab

SEED = 1  # a student's first


def public_kills(
    course: Course,
    lab: Lab,
    mutants: Sequence[Mutant],
    jobs: int,
    on_start: Callable[[int], None],
    on_result: Callable[[], None],
) -> dict[str, bool] | None:
    """Whether the public tests see each mutant, by id; None for a lab without public tests.

    Raises: CourseError if they do not pass on the solved lab, or can't be run.
    """
    files = solved_files(course, lab)
    if not any(path.startswith("tests/") for path in files):
        return None
    with tempfile.TemporaryDirectory(prefix="adkit-public-") as folder, ThreadPoolExecutor(jobs) as threads:

        def sees(mutant: Mutant) -> bool:
            changed = {name: text.encode() for name, text in mutant.modules.items()}
            found = _fail_on(_write(Path(folder, mutant.id, lab.id), files | changed))
            on_result()
            return found

        if _fail_on(_write(Path(folder, "solved", lab.id), files)):
            raise CourseError(f"{lab.id}: the public tests fail on the solved lab. Mend them, or it.")
        on_start(len(mutants))
        try:
            return dict(zip([mutant.id for mutant in mutants], threads.map(sees, mutants), strict=True))
        finally:
            threads.shutdown(cancel_futures=True)  # after Ctrl-C those that wait need not start


def _write(folder: Path, files: Tree) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def _fail_on(folder: Path) -> bool:
    """Whether the public tests find something to mend, be it only the first of all.

    What was stopped for time is tried once more: its clock is the wall's, and this machine is busy.
    Raises: CourseError if they can't be run.
    """
    try:
        run = run_tests(read_lab(folder), SEED, enough=_decided)
        if any(outcome.kind == "stopped" for outcome in run.all_outcomes()):
            run = run_tests(read_lab(folder), SEED, enough=_decided)
        return not run.fine()
    except WrongUse as error:
        raise CourseError(f"`labkit check` can't run on {folder.parent.name}: {error}") from None


def _decided(run: Run) -> bool:
    return run.finished() or not run.fine()
