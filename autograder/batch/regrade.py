"""After a change of grading tests, reference or grader: grade aside, compare, and write only when told to.

What was graded aside is kept in OUT/LAB/.regrade, so that writing it later costs nothing.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import CourseError, Lab
from autograder.judging.protocol import Graded
from autograder.sandbox.client import Level

from . import record
from .grade import ClassResult, Plan, class_result, is_of, planned, run, stands
from .store import Store, Stored

ASIDE = ".regrade"


@dataclass(frozen=True)
class Pair:
    """One student's result as it is stored, and as it would be."""

    before: Stored
    after: Stored

    @property
    def student(self) -> str:
        """Whose they are."""
        return self.after.result.student


@dataclass
class Preview:
    """What would change. `untouched`: whose result depends on nothing that changed.

    `others`: whose work is new or changed; that is for `grade`.
    """

    plan: Plan
    aside: Store
    pairs: list[Pair] = field(default_factory=list)
    untouched: int = 0
    others: int = 0


def preview(
    lab: Lab,
    submitted: Path,
    out: Path,
    find_level: Callable[[], Level],
    jobs: int,
    on_start: Callable[[int], None],
    on_result: Callable[[], None],
) -> Preview:
    """Grade again, aside, every stored result of unchanged work that does not stand any more.

    Raises: CourseError, also if nothing is stored; StorageError.
    """
    plan = planned(lab, submitted, out)
    if not plan.store.students():
        raise CourseError(f"{plan.store.folder} holds no results yet. Run `autograder grade` first.")
    aside = Store(plan.store.folder / ASIDE, plan.store.key)
    aside.sweep()
    before = _outdated(plan)
    if not before:
        shutil.rmtree(aside.folder, ignore_errors=True)
    after: dict[str, Stored] = {}
    for student in before:
        done = aside.load(student)
        if done and stands(done, plan.work[student], plan.depends, aside.key):
            after[student] = done
    due = [found for found in plan.due if found.student in before and found.student not in after]
    if due:
        record.prepare(aside.folder, aside.key)
        level = find_level()

        def keep(graded: Graded) -> None:
            after[graded.result.student] = aside.keep(graded, plan.depends, level)
            on_result()

        run(plan, due, level, jobs, on_start, keep)
    pairs = [Pair(before[student], after[student]) for student in sorted(after)]
    return Preview(plan, aside, pairs, len(plan.standing), len(plan.due) - len(before))


def _outdated(plan: Plan) -> dict[str, Stored]:
    """Stored results of work that is as it was, by student."""
    found = {}
    for one in plan.due:
        stored = plan.store.load(one.student)
        if stored and is_of(stored.result, stored.record.hashes["submission"], plan.work[one.student]):
            found[one.student] = stored
    return found


def write(preview: Preview) -> tuple[ClassResult, Sequence[Stored]]:
    """Put the new results in the place of the old; the class as it then is.

    Raises: StorageError; run it again to go on.
    """
    for pair in preview.pairs:
        preview.plan.store.adopt(pair.student, preview.aside)
    shutil.rmtree(preview.aside.folder, ignore_errors=True)
    loaded = [preview.plan.store.load(found.student) for found in preview.plan.class_.found]
    stored = [one for one in loaded if one]
    return class_result(preview.plan, stored), stored
