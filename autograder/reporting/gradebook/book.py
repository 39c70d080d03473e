"""The gradebook's folder: a course folder as nbgrader knows it, marked as this course's."""

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from autograder.batch import record
from autograder.batch.classes import Places
from autograder.course import Course, CourseError, Lab

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

WAIT_S = 30  # for somebody else who writes to the database
_CLASS = "class.json"


class _Class(msgspec.Struct, frozen=True):
    """GRADEBOOK/class.json: whose work the gradebook holds. Paths are absolute."""

    course: str
    submitted: str
    out: str


@dataclass(frozen=True)
class Book:
    """Where things of a gradebook lie; `root` is absolute."""

    root: Path

    @property
    def database(self) -> Path:
        """nbgrader's database: what TAs entered stands only there."""
        return self.root / "gradebook.db"

    @property
    def url(self) -> str:
        """The database as nbgrader wants it named."""
        return f"sqlite:///{self.database}?timeout={WAIT_S}"

    def source(self, lab: Lab) -> Path:
        """What nbgrader reads a lab's cells from: cut files only."""
        return self.root / "source" / lab.id

    def release(self, lab: Lab) -> Path:
        """The lab as nbgrader hands it out."""
        return self.root / "release" / lab.id

    def autograded(self, lab: Lab, student: str) -> Path:
        """What formgrader shows of a student."""
        return self.root / "autograded" / student / lab.id

    def submitted(self, lab: Lab, student: str) -> Path:
        """Where nbgrader looks for who handed in."""
        return self.root / "submitted" / student / lab.id

    def feedback(self, lab: Lab, student: str) -> Path:
        """What is handed back."""
        return self.root / "feedback" / student / lab.id

    def scores(self, lab: Lab) -> Path:
        """Scores for spreadsheets."""
        return self.root / f"{lab.id}.csv"

    def remember(self, course: Course, at: Places) -> None:
        """Note whose work this is, for a grader that nbgrader starts. Raises: StorageError."""
        place = _Class(str(course.root), *(str(path.absolute()) for path in (at.submitted, at.out)))
        content = record.as_json(place)
        path = self.root / _CLASS
        if not path.exists() or path.read_bytes() != content:
            record.write(path, content)

    def class_(self) -> tuple[Path, Path, Path]:
        """The course's folder, where work lies, where results go.

        Raises: CourseError where no push has been.
        """
        try:
            found = msgspec.json.decode((self.root / _CLASS).read_bytes(), type=_Class)
        except (OSError, msgspec.DecodeError):
            raise CourseError(
                f"{self.root} is no gradebook of `autograder gradebook`. Run that first, or name the folder "
                "with --gradebook."
            ) from None
        return Path(found.course), Path(found.submitted), Path(found.out)


def in_folder(course: Course, folder: Path | None, sample: bool) -> Book:
    """The gradebook that is meant: the sample class has one of its own."""
    return Book((folder or course.root / ("build/gradebook" if sample else "gradebook")).absolute())


def lab_with_notebook(lab: Lab) -> str:
    """The name of a lab's notebook without its ending. Raises: CourseError."""
    if lab.notebook is None:
        raise CourseError(
            f"{lab.id} has no notebook, which nbgrader needs. Name one in reference/{lab.folder}/lab.toml, "
            "or hand back the pages of `autograder grade`."
        )
    return lab.notebook.removesuffix(".ipynb")


@contextlib.contextmanager
def opened(book: Book, course: Course) -> Iterator["Gradebook"]:
    """nbgrader's interface to the database, which is made if there is none.

    Raises: CourseError for a database that is locked, of another course, or of an older nbgrader.
    """
    _refuse_foreign(book, course)
    import warnings

    from sqlalchemy.exc import DatabaseError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader itself is built on what SQLAlchemy frowns at
        from nbgrader.api import Gradebook

        # nbgrader asks `alembic` for its schema's version, which a .venv that isn't activated hides.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        try:
            with Gradebook(book.url, course.id) as gradebook:
                yield gradebook
        except DatabaseError as error:
            raise CourseError(_told(book, error)) from None


def _refuse_foreign(book: Book, course: Course) -> None:
    """Raises: CourseError when the database belongs to another course."""
    if not book.database.exists():
        return
    with contextlib.suppress(sqlite3.Error):  # nbgrader's own try will say it better
        connection = sqlite3.connect(f"{book.database.as_uri()}?mode=ro", uri=True)
        try:
            found = connection.execute("SELECT DISTINCT course_id FROM assignment")
            others = {str(row[0]) for row in found} - {course.id}
        finally:
            connection.close()
        if others:
            raise CourseError(
                f"{book.database} is the gradebook of the course {', '.join(sorted(others))}, and this is "
                f"{course.id}. Name another folder with --gradebook."
            )


def _told(book: Book, error: Any) -> str:
    """One line for what the database refuses."""
    reason = str(error.orig)
    if "locked" in reason:
        mend = "Somebody is writing to it: wait, close other programs that have it open, and run it again."
    elif "readonly" in reason:
        mend = "Mend its permissions."
    elif "no such" in reason:
        mend = (
            f"It is of another version of nbgrader: copy it, then run `nbgrader db upgrade` in {book.root}."
        )
    else:
        mend = "Put a copy of it back, or name another folder with --gradebook."
    return f"{os.path.relpath(book.database)}: {reason}. {mend}"
