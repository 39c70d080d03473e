"""Grade a class: every submission of a lab whose stored result does not stand, in parallel.

A result stands if it was made by the same grader, with the same course files and key, from the same work; so
a batch that was killed goes on where it was, and a second one has nothing to do. Only contents are compared.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder import key
from autograder.course import CourseError, Lab
from autograder.intake import ClassFolder, Found, Submission, find_submissions, read_submission
from autograder.judging.protocol import Graded, Ready
from autograder.judging.verdicts import Result
from autograder.sandbox.client import LEVELS, Level
from labkit.messages import Message

from . import output, record
from .depends import dependencies
from .known import known
from .pool import Pool
from .store import Store, Stored

READINGS = 3  # of work that changes while it is graded


@dataclass
class ClassResult:
    """A graded class. `faults`: checks that the reference itself fails, which count for nobody.

    `stood`: how many results stood from before. `absent`: who has a result, but no work any more.
    """

    lab: Lab
    level: Level
    results: list[Result] = field(default_factory=list)
    refused: tuple[Message, ...] = ()
    faults: dict[str, Message] = field(default_factory=dict)
    stood: int = 0
    absent: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether no result needs a person."""
        return not self.refused and not self.faults and all(result.complete for result in self.results)


@dataclass
class Plan:
    """What is to be done for a class: whose result stands, and whose work is due. `work`: by student."""

    lab: Lab
    class_: ClassFolder
    store: Store
    secret: bytes
    depends: dict[str, str]
    work: dict[str, Submission]
    standing: dict[str, Stored] = field(default_factory=dict)
    due: list[Found] = field(default_factory=list)


def grade(
    lab: Lab,
    submitted: Path,
    out: Path,
    find_level: Callable[[], Level],
    jobs: int,
    on_start: Callable[[int], None],
    on_result: Callable[[Stored], None],
    diagnose: bool = True,
) -> tuple[ClassResult, list[Stored]]:
    """Grade what is due of `lab` below `submitted`, leave results below `out`/LAB.

    `find_level` is asked only if something is due; `on_start` gets the number of submissions that are.
    `diagnose`: whether typical mistakes are recognised, which changes no verdict.
    Raises: CourseError for bad course files, folders or grading tests; StorageError when a result can't
    be stored.
    """
    plan = planned(lab, submitted, out)
    unsafe = [found for found in plan.class_.found if _is_unsafe(plan.standing.get(found.student))]
    stored = dict(plan.standing)
    faults: dict[str, Message] = {}
    due, graded = plan.due, 0
    if due or unsafe:
        level = find_level()
        due = due + (unsafe if level != "none" else [])

        def keep(result: Graded) -> None:
            nonlocal graded
            one = plan.store.keep(result, plan.depends, level)
            stored[result.result.student] = one
            graded += 1
            on_result(one)

        faults = run(plan, due, level, jobs, on_start, keep, diagnose) if due else {}
    kept = [stored[student] for student in sorted(stored)]
    class_ = class_result(plan, kept)
    class_.faults, class_.stood = faults, len(kept) - graded
    return class_, kept


def planned(lab: Lab, submitted: Path, out: Path) -> Plan:
    """Read what was handed in, and what is stored; compare.

    Raises: CourseError.
    """
    class_ = find_submissions(submitted, lab.id)
    output.refuse_submissions(out, submitted)
    secret = key.load_key()
    store = Store(out / lab.id, key.key_id(secret))
    record.prepare(store.folder, store.key)
    store.sweep()
    work = {found.student: read_submission(found, lab.texts, lab.graded_notebook) for found in class_.found}
    plan = Plan(lab, class_, store, secret, dependencies(lab), work)
    for found in class_.found:
        stored = store.load(found.student)
        if stored and stands(stored, work[found.student], plan.depends, store.key):
            plan.standing[found.student] = stored
        else:
            plan.due.append(found)
    return plan


def stands(stored: Stored, submission: Submission, depends: dict[str, str], key_id: str) -> bool:
    """Whether grading again would give the same result. What the grader failed at is always tried again."""
    same = stored.record.hashes == {**depends, "submission": submission.digest}
    decided = stored.result.complete or submission.error is not None
    return (
        same
        and decided
        and (stored.record.schema, stored.record.key) == (record.SCHEMA, key_id)
        and is_of(stored.result, stored.record.hashes["submission"], submission)
    )


def is_of(result: Result, digest: str, submission: Submission) -> bool:
    """Whether a result is that of this reading of the work; the digest leaves out what is only noted."""
    notes = [note for note in result.notes if note.id.startswith("intake.")]
    return digest == submission.digest and notes == list(submission.notes)


def run(
    plan: Plan,
    due: Sequence[Found],
    level: Level,
    jobs: int,
    on_start: Callable[[int], None],
    keep: Callable[[Graded], None],
    diagnose: bool = True,
) -> dict[str, Message]:
    """Grade what is due and hand each result to `keep`; which checks the reference fails, and why.

    A result belongs to one reading of the work: what has changed meanwhile is graded again.
    Raises: CourseError.
    """
    faults: dict[str, Message] = {}
    found = {one.student: one for one in due}
    readings = dict.fromkeys(found, 0)
    started: list[Ready] = []

    def ready(message: Ready) -> None:
        if dependencies(plan.lab) != plan.depends:
            raise CourseError(
                f"{plan.lab.id}: the course's files changed while its grader was starting. Run it again; "
                "what is stored is whole."
            )
        if not started:
            faults.update(message.faults)
            on_start(len(due))
        started.append(message)

    def done(graded: Graded) -> None:
        one = found[graded.result.student]
        readings[one.student] += 1
        if graded.digest and not all(map(os.path.lexists, one.paths)):
            return  # taken away meanwhile: as if it had never been there
        now = read_submission(one, plan.lab.texts, plan.lab.graded_notebook)
        if (
            graded.digest
            and not is_of(graded.result, graded.digest, now)
            and readings[one.student] < READINGS
        ):
            pool.add(one)
        else:
            keep(graded)

    mistakes = known(plan.lab, plan.store, plan.depends) if diagnose else None
    with Pool(plan.lab, level, plan.secret, jobs, known=mistakes) as pool:
        pool.run(due, ready, done)
    return faults


def class_result(plan: Plan, stored: Sequence[Stored]) -> ClassResult:
    """The class as it lies on disk; its level is the weakest of its results'."""
    levels = [one.level for one in stored]
    level = max(levels, key=LEVELS.index) if levels else "none"
    listed = {one.result.student for one in stored}
    absent = tuple(student for student in plan.store.students() if student not in listed)
    return ClassResult(plan.lab, level, [one.result for one in stored], plan.class_.refused, absent=absent)


def _is_unsafe(stored: Stored | None) -> bool:
    return stored is not None and stored.level == "none"
