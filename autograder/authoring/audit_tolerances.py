"""Has each tolerance room? Right answers keep below a tenth of it, wrong ones are off by ten times it.

Measured are answers as the judge measures them: of the reference and the alternates, which are right, of
mutants and answers of no thought, which are wrong. Exact quantities have no tolerance, and checks without
points guard given code, which no mutant changes. Some quantities are beside the point, as values that given
code computes: nobody gets them wrong. So of a program in a check one wrong quantity is enough, of those
compared with the default tolerances and of those with the check's own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograder.authoring.audit_runs import Runs
from autograder.judging.judge import TOLERANCE
from autograder.judging.protocol import Measured

ROOM = 10


@dataclass(frozen=True)
class Gap:
    """What was measured of a tolerance, in shares of it.

    worst: of right answers. least: of wrong ones that it refused, None if there was none; whose that was.
    """

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
    def kind(self) -> tuple[str, str, bool]:
        """The check, the program, and whether the tolerance is the check's own."""
        return self.check, self.program, self.tolerance not in TOLERANCE.values()

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
    for check, program, own in dict.fromkeys(gap.kind for gap in found):
        if (check, program, own) not in measured:
            whose = "its own tolerance" if own else "the default tolerance"
            yield (
                f"{check}: {program} is compared with {whose}, and no mistake of ours gives wrong numbers "
                "there: nobody knows how near one comes. Add such a mutant."
            )


def gaps(runs: Runs, right: Iterable[str], wrong: Iterable[str]) -> tuple[Gap, ...]:
    """Of each compared quantity, from the runs of right and of wrong work, by name."""
    known: dict[tuple[str, str, str, float], Measured] = {}
    refused: dict[tuple[str, str, str, float], list[tuple[float, str]]] = {}
    for _, of, one in _measured(runs, right):
        known[of] = known[of].together(one) if of in known else one
    for name, of, one in _measured(runs, wrong):
        if one.refused is not None:
            refused.setdefault(of, []).append((one.refused, name))
    return tuple(
        Gap(*of, one.accepted if one.refused is None else one.refused, *min(refused.get(of, [(None, "")])))
        for of, one in known.items()
    )


def _measured(
    runs: Runs, names: Iterable[str]
) -> Iterator[tuple[str, tuple[str, str, str, float], Measured]]:
    for name in names:
        for graded in runs.graded(name):
            scored = {check.id for task in graded.result.tasks for check in task.checks if check.max}
            for one in graded.measured:
                if one.check in scored:
                    yield name, (one.check, one.program, one.quantity, one.tolerance), one
