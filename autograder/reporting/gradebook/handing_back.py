"""Feedback: nbgrader's own page of each student, with our report beside it."""

from collections.abc import Callable

from autograder.course import Course, CourseError, Lab

from . import guards
from .book import Book
from .register import quiet


def write_feedback(book: Book, course: Course, lab: Lab, advance: Callable[[], None]) -> None:
    """Run nbgrader's generate_feedback on everybody; it passes over whom it can't make a page for.

    Raises: CourseError in the end, naming them.
    """
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config()
    guards.configure(config, book, course.id)
    config.GenerateFeedback.post_convert_hook = lambda **_: advance()
    folders = CourseDirectory(config=config)
    folders.assignment_id, folders.student_id = lab.id, "*"
    converter = GenerateFeedback(coursedir=folders, config=config)
    converter.force = True
    with quiet() as said:
        try:
            converter.start()
        except Exception as error:
            lines = [line for line in said if "for student" in line] or [*said, str(error)]
            told = " ".join(" ".join(lines).split())
            raise CourseError(
                f"{lab.id}: nbgrader says: {told} Remove what it names from {book.root}/autograded, "
                "push again."
            ) from None
