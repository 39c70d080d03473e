"""The audit's grader: it explains nothing, measures how far numbers are off, and can leave checks out."""

import time
from collections.abc import Sequence

import msgspec
import pytest

from autograder.course import Lab

from .bench import Bench
from .details import Detail
from .grader import Grader
from .line import Line
from .measure import shares
from .plugin import Plugin, check_id
from .protocol import Examination, Graded, Setup
from .trial import Call, Trial
from .verdicts import UNDECIDED, Check, Verdict


class _Measuring(Plugin):
    """Notes of each check by which share of its tolerances it was off: check -> tolerance -> share."""

    def __init__(self, lab: Lab, secret: bytes) -> None:
        super().__init__(lab, secret)
        self.measured: dict[str, dict[float, float]] = {}

    def run(self, item: pytest.Function, trial: Trial, variant: int) -> Verdict:
        found = self.measured.setdefault(check_id(item), {})

        def measure(call: Call) -> None:
            if call.answer.outcome == "ok" and trial.is_compared(call):
                last = trial.last_call  # of a checked run, `only` has kinds of reports
                only = last.only if last and call.mode != "checked" else None
                for tolerance, share in shares(call, only).items():
                    found[tolerance] = max(found.get(tolerance, 0.0), share)

        trial.watch = measure
        return super().run(item, trial, variant)


class Examiner(Grader):
    """A grader for what the audit makes, of which there are thousands."""

    def __init__(self, line: Line, setup: Setup) -> None:
        super().__init__(line, setup)
        self.plugin = self._measuring = _Measuring(setup.lab, setup.secret)
        self._order: Examination | None = None

    def answer(self, order: Examination) -> Graded:
        """Grade the work of the order; its facts tell the shares of each check."""
        self._order = order
        self._measuring.measured = {}
        started = time.process_time()
        graded = self._grade(order.found)
        shares = [
            {"check": check, "shares": {str(tolerance): share for tolerance, share in found.items()}}
            for check, found in self._measuring.measured.items()
            if found
        ]
        spent = {"check": "grader", "cpu_s": time.process_time() - started}
        return msgspec.structs.replace(graded, facts=[*graded.facts, *shares, spent])

    def passes_over(self, check: Check, verdicts: Sequence[Verdict]) -> bool:
        """Whether the order leaves a check out, or has seen enough."""
        if self._order is None:
            return False
        seen = any(verdict.outcome not in ("passed", *UNDECIDED) for verdict in verdicts)
        elsewhere = bool(self._order.tasks) and check.task not in self._order.tasks
        return elsewhere or (self._order.until_seen and seen)

    def _look_closer(self, bench: Bench, verdicts: list[Verdict]) -> list[Detail]:
        return []
