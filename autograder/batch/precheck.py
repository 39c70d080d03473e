"""Everybody's public tests on the course's machine: what `labkit check` says where a student can't run it.

No hidden test, no reference and no points take part.
"""

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import labkit.lab
from autograder.course import CourseError, Lab
from autograder.intake import ClassFolder, Found, Submission, find_submissions, read_submission
from autograder.judging.explain import clean
from autograder.judging.kernels import Built
from autograder.sandbox.client import Kernels, Level, SandboxError
from autograder.sandbox.public_tests import Room
from labkit.check import gate
from labkit.check.run import Run, run_tests
from labkit.messages import Message

from .depends import compiler_of

SEED = 1


@dataclass(frozen=True)
class Prechecked:
    """What one student's public tests said; `run` is None where nothing could be run, which `said` tells."""

    student: str
    run: Run | None
    said: list[Message] = field(default_factory=list)


class Precheck:
    """A class's work on a lab, ready to be looked at. Raises: CourseError."""

    def __init__(self, lab: Lab, submitted: Path, level: Level) -> None:
        self.class_: ClassFolder = find_submissions(submitted, lab.id)
        self._lab, self._level = lab, level
        try:
            self.shown = labkit.lab.read_lab(lab.skeleton)
            self._tests = {
                f"tests/{path.name}": path.read_bytes() for path in lab.skeleton.glob("tests/*.py")
            }
        except (labkit.lab.WrongUse, OSError) as error:
            raise CourseError(f"{lab.id}: {error} Run: make labs") from None
        if not self._tests:
            raise CourseError(f"{lab.id} has no public tests in reference/{lab.folder}/tests.")

    def run(self, jobs: int, on_result: Callable[[], None]) -> Iterator[Prechecked]:
        """Everybody's outcome, in the order of their ids; the skeleton's first, to see that tests can run.

        Raises: CourseError.
        """
        build = self._builder()
        self._try_the_skeleton()

        def one(found: Found) -> Prechecked:
            result = self._one(found, build)
            on_result()
            return result

        with ThreadPoolExecutor(jobs) as threads:
            yield from threads.map(one, self.class_.found)

    def _try_the_skeleton(self) -> None:
        try:
            files = {name: (self._lab.skeleton / name).read_text("utf-8") for name in self._lab.modules}
            given = Submission("skeleton", files, {}, (), None, "")
            self._run(given, {}, list(self._lab.kernels))
        except (OSError, SandboxError, labkit.lab.WrongUse) as error:
            raise CourseError(f"{self._lab.id}: public tests can't run on the skeleton: {error}") from None

    def _builder(self) -> Callable[[dict[str, str]], dict[str, Built]]:
        if not self._lab.kernels:
            return lambda files: {}
        from autograder.judging.workshop import Workshop  # most labs have no kernels

        compiler_of(self._lab)
        return Workshop(self._lab, self._level).build

    def _one(self, found: Found, build: Callable[[dict[str, str]], dict[str, Built]]) -> Prechecked:
        submission = read_submission(found, self._lab.texts)
        if submission.error:
            return Prechecked(found.student, None, [submission.error])
        built = build(submission.files)
        problems = submission.problems | {name: one.problem[1] for name, one in built.items() if one.problem}
        refused = {name: one.gate for name, one in built.items() if one.gate}
        facts = [one for name, errors in refused.items() for one in gate.said(name, list(map(clean, errors)))]
        said = [*problems.values(), *submission.notes, *facts]
        try:
            run = self._run(submission, built, list(problems))
        except (
            Exception
        ):  # what a hostile process tells may be anything; a defect of ours costs nobody points
            return Prechecked(found.student, None, [*said, Message("precheck.unreadable")])
        return Prechecked(found.student, run, said)

    def _run(self, submission: Submission, built: dict[str, Built], unusable: list[str]) -> Run:
        files = {name: text.encode() for name, text in submission.files.items() if name not in unusable}
        compiled = {name: data for one in built.values() for name, data in (one.fast | one.checked).items()}
        kernels = Kernels(compiled) if self._lab.kernels else None
        with Room(self._level, files | self._tests, self._lab.limits, kernels) as room:
            here = dataclasses.replace(self.shown, folder=room.folder)
            run = run_tests(here, SEED, room.start, unusable)
        for name in unusable:
            del run.imports[name]
        return run
