"""The TA's desk: `grade`, `regrade` and `replay`, from their folders to the last line that is said."""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from autograder.batch import grade as batch
from autograder.batch import output, record
from autograder.batch import precheck as batch_precheck
from autograder.batch import regrade as batch_regrade
from autograder.batch import replay as batch_replay
from autograder.batch.audited import audited
from autograder.batch.classes import SAMPLE, labs_with_work, places
from autograder.batch.history import Change
from autograder.batch.store import Stored
from autograder.course import Course, CourseError, Lab

from . import changes as changes_text
from . import export, precheck, table
from . import replay as replay_text
from .console import FindLevel, console, progress, short
from .publish import Publisher

LISTED = 20  # students in a line


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line; None: the course's own."""

    lab: str | None = None
    submitted: Path | None = None
    out: Path | None = None
    jobs: int | None = None
    unsafe: bool = False


class Desk:
    """A course, its class and the labs in question. Its methods say what they do as they do it.

    Raises: CourseError for wrong use and bad course files; so do the methods, and StorageError.
    """

    def __init__(self, course: Course, wishes: Wishes) -> None:
        self._course = course
        self._at = places(course, wishes.submitted, wishes.out)
        self._labs, passed_over = (
            ([course.lab(wishes.lab)], []) if wishes.lab else labs_with_work(course, self._at.submitted)
        )
        for line in passed_over:
            click.echo(f"Passed over: {line}", err=True)
        self._jobs = wishes.jobs or len(os.sched_getaffinity(0))
        self._level = FindLevel(wishes.unsafe)

    def grade(self, as_json: bool) -> bool:
        """Grade what is due; whether no result needs a person."""
        if as_json and len(self._labs) > 1:
            labs = ", ".join(lab.id for lab in self._labs)
            raise CourseError(f"--json prints one lab. Add --lab with one of {labs}.")
        with self._claimed():
            complete = [self._grade(lab, as_json) for lab in self._labs]
        if self._at.sample and not as_json:
            place = f"{short(self._course.submitted)}/STUDENT/{self._course.labs[0].id}/"
            click.echo(
                f"This was the sample class ({SAMPLE}). Put yours into {place} and type `make grade` again."
            )
        return all(complete)

    def _grade(self, lab: Lab, as_json: bool) -> bool:
        publisher = Publisher(self._course, lab, self._at.out)
        with progress(lab.id) as (start, advance):

            def stored(one: Stored) -> None:
                publisher.page(one)
                advance()

            class_, everyone = batch.grade(
                lab, self._at.submitted, self._at.out, self._level, self._jobs, start, stored
            )
        changes = publisher.finish(class_, everyone)
        if as_json:
            click.echo(json.dumps(export.summary(class_), ensure_ascii=False, indent=1))
        else:
            self._show(class_)
        _tell(changes, err=as_json)
        self._tell_unproved(lab)
        return class_.complete

    def _tell_unproved(self, lab: Lab) -> None:
        """That nobody knows yet whether points are fair, if they are to count."""
        if not (self._at.sample or audited(self._course, lab)):
            click.echo(
                f"{lab.id}: no audit has passed with this key on the lab and the grader as they are. Before "
                f"points count, `make audit LAB={lab.id}` shows in some minutes whether they are fair.",
                err=True,
            )

    def regrade(self, yes: bool) -> bool:
        """Show what a change of course files does to grades, and write it when told to."""
        with self._claimed():
            complete = [self._regrade(lab, yes) for lab in self._labs]
        return all(complete)

    def _regrade(self, lab: Lab, yes: bool) -> bool:
        publisher = Publisher(self._course, lab, self._at.out)
        with progress(lab.id) as (start, advance):
            preview = batch_regrade.preview(
                lab, self._at.submitted, self._at.out, self._level, self._jobs, start, advance
            )
        for line in changes_text.lines(preview):
            click.echo(line)
        if not preview.pairs:
            return True
        if not (yes or _confirmed(f"Write these results to {short(self._at.out / lab.id)}?")):
            again = f"autograder regrade --lab {lab.id} --yes"
            click.echo(f"Nothing was written. `{again}` writes it; it is graded already.")
            return True
        class_, everyone = batch_regrade.write(preview)
        publisher.finish(class_, everyone)
        click.echo(f"Written. Reports and grades.csv: {short(self._at.out / lab.id)}")
        self._tell_unproved(lab)
        return class_.complete

    def replay(self, student: str, check: str) -> None:
        """Run one check of one student again and show all of it."""
        (lab,) = self._labs
        replayed, stored = batch_replay.replay(
            lab, self._at.submitted, self._at.out, student, check, self._level
        )
        for line in replay_text.lines(replayed, stored):
            click.echo(line)

    def precheck(self) -> None:
        """Run everybody's public tests, and write a page for each."""
        output.refuse_submissions(self._at.out, self._at.submitted)
        for lab in self._labs:
            self._precheck(lab)

    def _precheck(self, lab: Lab) -> None:
        checks = batch_precheck.Precheck(lab, self._at.submitted, self._level())
        with progress(lab.id) as (start, advance):
            start(len(checks.class_.found))
            for result in checks.run(self._jobs, advance):
                for name, page in precheck.pages(self._course, checks.shown, result).items():
                    record.write(self._at.out / lab.id / result.student / name, page)
        for message in checks.class_.refused:
            click.echo(message.text("en"), err=True)
        click.echo(f"{lab.id}: {short(self._at.out / lab.id)}/STUDENT/{precheck.PAGE}")

    def _claimed(self) -> contextlib.AbstractContextManager[None]:
        output.refuse_submissions(self._at.out, self._at.submitted)
        return output.claim(self._at.out, self._course.id)

    def _show(self, class_: batch.ClassResult) -> None:
        table.show(class_, console())
        click.echo(f"Reports and grades.csv: {short(self._at.out / class_.lab.id)}")


def _tell(changes: Sequence[Change], err: bool) -> None:
    """Grades that changed without their student's doing never change in silence."""
    if changes:
        listed = ", ".join(f"{one.student} {one.before} -> {one.after}" for one in changes[:LISTED])
        more = f" and {len(changes) - LISTED} more" if len(changes) > LISTED else ""
        click.echo(
            "Points changed although the work did not, as the lab or the grader has changed: "
            f"{listed}{more}. `autograder regrade` shows such changes, with reasons, before it writes them.",
            err=err,
        )


def _confirmed(question: str) -> bool:
    """Whether somebody who can be asked says yes."""
    return sys.stdin.isatty() and sys.stdout.isatty() and click.confirm(question)
