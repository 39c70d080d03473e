"""Does an answer of no thought earn points? It must fail every check in which it is another answer.

[[answer]]                                  # equivalents.toml: answers that are right all the same
kinds = ["rounded"]
checks = ["test_notebook.py::test_two_decimals"]
reason = "Two decimals are asked for."
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from autograder.authoring import spoil
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.equivalents import FILE, Right, read_equivalents
from autograder.authoring.mutants import shown
from autograder.authoring.thoughtless import Thoughtless, thoughtless
from autograder.course import Lab
from autograder.judging.protocol import Graded
from autograder.judging.verdicts import UNDECIDED
from autograder.key import VARIANTS


@dataclass(frozen=True)
class Earned:
    """What an answer of no thought earns in a check; `excused`: whether equivalents.toml says why."""

    kind: str
    task: str
    check: str
    points: int
    variant: int
    excused: bool

    def __str__(self) -> str:
        return f"{self.kind} for {self.task} earns {self.points} in {self.check} on variant {self.variant}"


@dataclass(frozen=True)
class Answers:
    """What became of all answers of no thought. `defects`: what must be mended, each in one line.

    tried: by kind and task, the checks with points in which it was another answer.
    """

    tried: dict[tuple[str, str], int]
    earned: tuple[Earned, ...]
    defects: tuple[str, ...]

    @property
    def lost(self) -> int:
        """How many of these checks failed."""
        return sum(self.tried.values()) - len(self.earned)

    @property
    def survivors(self) -> tuple[Earned, ...]:
        """What is earned without a reason."""
        return tuple(one for one in self.earned if not one.excused)


def works(lab: Lab) -> list[Work]:
    """What is to be graded: each kind of answer for each task, on one variant. Raises: CourseError."""
    return [
        Work(one.name, one.modules, number % VARIANTS, (one.task,))
        for number, one in enumerate(thoughtless(lab))
    ]


def rule(lab: Lab, runs: Runs) -> Answers:
    """The verdict on all of them. Raises: CourseError."""
    listed = read_equivalents(lab).answer
    excuses = {(kind, check) for right in listed for kind in right.kinds for check in right.checks}
    tried: dict[tuple[str, str], int] = {}
    earned, defects = [], []
    for answer in thoughtless(lab):
        for graded in runs.graded(answer.name):
            (task,) = (task for task in graded.result.tasks if task.id == answer.task)
            if task.outcome in UNDECIDED:
                defects.append(f"{answer.name}: the grader failed on variant {graded.result.variant}.")
                continue
            other = [check for check in task.checks if check.max and _is_other(answer, graded, check.id)]
            tried[answer.kind, task.id] = tried.get((answer.kind, task.id), 0) + len(other)
            earned += [
                Earned(
                    answer.kind,
                    task.id,
                    check.id,
                    check.max,
                    graded.result.variant,
                    (answer.kind, check.id) in excuses,
                )
                for check in other
                if check.outcome == "passed"
            ]
    defects += [*_untried(tried), *_idle(lab, listed, earned)]
    return Answers(tried, tuple(earned), tuple(defects))


def _is_other(answer: Thoughtless, graded: Graded, check: str) -> bool:
    """Whether the check saw another answer than the right one; spoil.py says so, kernels can't."""
    said = (str(entry.get("printed", "")) for entry in graded.facts if entry["check"] == check)
    return answer.in_kernels or any(spoil.CHANGED in printed for printed in said)


def _untried(tried: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Tasks of which nobody knows what they let pass."""
    for task in dict.fromkeys(task for _, task in tried):
        if not any(count for (_, other), count in tried.items() if other == task):
            yield f"{task}: no answer of no thought was another answer there. Add a check of answers."


def _idle(lab: Lab, listed: Iterable[Right], earned: Iterable[Earned]) -> Iterator[str]:
    needed = {(one.kind, one.check) for one in earned}
    for right in listed:
        for kind in right.kinds:
            for check in right.checks:
                if (kind, check) not in needed:
                    place = f"{shown(lab, FILE)}: [[answer]] {kind}, {check}"
                    yield f"{place}: no such answer passes this check. Remove the entry."
