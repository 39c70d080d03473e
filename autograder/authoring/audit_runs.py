"""The audit's way into grading: modules handed in like a student's work, examined by a class's graders."""

import itertools
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder import key
from autograder.authoring.audit_cache import Cache
from autograder.authoring.mutants import Modules, notebook
from autograder.batch.depends import dependencies
from autograder.batch.pool import Pool
from autograder.course import CourseError, Lab
from autograder.intake import Found, find_submissions
from autograder.judging.explain import in_full
from autograder.judging.protocol import Examination, Graded, Ready, Until
from autograder.judging.verdicts import Result
from autograder.sandbox.client import Level
from labkit import predict


@dataclass(frozen=True)
class Work:
    """Modules to examine under a name; `only`, `until`, `hurried`: see Examination."""

    name: str
    modules: Modules
    variant: int
    only: tuple[str, ...] = ()
    until: Until = ""
    hurried: bool = False


class Runs:
    """Results by name and variant; what has been examined once is not examined again, in later audits either.

    `folder`: where results are kept; `secret`: another key than the course's.
    """

    def __init__(
        self,
        lab: Lab,
        folder: Path,
        find_level: Callable[[], Level],
        jobs: int,
        on_start: Callable[[int], None],
        on_result: Callable[[], None],
        secret: bytes = b"",
    ) -> None:
        self._lab, self._find_level, self._jobs = lab, find_level, jobs
        self._on_start, self._on_result = on_start, on_result
        self._secret = secret or key.load_key()
        self._beside = notebook(lab, cut=False)  # what mutants and alternates don't hold
        self.key_id = key.key_id(self._secret)
        self._cache = Cache(folder, [dependencies(lab), self.key_id])
        self._results: dict[str, dict[int, Graded]] = {}

    def run(self, wanted: Iterable[Work]) -> None:
        """Examine all work that has not been examined.

        Raises: CourseError, also where the reference fails a check of its own.
        """
        fresh = []
        for work in wanted:
            if work.variant in self._results.get(work.name, {}):
                continue
            if kept := self._cache.load(self._depends(work), Graded):
                self._note(work, kept)
            else:
                fresh.append(work)
        if fresh:
            self._on_start(len(fresh))
            with tempfile.TemporaryDirectory(prefix="adkit-audit-") as folder:
                self._examine(Path(folder), fresh)

    def of(self, name: str) -> tuple[Result, ...]:
        """All results of a name, by variant."""
        return tuple(graded.result for graded in self.graded(name))

    def graded(self, name: str) -> tuple[Graded, ...]:
        """The same with their facts."""
        return tuple(graded for _, graded in sorted(self._results.get(name, {}).items()))

    def _examine(self, folder: Path, works: list[Work]) -> None:
        by_student = {self._student(number, work.variant): work for number, work in enumerate(works)}
        for student, work in by_student.items():
            (folder / student / self._lab.id).mkdir(parents=True)
            for file, text in (self._beside | work.modules).items():
                (folder / student / self._lab.id / file).write_text(text, encoding="utf-8")

        def order(found: Found) -> Examination:
            work = by_student[found.student]
            return Examination(found, work.only, work.until, work.hurried)

        def ready(message: Ready) -> None:
            for check, why in message.faults.items():
                raise CourseError(f"The reference fails its own check {check}: {in_full(why)} Mend the test.")

        def done(graded: Graded) -> None:
            work = by_student[graded.result.student]
            self._note(work, graded)
            if all(task.outcome != "grader-fault" for task in graded.result.tasks):
                self._cache.keep(self._depends(work), graded)
            self._on_result()

        level = self._find_level()
        with Pool(self._lab, level, self._secret, self._jobs, "examine", order=order) as pool:
            pool.run(find_submissions(folder, self._lab.id).found, ready, done)

    def _note(self, work: Work, graded: Graded) -> None:
        self._results.setdefault(work.name, {})[work.variant] = graded

    def _depends(self, work: Work) -> list[object]:
        return [self._beside | work.modules, work.variant, work.only, work.until, work.hurried]

    def _student(self, number: int, variant: int) -> str:
        """An id to which the key gives this variant; a notebook's questions have the same number."""
        ids = (f"work-{number}-{attempt}" for attempt in itertools.count())
        return next(
            id
            for id in ids
            if key.variant_of(self._secret, id) == variant
            and (not self._beside or predict.number(id) == variant)
        )
