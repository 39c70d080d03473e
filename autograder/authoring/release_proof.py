"""Prove a bundle by the grader itself: what is in the zip earns nothing, the solved lab earns all."""

import io
import tempfile
import zipfile
from pathlib import Path

from autograder.authoring.labs import solved_files
from autograder.batch.grade import ClassResult, grade
from autograder.course import Course, CourseError, Lab
from autograder.judging.explain import in_full
from autograder.judging.verdicts import UNSTARTED, Result, TaskResult
from autograder.sandbox.client import Level

UNTOUCHED, SOLVED = "untouched", "solved"


def prove(course: Course, lab: Lab, archive: bytes, level: Level) -> None:
    """Grade the bundle's own files, and the solved lab, as two students' work.

    Raises: CourseError for the first task that says otherwise.
    """
    work = (*lab.texts, *([lab.graded_notebook] if lab.graded_notebook else []))
    solved = solved_files(course, lab)
    with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
        submitted = Path(folder) / "submitted"
        _hand_in(submitted / UNTOUCHED / lab.id, {name: _inside(archive, name) for name in work})
        _hand_in(submitted / SOLVED / lab.id, {name: solved[name] for name in work})
        out = Path(folder) / "graded"
        graded, _ = grade(
            lab, submitted, out, lambda: level, 1, lambda _: None, lambda _: None, diagnose=False
        )
    _refuse_faults(lab, graded)
    results = {result.student: result for result in graded.results}
    _refuse_points(lab, results[UNTOUCHED])
    _refuse_losses(lab, results[SOLVED])


def _inside(archive: bytes, name: str) -> bytes:
    """A file of the zip, found below its top folder."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        (path,) = [one for one in opened.namelist() if one.partition("/")[2] == name]
        return opened.read(path)


def _hand_in(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _refuse_faults(lab: Lab, graded: ClassResult) -> None:
    for check, message in graded.faults.items():
        raise CourseError(
            f"{lab.id}: the reference itself fails the check {check}: {in_full(message)} "
            f"Mend the check or the reference."
        )


def _refuse_points(lab: Lab, result: Result) -> None:
    imports = {f"import {name}" for name in lab.modules}
    for task in result.tasks:
        # A task that needs another is merely blocked where its own module can't be imported.
        for check in task.checks:
            if check.message and check.message.arguments.get("call") in imports:
                said = check.message.text("en").splitlines()[0]
                raise CourseError(
                    f"{lab.id}: the untouched skeleton can't be imported: {said} Mend reference/{lab.folder}."
                )
        if task.points != 0 or task.outcome not in UNSTARTED:
            raise CourseError(
                f"{lab.id}: the untouched skeleton gets {task.outcome!r}, {task.points} points, for the task "
                f"{task.id}{_reason(task)}. Mend reference/{lab.folder} or its checks."
            )


def _refuse_losses(lab: Lab, result: Result) -> None:
    for task in result.tasks:
        if task.points != task.max or task.outcome != "passed":
            raise CourseError(
                f"{lab.id}: the solved lab gets {task.outcome!r} for the task {task.id}"
                f"{_reason(task)}. Mend reference/{lab.folder} or its checks."
            )


def _reason(task: TaskResult) -> str:
    """What the first check of the task that has something to say says."""
    said = [
        f"{check.id}: {check.message.text('en').splitlines()[0]}" for check in task.checks if check.message
    ]
    return f" ({said[0]})" if said else ""
