"""One check of one submission again, with all that is to be seen of it, on the path that grading takes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder import key
from autograder.course import Lab
from autograder.intake import read_submission

from . import judge, notebook
from .facts import Log
from .grader import Grader
from .kernels import message_of
from .line import Line
from .plugin import Plugin, case_id
from .protocol import CallStory, CaseStory, Order, Quantity, Replayed, Setup
from .trial import Call, Trial
from .verdicts import Verdict


class _Watching(Plugin):
    """Notes what each case does."""

    def __init__(self, lab: Lab, secret: bytes) -> None:
        super().__init__(lab, secret)
        self.cases: list[CaseStory] = []

    def run(self, item: pytest.Function, trial: Trial, variant: int) -> Verdict:
        case = CaseStory(case_id(item))
        self.cases.append(case)
        trial.watch = lambda call: case.calls.append(_story(call))
        verdict = super().run(item, trial, variant)
        case.outcome, case.message = verdict.outcome, verdict.message
        return verdict


class Replayer(Grader):
    """A grader that tells all it sees of one check."""

    def __init__(self, line: Line, setup: Setup) -> None:
        super().__init__(line, setup)
        self.plugin = self._watching = _Watching(setup.lab, setup.secret)

    def answer(self, order: Order) -> Replayed:
        """Run the check of the order."""
        submission = read_submission(order.found, self._lab.texts, self._lab.graded_notebook)
        variant = key.variant_of(self._secret, order.found.student)
        check = next(check for check in self.plugin.checks if check.id == order.check)
        log = Log()
        self._watching.cases, self.plugin.number = [], notebook.number_of(submission)[0]
        if submission.error:
            outcome = "not-run" if submission.undecided else "crashed"
            verdict = Verdict(check.id, outcome, submission.error)
        elif check.id in self._faults:
            verdict = Verdict(check.id, "grader-fault", self._faults[check.id])
        else:
            with self._bench(submission) as bench:
                broken = self._import(bench.modules, submission, log) | bench.problems
                files = self._lab.task(check.task).files
                stopped = next((broken[name] for name in files if name in broken), None)
                verdict = Verdict(check.id, *stopped) if stopped else self._check(check, bench, variant, log)
                if self._lab.kernels:
                    (verdict,) = self._unwritten([verdict], bench, log)
        return Replayed(check.id, variant, submission.digest, verdict, self._watching.cases, log.entries)


def _story(call: Call) -> CallStory:
    answer = call.answer
    inputs = {name: _in_full(value) for name, value in call.inputs.items()}
    program = f"{call.program} [{call.mode}]" if call.mode else call.program
    story = CallStory(program, inputs, answer.outcome)
    story.frames = [message_of(report).text("en") for report in answer.reports]
    if answer.detail:
        story.ending += f" ({answer.detail})"
    if answer.failure:
        story.ending += f": {answer.failure.name}: {answer.failure.text}"
        story.frames = [
            f"{Path(frame.file).name}, line {frame.line}, in {frame.function}: {frame.text}"
            for frame in answer.failure.frames
        ]
    if answer.outcome == "ok":
        names = [*call.want, *(name for name in answer.result if name not in call.want)]
        story.quantities = [_quantity(name, call) for name in names]
    return story


_ABSENT = object()


def _quantity(name: str, call: Call) -> Quantity:
    got = call.answer.result.get(name, _ABSENT)
    want = call.want.get(name, _ABSENT)
    difference = "" if name == "scale" else _difference(name, got, want, call)
    return Quantity(name, _shown(want), _shown(got), difference)


def _difference(name: str, got: Any, want: Any, call: Call) -> str:
    """The largest difference of numbers that can be compared, and what is accepted."""
    if type(got) is not type(want) or not isinstance(want, float | np.ndarray):
        return ""
    one, other = np.asarray(got), np.asarray(want)
    if one.shape != other.shape or other.dtype.kind not in "fc" or other.size == 0:
        return ""
    accepted = judge.accepted_error(other, call.tolerance, judge.scale_of(name, call.want))
    with np.errstate(all="ignore"):
        off = np.abs(one.astype(np.complex128) - other.astype(np.complex128))
        off = np.where(one == other, 0.0, off)
    largest = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
    place = f" at {[int(index) for index in largest]}" if off.ndim else ""
    return f"{float(off[largest]):.3g}{place}; up to {accepted:.3g} is accepted"


def _in_full(value: Any) -> str:
    with np.printoptions(threshold=2**62, precision=17, linewidth=100):
        return repr(value)


def _shown(value: Any) -> str:
    """An answer: large arrays are abridged, as a student chooses their size."""
    if value is _ABSENT:
        return "(none)"
    with np.printoptions(threshold=1000, precision=17, linewidth=100):
        return judge.shorten(repr(value), 50_000)
