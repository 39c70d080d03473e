"""The audit's grader: it explains nothing, measures how far numbers are off, and can leave checks out."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec
import pytest

from autograder.course import Lab
from autograder.intake import Submission
from labkit.messages import Message

from .bench import Bench
from .details import Detail
from .facts import Log
from .grader import Grader
from .line import Line
from .measure import shares
from .plugin import Plugin, check_id
from .protocol import Examination, Graded, Measured, Setup
from .testimony import name_of
from .trial import Call, Trial
from .verdicts import UNDECIDED, Check, Verdict


class _Measuring(Plugin):
    """Notes how far the answers of each check are off."""

    def __init__(self, lab: Lab, secret: bytes) -> None:
        super().__init__(lab, secret)
        self.forget()

    def forget(self) -> None:
        """Begin with other work."""
        self.measured: dict[tuple[str, str, str, float], Measured] = {}
        self.compared: dict[str, set[str]] = defaultdict(set)

    def run(self, item: pytest.Function, trial: Trial, variant: int) -> Verdict:
        def measure(call: Call) -> None:
            if call.answer.outcome == "ok" and trial.is_compared(call):
                self.compared[check_id(item)].add(name_of(call.program, call.inputs))
                last = trial.last_call  # of a checked run, `only` has kinds of reports
                only = last.only if last and call.mode != "checked" else None
                for quantity, tolerance, share in shares(call, only):
                    of = (check_id(item), call.program, quantity, tolerance)
                    self.measured.setdefault(of, Measured(*of)).note(share)

        trial.watch = measure
        return super().run(item, trial, variant)


class Examiner(Grader):
    """A grader for what the audit makes, of which there are thousands."""

    def __init__(self, line: Line, setup: Setup) -> None:
        super().__init__(line, setup)
        self.plugin = self._measuring = _Measuring(setup.lab, setup.secret)
        self._order: Examination | None = None

    def answer(self, order: Examination) -> Graded:
        """Examine the work of the order."""
        self._order = order
        self._measuring.forget()
        graded = self._grade(order.found)
        return msgspec.structs.replace(
            graded,
            measured=[*self._measuring.measured.values()],
            compared={check: sorted(calls) for check, calls in self._measuring.compared.items()},
        )

    def _check(self, check: Check, bench: Bench, variant: int, log: Log) -> Verdict:
        if self._order and self._order.hurried:
            bench.of(self._lab.launched(self._lab.task(check.task))).hurry_up()
        return super()._check(check, bench, variant, log)

    def goes_on(self, verdict: Verdict) -> bool:
        """Whether there is more to measure: of other cases, which may have other tolerances."""
        return self._order is not None and not self._order.until and verdict.outcome == "wrong"

    def passes_over(self, check: Check, verdicts: Sequence[Verdict]) -> bool:
        """Whether the order leaves a check out, or has seen enough."""
        if self._order is None:
            return False
        failed = {
            done.task
            for done, verdict in zip(self.plugin.checks, verdicts, strict=False)
            if verdict.outcome not in ("passed", *UNDECIDED)
        }
        elsewhere = bool(self._order.only) and not {check.task, check.id} & {*self._order.only}
        enough = {"": False, "task": check.task in failed, "all": bool(failed)}
        return elsewhere or enough[self._order.until]

    def _given_notes(self, submission: Submission) -> list[Message]:
        return []

    def _look_closer(self, bench: Bench, verdicts: list[Verdict]) -> list[Detail]:
        return []
