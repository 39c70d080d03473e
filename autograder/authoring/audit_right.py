"""Right work: the reference, and other ways that are right too. It must have full marks on every variant."""

import re
from collections.abc import Container
from dataclasses import dataclass

from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import Modules, shown, solved_modules
from autograder.course import CourseError, Lab
from autograder.judging.verdicts import Result
from autograder.key import VARIANTS

REFERENCE, ALTERNATE = "lab.reference", "alternate."  # no mutant's id has a dot


@dataclass(frozen=True)
class Right:
    """Right work, the tasks of it that ran, and its results, one a variant."""

    name: str
    tasks: frozenset[str]
    results: tuple[Result, ...]

    @property
    def failed(self) -> list[Result]:
        """The results without full marks."""
        return [result for result in self.results if not full_marks(result, self.tasks)]

    @property
    def points(self) -> tuple[int, int]:
        """The least points of all variants, and what there was to earn, in the tasks that ran."""
        ran = [[task for task in result.tasks if task.id in self.tasks] for result in self.results]
        return (
            min(sum(task.points or 0 for task in tasks) for tasks in ran),
            sum(task.max for task in ran[0]),
        )


def works(lab: Lab, solved: Modules) -> list[Work]:
    """The reference in full and each alternate where it differs, on all variants. Raises: CourseError."""
    made = [Work(REFERENCE, solved, variant) for variant in range(VARIANTS)]
    for name, modules in read_alternates(lab).items():
        tasks = tuple(sorted(reached(lab, solved, modules)))
        made += [Work(ALTERNATE + name, modules, variant, tasks) for variant in range(VARIANTS)]
    return made


def found(lab: Lab, solved: Modules, runs: Runs) -> tuple[Right, ...]:
    """What became of them, the reference first. Raises: CourseError."""
    reference = Right("the reference", frozenset(task.id for task in lab.tasks), runs.of(REFERENCE))
    alternates = (
        Right(name, reached(lab, solved, modules), runs.of(ALTERNATE + name))
        for name, modules in read_alternates(lab).items()
    )
    return (reference, *alternates)


def full_marks(result: Result, tasks: Container[str]) -> bool:
    """Whether each of these tasks has full marks."""
    return all(task.outcome == "passed" for task in result.tasks if task.id in tasks)


def reached(lab: Lab, solved: Modules, modules: Modules) -> frozenset[str]:
    """The tasks that can end otherwise than the reference's.

    Beside kernels under test no module runs: where their file is the reference's, so is how they end.
    """
    return frozenset(
        task.id for task in lab.tasks if not (file := lab.launched(task)) or modules[file] != solved[file]
    )


def read_alternates(lab: Lab) -> dict[str, Modules]:
    """Other right solutions: alternates/NAME/ holds whole files, and why.md that names the algorithm.

    What it doesn't hold is as in the reference.

    Raises: CourseError.
    """
    folder = lab.reference / "alternates"
    alternates, solved = {}, solved_modules(lab)
    for path in sorted(folder.glob("*/")):
        place = shown(lab, f"alternates/{path.name}")
        if not re.fullmatch(r"[a-z0-9-]{1,40}", path.name):
            raise CourseError(
                f"{place}: no alternate can be called so. Use small letters, digits and hyphens."
            )
        if not (path / "why.md").is_file():
            raise CourseError(f"{place}/why.md is missing. Name the algorithm there.")
        names = [f"alternates/{path.name}/{name}" for name in solved if (path / name).exists()]
        alternates[path.name] = solved | (solved_modules(lab, names) if names else {})
    return alternates
