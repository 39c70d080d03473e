"""Which mutants the public tests see: `python -m labkit check` on the lab as a student would have it.

The mutants are the course team's own text, so this runs as it does at a student's, without the sandbox.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.authoring.labs import Tree, solved_files
from autograder.authoring.mutants import Mutant
from autograder.course import Course, CourseError, Lab

CHECK = (sys.executable, "-m", "labkit", "check")
PATIENCE_S = 120
ALL_PASSED, SOMETHING_TO_DO = 0, 1


def public_kills(
    course: Course,
    lab: Lab,
    mutants: Sequence[Mutant],
    jobs: int,
    on_start: Callable[[int], None],
    on_result: Callable[[], None],
    check: Sequence[str] = CHECK,
) -> dict[str, bool] | None:
    """Whether the public tests see each mutant, by id; None for a lab without public tests.

    Raises: CourseError if they do not pass on the solved lab, or can't be run.
    """
    files = solved_files(course, lab)
    if not any(path.startswith("tests/") for path in files):
        return None
    with tempfile.TemporaryDirectory(prefix="adkit-public-") as folder, _Checks(check, jobs) as checks:

        def sees(mutant: Mutant) -> bool:
            changed = {name: text.encode() for name, text in mutant.modules.items()}
            found = checks.fail_on(_write(Path(folder, mutant.id, lab.id), files | changed))
            on_result()
            return found

        if checks.fail_on(_write(Path(folder, "solved", lab.id), files)):
            raise CourseError(f"{lab.id}: the public tests fail on the solved lab. Mend them, or it.")
        on_start(len(mutants))
        return dict(zip([mutant.id for mutant in mutants], checks.each(sees, mutants), strict=True))


def _write(folder: Path, files: Tree) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


class _Checks:
    """Child processes, several at once; none outlives the block."""

    def __init__(self, command: Sequence[str], jobs: int) -> None:
        self._command = command
        self._threads = ThreadPoolExecutor(jobs)
        self._running: set[subprocess.Popen[str]] = set()

    def each(self, act: Callable[[Mutant], bool], mutants: Sequence[Mutant]) -> list[bool]:
        return list(self._threads.map(act, mutants))

    def fail_on(self, folder: Path) -> bool:
        """Whether the public tests find something to do. If they do not end in time, they say nothing.

        Raises: CourseError for any other ending.
        """
        child = subprocess.Popen(
            [*self._command, str(folder)],
            cwd=folder.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # its own children end with it
        )
        self._running.add(child)
        try:
            _, errors = child.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            _kill(child)
            child.communicate()
            return False
        finally:
            self._running.discard(child)
        if child.returncode not in (ALL_PASSED, SOMETHING_TO_DO):
            line = " ".join(errors.split())[-300:]
            raise CourseError(f"`labkit check` ended with {child.returncode} on {folder.parent.name}: {line}")
        return child.returncode == SOMETHING_TO_DO

    def __enter__(self) -> "_Checks":
        return self

    def __exit__(self, *error: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in tuple(self._running):
            _kill(child)
        self._threads.shutdown()


def _kill(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.killpg(child.pid, signal.SIGKILL)
