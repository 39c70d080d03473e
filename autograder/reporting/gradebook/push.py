"""Results into the gradebook: scores and comments of the grader; what a TA entered stays as it is."""

import contextlib
import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from autograder.batch import record
from autograder.batch.store import Stored
from autograder.course import Course, Lab
from autograder.intake import Found, Submission
from autograder.reporting.pages import student_pages
from autograder.reporting.publish import look
from labkit.messages import Message

from .book import Book, lab_with_notebook
from .late import STAMP, Lateness
from .rebuild import Notebook, rebuilt, text_of, unanswered
from .register import graded_cells, in_every_language, kind
from .report import comments, reports
from .roster import Person

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

REPORT = "feedback.html"
_STAMP = "autograder"  # key of the notebook's metadata that says what it was made from


@dataclass(frozen=True)
class Work:
    """All that is pushed of one student."""

    found: Found
    submission: Submission
    answers: Mapping[str, str]
    stored: Stored
    late: Lateness
    person: Person


class Pusher:
    """Pushes students of one lab into an open gradebook."""

    def __init__(
        self, book: Book, course: Course, lab: Lab, release: Notebook, gradebook: "Gradebook"
    ) -> None:
        self._book, self._course, self._lab, self._release = book, course, lab, release
        self._gradebook = gradebook
        self._name, self._given = lab_with_notebook(lab), in_every_language(lab)
        self._language = course.languages[0]
        self._made_from = [look(course, lab), json.dumps(release, sort_keys=True)]
        self._known = {one.student_id for one in gradebook.find_assignment(lab.id).submissions}

    def push(self, work: Work, again: bool = False) -> bool:
        """Bring the gradebook in step with a student's work; whether there was anything to do.

        `again`: although nothing has changed. Raises: StorageError.
        """
        student = work.found.student
        stamp = self._stamp(work)
        shown = self._book.autograded(self._lab, student) / f"{self._name}.ipynb"
        before = _read(shown)
        same = before.get("metadata", {}).get(_STAMP) == stamp and student in self._known
        if same and not again:
            return False
        notebook = self._rebuilt(work, stamp)
        self._enter(work, _changed_by_hand(before, notebook) if student in self._known else set())
        self._write(work, shown, notebook)
        self._known.add(student)
        return True

    def charge(self, works: Sequence[Work]) -> None:
        """Late penalties, as a share of the points that are there by now, a TA's among them."""
        late = {work.found.student: work.late.share for work in works}
        for one in self._gradebook.find_assignment(self._lab.id).submissions:
            if one.student_id not in late:
                continue
            for notebook in one.notebooks:
                penalty = round(notebook.score * late[one.student_id], 2) or None
                if notebook.late_submission_penalty != penalty:
                    notebook.late_submission_penalty = penalty
        self._gradebook.db.commit()

    def _stamp(self, work: Work) -> str:
        late = [str(work.late.handed_in), work.late.extra.total_seconds()]
        parts: list[object] = [
            *self._made_from,
            work.stored.digest,
            dict(work.answers),
            work.submission.files,
        ]
        parts += [late, work.person.id, work.person.name, work.person.email]
        return hashlib.sha256(msgspec.msgpack.encode(parts, order="sorted")).hexdigest()

    def _rebuilt(self, work: Work, stamp: str) -> Notebook:
        said = reports(self._course, self._lab, work.stored, self._language)
        files, problems = work.submission.files, work.submission.problems
        notebook = rebuilt(
            self._lab, self._release, work.answers, files, problems, said, self._language, REPORT
        )
        notebook["metadata"][_STAMP] = stamp
        return notebook

    def _enter(self, work: Work, changed: set[str]) -> None:
        """Rows of the database, committed together."""
        student, person = work.found.student, work.person
        names = (person.name, student) if person.name else (student, "")
        gradebook = self._gradebook
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what SQLAlchemy says of nbgrader's models
            gradebook.update_or_create_student(
                student, last_name=names[0], first_name=names[1], email=person.email or None
            )
            submission = gradebook.update_or_create_submission(self._lab.id, student)
            submission.timestamp = work.late.handed_in and work.late.handed_in.replace(tzinfo=None)
            submission.extension = work.late.extra or None
            (notebook,) = (one for one in submission.notebooks if one.name == self._name)
            empty = unanswered(self._given, work.answers)
            points = {task.id: task.points for task in work.stored.result.tasks}
            with gradebook.db.no_autoflush:
                for grade in notebook.grades:
                    name = grade.cell.name
                    score = points.get(name, 0 if name in empty else None)
                    grade.auto_score = None if score is None else float(score)
                    reviewed = grade.manual_score is not None
                    open_still = grade.needs_manual_grade or name in changed
                    grade.needs_manual_grade = open_still if reviewed else score is None
                said = comments(self._lab, work.stored.result, self._language)
                none = Message("gradebook.no-answer").text(self._language)
                for comment in notebook.comments:
                    comment.auto_comment = none if comment.cell.name in empty else said.get(comment.cell.name)
            gradebook.db.commit()

    def _write(self, work: Work, shown: Path, notebook: Notebook) -> None:
        """The report first: a notebook that is in place says that all of this student is."""
        pages = student_pages(self._course, self._lab, work.stored, f"{self._name}.html")
        record.write(shown.with_name(REPORT), pages[REPORT])
        content = json.dumps(notebook, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"
        submitted = self._book.submitted(self._lab, work.found.student)
        if not _is_the_class_s_own(submitted, work.found):
            record.write(submitted / shown.name, content)
            _write_time(submitted / STAMP, work.late.handed_in)
        record.write(shown, content)


def _write_time(path: Path, handed_in: datetime | None) -> None:
    """What nbgrader compares with its database: of two times that differ it says "needs autograding"."""
    if handed_in is None:
        path.unlink(missing_ok=True)
    else:
        record.write(path, f"{handed_in:%Y-%m-%d %H:%M:%S.%f} UTC\n".encode())


def _is_the_class_s_own(submitted: Path, found: Found) -> bool:
    """Whether nbgrader's folder of submissions is where students' work lies anyway."""
    return submitted.resolve() in [path.resolve() for path in found.paths]


def _read(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict):
            return found
    return {}


def _changed_by_hand(before: Notebook, after: Notebook) -> set[str]:
    """Hand-graded answers that differ from what a TA may have seen."""
    old, new = (
        {mark["grade_id"]: text_of(cell) for cell, mark in graded_cells(one) if kind(mark) == "by hand"}
        for one in (before or {"cells": []}, after)
    )
    return {id for id in old if old[id] != new.get(id)}
