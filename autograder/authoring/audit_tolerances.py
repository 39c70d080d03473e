"""Has each tolerance room? Right answers keep below a tenth of it, wrong ones are off by ten times it.

Measured are answers as the judge measures them: of the reference and the alternates, which are right, of
mutants and answers of no thought, which are wrong. Exact quantities have no tolerance, and checks without
points guard given code, which no mutant changes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autograder.authoring.audit_runs import Runs
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
        """Whether there is room on both sides."""
        return self.worst * ROOM <= 1 and self.least is not None and self.least >= ROOM

    def __str__(self) -> str:
        wrong = f"by at least {self.least:.2g} ({self.nearest})" if self.least is not None else "not measured"
        return (
            f"{self.check}: {self.quantity} of {self.program} has no room around its tolerance "
            f"{self.tolerance:g}: of that, right answers are off by up to {self.worst:.2g} ({1 / ROOM:g} is "
            f"due), wrong ones {wrong} ({ROOM} is due). Choose other inputs or another tolerance."
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
