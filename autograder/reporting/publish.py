"""What is written for people from stored results, and when: pages, slides, grades.csv."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from autograder.batch import history, record
from autograder.batch.grade import ClassResult
from autograder.batch.history import Change
from autograder.batch.store import Stored
from autograder.course import Course, Lab

from . import export
from .pages import class_page, slides_page, student_pages

_SOURCES = (Path(__file__).parent, Path(__file__).parents[2] / "labkit" / "messages")
PAGES = ("feedback.md", "feedback.html")


class Publisher:
    """Writes pages as results come, and in the end what a killed run left undone."""

    def __init__(self, course: Course, lab: Lab, out: Path) -> None:
        self._course, self._lab, self._folder = course, lab, out / lab.id
        self._last = history.last(self._folder)
        self._look = look(course, lab)
        self._made = {student: one.pages for student, one in self._last.items()}

    def page(self, stored: Stored) -> None:
        """Write a student's pages. Raises: StorageError."""
        student = stored.result.student
        for name, content in student_pages(self._course, self._lab, stored).items():
            record.write(self._folder / student / name, content)
        self._made[student] = self._stamp(stored)

    def finish(self, class_: ClassResult, stored: Sequence[Stored]) -> list[Change]:
        """Bring everything up to date; whose points changed without their doing since the last time.

        Raises: StorageError, CourseError.
        """
        for one in stored:
            folder = self._folder / one.result.student
            made = self._made.get(one.result.student) == self._stamp(one)
            if not (made and all((folder / name).exists() for name in PAGES)):
                self.page(one)
        record.write(self._folder / "grades.csv", export.grades_csv(class_).encode("utf-8-sig"))
        page = class_page(self._course, self._lab, stored, class_.refused)
        record.write(self._folder / "class.html", page)
        record.write(self._folder / "slides.html", slides_page(self._course, self._lab, stored))
        changes = history.changes(self._last, stored)
        history.remember(self._folder, stored, self._made)
        return changes

    def _stamp(self, stored: Stored) -> str:
        return hashlib.sha256(f"{self._look} {stored.digest}".encode()).hexdigest()


def look(course: Course, lab: Lab) -> str:
    """What pages depend on besides results, as a hash: code, words and the course."""
    files = sorted(
        path
        for source in _SOURCES
        for path in source.rglob("*")
        if path.suffix in (".py", ".toml", ".html", ".css")
    )
    described = [course.name, course.languages, course.hint_level, lab]
    parts = [
        *(path.read_bytes() for path in files),
        msgspec.json.encode(described, enc_hook=str, order="sorted"),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
