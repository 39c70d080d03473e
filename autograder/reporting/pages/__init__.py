"""Pages for students and for the course team, made from stored records and facts alone."""

from collections.abc import Sequence
from pathlib import Path

from autograder.batch import record
from autograder.course import Course, Lab
from labkit.messages import Message

from .classview import class_view
from .markdown import markdown
from .render import render
from .stored import Stored, load, load_class
from .view import view

__all__ = ["write", "write_class", "write_student"]


def write(course: Course, lab: Lab, folder: Path, refused: Sequence[Message] = ()) -> None:
    """All pages of a graded lab in `folder`: everybody's and the class's.

    Raises: StorageError.
    """
    everybody = load_class(folder)
    for student, stored in everybody.items():
        if stored:
            _write_student(course, lab, folder / student, stored)
    _write_class(course, lab, folder, everybody, refused)


def write_student(course: Course, lab: Lab, folder: Path) -> None:
    """feedback.html and feedback.md of the record in `folder`. Raises: StorageError."""
    if stored := load(folder):
        _write_student(course, lab, folder, stored)


def write_class(course: Course, lab: Lab, folder: Path, refused: Sequence[Message] = ()) -> None:
    """class.html of all records below `folder`; `refused`: folders that were passed over.

    Raises: StorageError.
    """
    _write_class(course, lab, folder, load_class(folder), refused)


def _write_student(course: Course, lab: Lab, folder: Path, stored: Stored) -> None:
    pages = [view(course, lab, stored, language) for language in course.languages]
    record.write(folder / "feedback.md", markdown(pages).encode())
    record.write(folder / "feedback.html", render("student.html", pages=pages).encode())


def _write_class(
    course: Course, lab: Lab, folder: Path, everybody: dict[str, Stored | None], refused: Sequence[Message]
) -> None:
    pages = [class_view(lab, everybody, refused, language) for language in course.languages]
    record.write(folder / "class.html", render("class.html", pages=pages).encode())
