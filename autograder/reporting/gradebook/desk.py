"""The TA's desk for nbgrader: `gradebook`, `formgrader` and `feedback`."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import click

from autograder.batch import output, record
from autograder.batch.classes import labs_with_work, places
from autograder.course import Course, CourseError, Lab
from autograder.intake import find_submissions
from autograder.reporting.console import progress, short
from labkit.jupyter import open_page
from labkit.lab import WrongUse

from . import guards
from .book import in_folder, lab_with_notebook, opened
from .handing_back import write_feedback
from .push import Pusher
from .register import register
from .roster import read_roster
from .scores import scores_csv
from .works import works

LISTED = 20  # students in a line


class BookDesk:
    """A course, its class and its gradebook. Its methods say what they do as they do it.

    Raises: CourseError for wrong use and bad course files; so do the methods, and StorageError.
    """

    def __init__(
        self,
        course: Course,
        lab: str | None,
        submitted: Path | None,
        out: Path | None,
        gradebook: Path | None,
    ) -> None:
        self._course = course
        self._at = places(course, submitted, out)
        self._book = in_folder(course, gradebook, self._at.sample)
        if lab:
            self._labs = [course.lab(lab)]
        else:
            found, _ = labs_with_work(course, self._at.submitted)
            self._labs = [one for one in found if one.notebook] or found[:1]
        self._roster = read_roster(course.root)

    def push(self) -> None:
        """Bring the gradebook in step with what is graded."""
        with self._claimed():
            for lab in self._labs:
                self._push(lab)

    def feedback(self) -> None:
        """Bring the gradebook in step, then write what is handed back."""
        with self._claimed():
            for lab in self._labs:
                students = self._push(lab)
                with progress(f"{lab.id} (feedback)") as (start, advance):
                    start(len(students))
                    write_feedback(self._book, self._course, lab, students, advance)
                click.echo(f"{lab.id}: feedback in {short(self._book.root)}/feedback/STUDENT/{lab.id}/")

    def formgrader(self) -> None:
        """Run formgrader until Ctrl-C."""
        self._book.class_()
        guards.write(self._book)
        lab = self._labs[0]
        page = f"/formgrader/gradebook/{lab.id}/{lab_with_notebook(lab)}"
        further = {"gradebook.questions-at": _by_login(f"/autograder/questions/{lab.id}")}
        try:
            open_page(_by_login(page), self._book.root, "en", self._book.root, further)
        except WrongUse as error:
            raise CourseError(str(error)) from None

    @contextlib.contextmanager
    def _claimed(self) -> Iterator[None]:
        for taken in (self._at.submitted, self._at.out):
            if self._book.root.resolve() == taken.resolve():
                raise CourseError(f"{taken} is in use. Choose another folder with --gradebook.")
        with output.claim(self._book.root, self._course.id, "--gradebook"):
            self._book.remember(self._course, self._at)
            guards.write(self._book)
            yield

    def _push(self, lab: Lab) -> list[str]:
        """Push a lab; whose work it has."""
        lab_with_notebook(lab)
        class_ = find_submissions(self._at.submitted, lab.id)
        with progress(lab.id) as (start, advance):
            found = list(works(self._course, lab, class_.found, self._at.out, self._roster))
            start(len(found))
            pushed = 0
            with opened(self._book, self._course) as gradebook:
                release = register(self._book, self._course.id, lab, gradebook)
                pusher = Pusher(self._book, self._course, lab, release, gradebook)
                forgetful = pusher.is_forgetful
                for work in found:
                    pushed += pusher.push(work)
                    advance()
                pusher.charge(found)
                scores = scores_csv(lab, release, self._roster, gradebook)
        record.write(self._book.scores(lab), scores.encode("utf-8-sig"))
        if forgetful:
            click.echo(
                f"{short(self._book.database)} is new, though work was pushed before: what TAs entered isn't "
                "in it. If you have a copy, put it back, remove autograded/ beside it and run this again.",
                err=True,
            )
        students = [work.found.student for work in found]
        self._tell(lab, students, pushed)
        for message in class_.refused:
            click.echo(message.text("en"), err=True)
        return students

    def _tell(self, lab: Lab, students: list[str], pushed: int) -> None:
        click.echo(f"{lab.id}: {pushed} of {len(students)} pushed; the others are as they were.")
        click.echo(f"Scores: {short(self._book.scores(lab))}")
        strangers = [student for student in students if self._roster and student not in self._roster]
        if strangers:
            more = f" and {len(strangers) - LISTED} more" if len(strangers) > LISTED else ""
            listed = f"{', '.join(strangers[:LISTED])}{more}"
            click.echo(f"Pushed, but not in roster.csv: {listed}.", err=True)


def _by_login(page: str) -> str:
    """By this way the browser keeps the token, which pages other than JupyterLab's don't hand on."""
    return f"/login?{urlencode({'next': page})}"
