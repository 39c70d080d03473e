"""nbgrader's autograde, made to take our result: formgrader's button and `nbgrader autograde` come here.

The class must be one of nbgrader's preprocessors: those of nbconvert are off unless somebody turns them on.
"""

import json
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from autograder.batch import grade as batch
from autograder.batch import output
from autograder.course import Course, CourseError, Lab, load_course
from autograder.intake import find_submissions
from autograder.reporting.console import FindLevel

from .book import Book, lab_with_notebook, opened
from .push import Pusher
from .roster import read_roster
from .works import works


class GradeInSandbox(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Puts a student's stored result into the gradebook, graded in the sandbox first if it doesn't stand."""

    gradebook = Unicode(help="The gradebook's folder.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """The rebuilt notebook. Raises: CourseError, StorageError; nbgrader then keeps no score."""
        from nbformat import from_dict

        asked = resources["nbgrader"]
        notebook = _pushed(Book(Path(self.gradebook)), asked["assignment"], asked["student"])
        return from_dict(notebook), resources  # type: ignore[no-untyped-call]


def _pushed(book: Book, lab_id: str, student: str) -> dict[str, Any]:
    root, submitted, out = book.class_()
    course = load_course(root)
    lab = course.lab(lab_id)
    _grade(course, lab, submitted, out, student)
    roster = read_roster(course.root)
    shown = book.autograded(lab, student) / f"{lab_with_notebook(lab)}.ipynb"
    with opened(book, course) as gradebook:
        release = json.loads((book.release(lab) / shown.name).read_bytes())
        pusher = Pusher(book, course, lab, release, gradebook)
        mine = [one for one in find_submissions(submitted, lab.id).found if one.student == student]
        found = list(works(course, lab, mine, out, roster))
        for work in found:
            pusher.push(work, again=True)
        pusher.charge(found)
    notebook: dict[str, Any] = json.loads(shown.read_bytes())
    return notebook


def _grade(course: Course, lab: Lab, submitted: Path, out: Path, student: str) -> None:
    """Store a result of the work as it is now. Raises: CourseError, StorageError."""
    with output.claim(out, course.id):
        plan = batch.planned(lab, submitted, out)
        if student not in plan.work:
            raise CourseError(f"{submitted} holds no work of {student} on {lab.id}.")
        due = [found for found in plan.due if found.student == student]
        if due:
            level = FindLevel()()

            def keep(graded: Any) -> None:
                plan.store.keep(graded, plan.depends, level)

            batch.run(plan, due, level, 1, lambda _: None, keep)
