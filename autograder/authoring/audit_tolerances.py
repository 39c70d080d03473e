"""Has each tolerance room? Right answers keep below a tenth of it, wrong ones are off by ten times it.

Measured are answers as the judge measures them: right ones of the reference and the alternates; wrong ones of
mutants and answers of no thought, in the tasks they are meant for. Not of random ones: how near they come is
luck. Exact quantities have no tolerance, and checks without points guard given code, which no mutant changes.
Some quantities nobody gets wrong, as values that given code computes: they are not measured on that side. But
in each task something must be, of what is compared with the default tolerances and with the checks' own.
"""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.authoring.audit_runs import Runs
from autograder.judging.judge import TOLERANCE
from autograder.judging.protocol import Measured

ROOM = 10
_Key = tuple[str, str, str, str, float]  # task, check, program, quantity, tolerance


@dataclass(frozen=True)
class Gap:
    """What was measured of a tolerance, in shares of it.

    worst: of right answers. least: of wrong ones that it refused, None if there was none; whose that was.
    """

    task: str
    check: str
    program: str
    quantity: str
    tolerance: float
    worst: float
    least: float | None
    nearest: str

    @property
    def has_room(self) -> bool:
        """Whether there is room on both sides, as far as they were measured."""
        return self.worst * ROOM <= 1 and (self.least is None or self.least >= ROOM)

    @property
    def kind(self) -> tuple[str, bool]:
        """The task, and whether the tolerance is a check's own."""
        return self.task, self.tolerance not in TOLERANCE.values()

    def __str__(self) -> str:
        wrong = f"by at least {self.least:.2g} ({self.nearest})" if self.least is not None else "not measured"
        return (
            f"{self.check}: {self.quantity} of {self.program} has no room around its tolerance "
            f"{self.tolerance:g}: of that, right answers are off by up to {self.worst:.2g} ({1 / ROOM:g} is "
            f"due), wrong ones {wrong} ({ROOM} is due). Choose other inputs or another tolerance."
        )


def defects(found: Sequence[Gap]) -> Iterator[str]:
    """What must be mended, each in one line."""
    yield from (str(gap) for gap in found if not gap.has_room)
    measured = {gap.kind for gap in found if gap.least is not None}
    for task, own in dict.fromkeys(gap.kind for gap in found):
        if (task, own) not in measured:
            whose = "their own tolerances" if own else "the default tolerances"
            yield (
                f"{task}: no mistake of ours gives wrong numbers where its checks compare with {whose}: "
                "nobody knows how near one comes. Add such a mutant."
            )


def gaps(
    runs: Runs, right: Iterable[str], wrong: Mapping[str, tuple[str, Container[str]]]
) -> tuple[Gap, ...]:
    """Of each compared quantity. right: names of runs. wrong: of a run, whose mistake it is, and its tasks.

    A mistake is as far off as in the worst case of a variant, since a check needs one that it refuses, and of
    all variants as on the one where it is nearest.
    """
    known: dict[_Key, Measured] = {}
    refused: dict[_Key, dict[str, float]] = {}
    for _, of, one in _measured(runs, right):
        known[of] = known[of].together(one) if of in known else one
    for name, of, one in _measured(runs, wrong):
        whose, tasks = wrong[name]
        if one.refused is not None and of[0] in tasks:
            mistakes = refused.setdefault(of, {})
            mistakes[whose] = min(mistakes.get(whose, math.inf), one.refused)
    made = []
    for of, one in known.items():
        nearest = min(refused.get(of, {}).items(), key=lambda item: item[1], default=("", None))
        made.append(Gap(*of, one.accepted if one.refused is None else one.refused, nearest[1], nearest[0]))
    return tuple(made)


def _measured(runs: Runs, names: Iterable[str]) -> Iterator[tuple[str, _Key, Measured]]:
    for name in names:
        for graded in runs.graded(name):
            scored = {check.id: task.id for task in graded.result.tasks for check in task.checks if check.max}
            for one in graded.measured:
                if one.check in scored:
                    key = (scored[one.check], one.check, one.program, one.quantity, one.tolerance)
                    yield name, key, one
