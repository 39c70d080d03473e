"""Pages for students and for the course team, made from stored records and facts alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.batch import record
from autograder.course import Course, Lab
from labkit.messages import Message

from .classview import class_view
from .markdown import markdown
from .render import render
from .stored import Stored, load, load_class, with_details
from .view import view

__all__ = ["class_page", "student_pages", "with_details", "write", "write_class", "write_student"]


def student_pages(course: Course, lab: Lab, stored: Stored) -> dict[str, bytes]:
    """A student's pages, by file name."""
    views = [view(course, lab, stored, language) for language in course.languages]
    return {
        "feedback.md": markdown(views).encode(),
        "feedback.html": render("student.html", pages=views).encode(),
    }


def class_page(
    course: Course, lab: Lab, everybody: Mapping[str, Stored | None], refused: Sequence[Message] = ()
) -> bytes:
    """class.html of results by student, None for one that can't be read; `refused`: folders passed over."""
    views = [class_view(lab, everybody, refused, language) for language in course.languages]
    return render("class.html", pages=views).encode()


def write(course: Course, lab: Lab, folder: Path, refused: Sequence[Message] = ()) -> None:
    """All pages of a graded lab in `folder`: everybody's and the class's.

    Raises: StorageError.
    """
    everybody = load_class(folder)
    for student, stored in everybody.items():
        if stored:
            _write_student(course, lab, folder / student, stored)
    record.write(folder / "class.html", class_page(course, lab, everybody, refused))


def write_student(course: Course, lab: Lab, folder: Path) -> None:
    """feedback.html and feedback.md of the record in `folder`. Raises: StorageError."""
    if stored := load(folder):
        _write_student(course, lab, folder, stored)


def write_class(course: Course, lab: Lab, folder: Path, refused: Sequence[Message] = ()) -> None:
    """class.html of all records below `folder`. Raises: StorageError."""
    record.write(folder / "class.html", class_page(course, lab, load_class(folder), refused))


def _write_student(course: Course, lab: Lab, folder: Path, stored: Stored) -> None:
    for name, content in student_pages(course, lab, stored).items():
        record.write(folder / name, content)
