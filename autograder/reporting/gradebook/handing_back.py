"""Feedback: nbgrader's own page of each student, with our report beside it."""

import shutil
from collections.abc import Callable, Sequence
from typing import Any

from autograder.course import Course, CourseError, Lab

from . import guards
from .book import Book
from .register import quiet


def write_feedback(
    book: Book, course: Course, lab: Lab, students: Sequence[str], advance: Callable[[], None]
) -> None:
    """Run nbgrader's generate_feedback for each student. Raises: CourseError, after all have been tried."""
    from traitlets.config import Config

    config = Config()
    guards.configure(config, book, course.id)
    failed = []
    for student in students:
        shutil.rmtree(book.feedback(lab, student), ignore_errors=True)
        with quiet() as said:
            try:
                _converter(config, lab.id, student).start()
            except Exception as error:
                failed.append(f"{student} ({' '.join((said or [str(error)])[0].split())})")
        advance()
    if failed:
        raise CourseError(
            f"{lab.id}: nbgrader has no feedback for {', '.join(failed)}. Remove their folders in "
            f"{book.root}/autograded and run it again."
        )


def _converter(config: Any, lab: str, student: str) -> Any:
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    folders = CourseDirectory(config=config)
    folders.assignment_id, folders.student_id = lab, student
    return GenerateFeedback(coursedir=folders, config=config)
