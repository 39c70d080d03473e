"""Pages for students and for the course team, made from stored results and the course's own files."""

from collections.abc import Sequence

from autograder.batch.store import Stored
from autograder.course import Course, Lab
from labkit.messages import Message

from .classview import class_view
from .markdown import markdown
from .render import render
from .slides import FEW, LISTED, slides_view
from .view import view

__all__ = ["class_page", "slides_page", "student_pages"]


def student_pages(course: Course, lab: Lab, stored: Stored, notebook: str = "") -> dict[str, bytes]:
    """A student's pages, by file name; `notebook`: a page beside them to link to, if there is one."""
    views = [view(course, lab, stored, language) for language in course.languages]
    return {
        "feedback.md": markdown(views).encode(),
        "feedback.html": render("student.html", pages=views, notebook=notebook).encode(),
    }


def class_page(
    course: Course, lab: Lab, everybody: Sequence[Stored], refused: Sequence[Message] = ()
) -> bytes:
    """class.html of everybody's results; `refused`: folders passed over. Raises: CourseError."""
    views = [class_view(course, lab, everybody, refused, language) for language in course.languages]
    return render("class.html", pages=views).encode()


def slides_page(course: Course, lab: Lab, everybody: Sequence[Stored]) -> bytes:
    """slides.html, for the next lecture: nothing in it points at anybody. Raises: CourseError."""
    views = [slides_view(course, lab, everybody, language) for language in course.languages]
    return render("slides.html", pages=views, few=FEW, listed=LISTED).encode()
