"""What a class tells about checks and mistakes, from stored results: figures, and beside them titles, hints
and the plainest example; no names of students.
"""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.batch.store import Stored
from autograder.judging.details import Detail
from autograder.judging.verdicts import Result

LEAST = 20  # students without whom a correlation is chance

_Case = tuple[Result, Detail]  # of one student


@dataclass(frozen=True)
class Figures:
    """A check in figures, with titles by language. `decided`: students of whom is known whether they pass."""

    task: dict[str, str]
    title: dict[str, str]
    passed: int
    decided: int
    discrimination: float | None

    @property
    def failed(self) -> int:
        """How many of the students don't pass."""
        return self.decided - self.passed

    @property
    def share(self) -> float:
        """The pass rate, 0 to 1."""
        return self.passed / self.decided

    @property
    def percent(self) -> int:
        """The pass rate in full percent: 100 only if nobody fails."""
        return 100 * self.passed // self.decided


@dataclass(frozen=True)
class Recognised:
    """A family of typical mistakes: who made one of them, in which tasks, and the simplest failure seen.

    `hints`: what helps, by language, with the number of students, commonest first.
    """

    family: str
    students: int
    tasks: list[dict[str, str]]
    hints: list[tuple[dict[str, str], int]]
    example: Detail


def check_figures(results: Sequence[Result]) -> list[Figures]:
    """Of each check with points that is decided for anybody, in the lab's order.

    What a person must decide first counts nowhere.
    """
    titles: dict[str, tuple[dict[str, str], dict[str, str]]] = {}
    passes: dict[str, list[bool]] = defaultdict(list)
    pairs: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    for result in results:
        for task in result.tasks:
            for check in task.checks:
                if not check.max:
                    continue
                titles[check.id] = (task.title, check.title)
                if check.points is not None:
                    passed = check.outcome == "passed"
                    passes[check.id].append(passed)
                    if result.points is not None:
                        pairs[check.id].append((passed, result.points - check.points))
    return [
        Figures(*both, sum(passes[id]), len(passes[id]), discrimination(pairs[id]))
        for id, both in titles.items()
        if id in passes
    ]


def discrimination(pairs: Sequence[tuple[bool, float]]) -> float | None:
    """How well a check tells apart who does well in all others: between -1 and 1.

    `pairs`: of each student, whether it passed and the points of all other checks. Their correlation is the
    point-biserial one, corrected: with its own points among the total, a check would seem to tell something
    by itself. None below `LEAST` students, or where all pass or fail, or have equal points.

    Source: J. P. Guilford, The correlation of an item with a composite of the remaining items in a test,
    Educational and Psychological Measurement 13, 1953; S. Henrysson, Correction of item-total correlations in
    item analysis, Psychometrika 28(2), 1963.
    """
    passed, rest = [float(one) for one, _ in pairs], [float(points) for _, points in pairs]
    if len(pairs) < LEAST or len(set(passed)) < 2 or len(set(rest)) < 2:
        return None
    return min(max(statistics.correlation(passed, rest), -1.0), 1.0)


def recognised(everybody: Sequence[Stored]) -> list[Recognised]:
    """The families that diagnosis named, commonest first; none where nothing was diagnosed."""
    cases: dict[str, list[_Case]] = defaultdict(list)
    for one in everybody:
        for detail in one.facts.details:
            if detail.family:
                cases[detail.family].append((one.result, detail))
    found = [_recognised(family, same) for family, same in cases.items()]
    return sorted(found, key=lambda one: (-one.students, one.family))


def _recognised(family: str, cases: list[_Case]) -> Recognised:
    checks = {detail.check for _, detail in cases}
    told: dict[tuple[tuple[str, str], ...], set[str]] = defaultdict(set)
    for result, detail in cases:
        if detail.hint:
            told[tuple(sorted(detail.hint.items()))].add(result.student)
    hints = sorted(((dict(hint), len(heard)) for hint, heard in told.items()), key=lambda one: -one[1])
    return Recognised(
        family,
        len({result.student for result, _ in cases}),
        [task.title for task in cases[0][0].tasks if checks & {check.id for check in task.checks}],
        hints,
        min((detail for _, detail in cases), key=_difficulty),
    )


def _difficulty(detail: Detail) -> tuple[bool, bool, bool, int, str]:
    """How hard it is to see what went wrong: a marked graph is best, a small one better than a large one."""
    drawn = len(detail.nodes) > 1
    call = repr([detail.program, detail.smaller or detail.inputs, detail.nodes, detail.found])
    size = len(detail.nodes) if drawn else len(call)
    return not (drawn and detail.found), not drawn, not detail.program, size, call
