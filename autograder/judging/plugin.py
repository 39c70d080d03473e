"""The pytest plug-in: markers and fixtures of grading tests, and one check run for one subject.

Grading tests are ordinary pytest tests on the trusted side. They are collected once; then pytest's
own runner runs an item again for every subject, with `Plugin.run`.
"""

import re
from collections.abc import Generator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from autograder import key
from autograder.course import Lab
from autograder.sandbox.client import SandboxError
from labkit.messages import Message

from .details import FailedCall
from .draws import Draw
from .explain import clean
from .trial import Finding, KernelTrial, Trial, fault
from .verdicts import Check, Verdict

LAW_LENGTH = 400  # of a law's words, in both languages together


class Plugin:
    """Collects a lab's grading tests and runs them for one subject after another."""

    def __init__(self, lab: Lab, secret: bytes) -> None:
        self.lab, self._secret = lab, secret
        self.items: dict[str, list[pytest.Function]] = {}
        self.checks: list[Check] = []
        self.errors: list[str] = []
        self.failed: dict[str, FailedCall] = {}
        self.number = 0  # of the subject: what is personal in a notebook follows from it
        self._trial: Trial | None = None
        self._variant = 0
        self._ended: BaseException | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Declare the markers."""
        config.addinivalue_line("markers", "task(id): the task of lab.toml a check belongs to")
        config.addinivalue_line("markers", "points(n): what a check is worth; all its cases must pass")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note why a file of grading tests can't be used."""
        if report.failed:
            self.errors.append(_told(report.nodeid, str(report.longrepr)))

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        """Make checks of the test functions; note what is wrong with them."""
        for item in items:
            self.items.setdefault(check_id(item), []).append(item)
        for id, cases in self.items.items():
            marks = {name: cases[0].get_closest_marker(name) for name in ("task", "points")}
            if any(mark is None or len(mark.args) != 1 for mark in marks.values()):
                self.errors.append(f"{id}: give it @pytest.mark.task(id) and @pytest.mark.points(n)")
                continue
            lines = [line.strip() for line in (cases[0].function.__doc__ or "").splitlines() if line.strip()]
            if len(lines) < 2:
                self.errors.append(f"{id}: its docstring needs an English line and a Chinese line")
                continue
            task, points = (mark.args[0] for mark in marks.values() if mark)
            if type(points) is not int or points < 0:
                self.errors.append(f"{id}: points are whole numbers from 0, not {points!r}")
                continue
            if cases[0].cls:
                self.errors.append(f"{id}: write it as a function of the file, not in a class")
                continue
            self.checks.append(Check(id, task, points, {"en": lines[0], "zh": lines[1]}))
        order = [task.id for task in self.lab.tasks]
        self.checks.sort(key=lambda check: order.index(check.task) if check.task in order else len(order))
        self._validate()

    def _validate(self) -> None:
        known = {task.id: task.points for task in self.lab.tasks}
        sums = dict.fromkeys(known, 0)
        for check in self.checks:
            if check.task not in known:
                self.errors.append(f"{check.id}: lab.toml has no task {check.task!r}")
            else:
                sums[check.task] += check.points
        if not self.checks and not self.errors:
            self.errors.append(f"there are no grading tests in {self.lab.grading}")
        if not self.errors:
            self.errors += [
                f"task {id}: its checks have {sums[id]} points, lab.toml says {points}"
                for id, points in known.items()
                if sums[id] != points
            ]

    @pytest.fixture
    def compare(self) -> Any:
        """compare(program, tolerance=None, only=None, **inputs): numbers against the reference's."""
        return self._running().compare

    @pytest.fixture
    def submission(self) -> Any:
        """submission(program, **inputs): the subject's numbers alone."""
        return self._running().submission

    @pytest.fixture
    def no_reports(self) -> Any:
        """no_reports(program, *kinds, **inputs): kernels in checked mode make none of these mistakes."""
        trial = self._running()
        if not isinstance(trial, KernelTrial):
            raise fault("no_reports is for tasks whose file is a .cu file alone")
        return trial.no_reports

    @pytest.fixture
    def draw(self, request: pytest.FixtureRequest) -> Draw:
        """Random inputs that depend on the case and the subject's variant alone."""
        return Draw(key.seed_of(self._secret, self.lab.id, case_id(request.node), self._variant))

    @pytest.fixture
    def personal(self) -> int:
        """The subject's number, 0 to 15: programs give it to `lab.cell`."""
        return self.number

    def _running(self) -> Trial:
        assert self._trial is not None
        return self._trial

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep the first exception of a case."""
        report = yield
        if call.excinfo and self._ended is None:
            error = call.excinfo.value
            ours = call.when != "call" and not isinstance(error, Finding)
            self._ended = fault(f"pytest's {call.when} failed: {error}") if ours else error
        return report

    def run(self, item: pytest.Function, trial: Trial, variant: int) -> Verdict:
        """One case for one subject, by pytest's own runner."""
        error = self._run(item, trial, variant)
        if isinstance(error, AssertionError) and trial.last_call:
            self.failed[check_id(item)] = trial.last_call
        if error is None and (programs := trial.uncompared()):
            names = ", ".join(programs)
            error = fault(f"{case_id(item)} never compares what `submission` ran: {names}. Zeros might do")
        return Verdict(check_id(item), *_outcome_of(error))

    def _run(self, item: pytest.Function, trial: Trial, variant: int) -> BaseException | None:
        self._trial, self._variant, self._ended = trial, variant, None
        trial.next_case()
        runtestprotocol(item, log=False, nextitem=None)
        self._trial = None
        return self._ended


def _outcome_of(error: BaseException | None) -> tuple[str, Message | None]:
    if error is None:
        return "passed", None
    if isinstance(error, Finding):
        return error.outcome, error.message
    if isinstance(error, AssertionError):
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        if not first:
            return "wrong", Message("judging.law-untold")
        return "wrong", Message("judging.law", {"text": clean(first, LAW_LENGTH)})
    if isinstance(error, SandboxError):
        return "grader-fault", fault(str(error)).message
    words = f"the grading test itself failed with {type(error).__name__}: {error}"
    return "grader-fault", fault(words).message


def _told(file: str, text: str) -> str:
    """Pytest's pages about a file that can't be collected, as one line."""
    numbers = re.findall(rf'{re.escape(file)}(?::|", line )(\d+)', text)
    words = re.findall(r"^E   ([\w.]+: .*)$", text, re.MULTILINE) or text.strip().splitlines()[-1:]
    place = f"{file}, line {numbers[-1]}" if numbers else file
    return f"{place}: {clean(words[-1]) if words else 'unreadable'}"


def check_id(item: pytest.Item) -> str:
    """FILE::FUNCTION: the same for every student and every case."""
    return f"{item.path.name}::{getattr(item, 'originalname', item.name)}"


def case_id(item: pytest.Item) -> str:
    """FILE::FUNCTION[own parameters]: what a case's inputs are drawn from."""
    return f"{item.path.name}::{item.name}"
