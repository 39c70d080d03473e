"""The audit's way into grading: modules handed in like a student's work, graded by the batch of a class."""

import itertools
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from autograder import key
from autograder.authoring.mutants import Modules, notebook
from autograder.batch.grade import grade
from autograder.course import CourseError, Lab
from autograder.judging.explain import in_full
from autograder.judging.verdicts import Result
from autograder.sandbox.client import Level
from labkit import predict


class Runs:
    """Results by name and variant; what has been graded once is not graded again."""

    def __init__(
        self,
        lab: Lab,
        find_level: Callable[[], Level],
        jobs: int,
        on_start: Callable[[int], None],
        on_result: Callable[[], None],
    ) -> None:
        self._lab, self._find_level, self._jobs = lab, find_level, jobs
        self._on_start, self._on_result = on_start, on_result
        self._secret = key.load_key()
        self._beside = notebook(lab, cut=False)  # what mutants and alternates don't hold
        self.key_id = key.key_id(self._secret)
        self._results: dict[str, dict[int, Result]] = {}

    def run(self, wanted: Iterable[tuple[str, Modules, int]]) -> None:
        """Grade each (name, modules, variant) that has not been graded.

        Raises: CourseError, also where the reference fails a check of its own.
        """
        fresh = [one for one in wanted if one[2] not in self._results.get(one[0], {})]
        if not fresh:
            return
        with tempfile.TemporaryDirectory(prefix="adkit-audit-") as folder:
            submitted, out = Path(folder, "submitted"), Path(folder, "graded")
            for name, modules, variant in fresh:
                work = submitted / self._student(name, variant) / self._lab.id
                work.mkdir(parents=True)
                for file, text in (self._beside | modules).items():
                    (work / file).write_text(text, encoding="utf-8")
            graded, _ = grade(
                self._lab,
                submitted,
                out,
                self._find_level,
                self._jobs,
                self._on_start,
                lambda _: self._on_result(),
                diagnose=False,
            )
        for check, message in graded.faults.items():
            raise CourseError(f"The reference fails its own check {check}: {in_full(message)} Mend the test.")
        for result in graded.results:
            self._results.setdefault(result.student.rpartition("--")[0], {})[result.variant] = result

    def of(self, name: str) -> tuple[Result, ...]:
        """All results of a name, by variant."""
        return tuple(result for _, result in sorted(self._results[name].items()))

    def _student(self, name: str, variant: int) -> str:
        """An id to which the key gives this variant; a notebook's questions have the same number."""
        ids = (f"{name}--{number}" for number in itertools.count())
        return next(
            id
            for id in ids
            if key.variant_of(self._secret, id) == variant
            and (not self._beside or predict.number(id) == variant)
        )
