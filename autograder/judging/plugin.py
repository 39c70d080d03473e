"""The pytest plug-in: markers and fixtures of grading tests, and one check run for one subject.

Grading tests are ordinary pytest tests on the trusted side. They are collected once; then pytest's
own runner runs an item again for every subject, with `Plugin.run`.
"""

import re
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from autograder import key
from autograder.course import Lab, Limits, Task
from autograder.sandbox.client import Answer, Facts, SandboxError, Worker
from autograder.worker import codec
from labkit.messages import Message

from . import judge
from .bench import Bench
from .details import FailedCall
from .draws import Draw
from .explain import clean, describe, explain
from .kernels import message_of
from .subject import Subject
from .verdicts import Check, Verdict

NOT_COMPILED = "CompileError"  # of labkit.cuda
REFERENCE_LIMITS = Limits(cpu_s=60, idle_s=60, wall_s=120, memory_mb=4096)


class Finding(AssertionError):
    """A check that did not pass, with its outcome and the sentence for the student."""

    def __init__(self, outcome: str, message: Message) -> None:
        super().__init__(f"{outcome}: {message.text('en')}")
        self.outcome, self.message = outcome, message


class Reference:
    """The reference's answers, from a worker like any other, computed once for each call.

    `mode`: how its kernels run, if it is a reference of kernels.
    """

    def __init__(self, subject: Subject, mode: codec.Mode = "") -> None:
        self._subject, self._mode = subject, mode
        self._worker: Worker | None = None
        self._known: dict[bytes, dict[str, Any]] = {}

    def from_now_on(self, subject: Subject) -> "Reference":
        """The same answers, further ones by `subject`: after a fork, the worker belongs to the parent."""
        moved = Reference(subject, self._mode)
        moved._known = self._known
        return moved

    def __call__(self, program: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Raises: Finding (grader-fault) if the reference gives no answer."""
        name = call_name(program, inputs)
        if name not in self._known:
            self._known[name] = self._compute(program, inputs)
        return self._known[name]

    def _compute(self, program: str, inputs: dict[str, Any]) -> dict[str, Any]:
        answer = self._run(program, inputs)
        if answer.outcome == "timed-out":  # a worker's clocks run over all its calls, and this one lives long
            answer = self._run(program, inputs)
        if answer.outcome == "ok":
            if answer.result.keys() <= {"scale"}:
                raise fault(f"{program} gives nothing to compare: everybody would pass")
            return answer.result
        if answer.outcome == "grader-fault":
            self._subject.reopen()
        words = answer.failure.text if answer.failure else answer.detail
        raise fault(f"the reference gives no answer to {program}: {answer.outcome} {words}")

    def _run(self, program: str, inputs: dict[str, Any]) -> Answer:
        if self._worker is None:
            self._worker = self._subject.worker(REFERENCE_LIMITS)
        answer = self._worker.run(program, inputs, self._mode)
        if answer.outcome != "ok":
            self._worker.end()
            self._worker = None
        return answer


class References:
    """The reference's answers for modules, and for each file of kernels."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._known: dict[str, Reference] = {}

    def of(self, launched: str) -> Reference:
        """Those of a file of kernels, "": of modules. Raises: SandboxError."""
        if launched not in self._known:
            self._known[launched] = Reference(self._bench.of(launched), "forward" if launched else "")
        return self._known[launched]

    def from_now_on(self, bench: Bench) -> "References":
        """The same answers, further ones from another bench."""
        moved = References(bench)
        moved._known = {name: one.from_now_on(bench.of(name)) for name, one in self._known.items()}
        return moved


def call_name(program: str, inputs: dict[str, Any]) -> bytes:
    """The same for the same program with the same inputs. Raises: BadMessage for what can't be sent."""
    return codec.encode(codec.Call("run", program, codec.to_wire(inputs)))


def fault(text: str) -> Finding:
    """Something of ours failed; the words are for the course team, students read that it was not they."""
    return Finding("grader-fault", Message("judging.grader-fault", {"text": clean(text)}))


@dataclass(frozen=True)
class Call:
    """A call that a check made, as it ended; `want`: what the reference answers."""

    program: str
    inputs: dict[str, Any]
    answer: Answer
    want: dict[str, Any]
    tolerance: float | None
    mode: codec.Mode = ""


class Trial:
    """One check, run for one subject in one worker: what its fixtures talk to. The caller ends it."""

    watch: Callable[[Call], None] | None = None

    modes: tuple[codec.Mode, ...] = ("",)  # a program runs once in each

    def __init__(self, subject: Subject, reference: Reference, task: Task, limits: Limits) -> None:
        self._subject, self._reference, self._task, self._limits = subject, reference, task, limits
        self._worker: Worker | None = None
        self._compared: set[tuple[str, bytes]] = set()
        self._submitted: set[tuple[str, bytes]] = set()
        self.last_call: FailedCall | None = None

    def next_case(self) -> None:
        """Forget what the last case ran."""
        self._compared.clear()
        self._submitted.clear()

    def uncompared(self) -> list[str]:
        """Programs of this case that ran for a law, and never with inputs that were compared as well."""
        programs = {program for program, _ in self._submitted}
        return sorted(programs - {program for program, _ in self._submitted & self._compared})

    def submission(self, program: str, **inputs: Any) -> dict[str, Any]:
        """The subject's answer alone, for laws; the case must also `compare` one of these calls.

        It has the keys, kinds, dtypes and shapes of the reference's answer: a law may rely on them.
        """
        __tracebackhide__ = True
        self._submitted.add((program, call_name(program, inputs)))
        want = self._reference(program, inputs)
        answers = []
        for mode in self.modes:
            self.last_call = FailedCall(program, inputs, mode=mode)
            answers.append(self._call(program, inputs, want))
            self._refuse(judge.first_misfit(program, answers[-1], want))
        return answers[0]

    def compare(
        self,
        program: str,
        tolerance: float | None = None,
        only: Collection[str] | None = None,
        **inputs: Any,
    ) -> dict[str, Any]:
        """Run a program on the subject and on the reference; the numbers must agree.

        `only`: the quantities to compare, where the rest is for laws, as an order that need not be ours is.
        Returns the subject's answer, which has the structure of the reference's.
        """
        __tracebackhide__ = True
        self._compared.add((program, call_name(program, inputs)))
        want = self._reference(program, inputs)
        expected = want if only is None else judge.part(want, only)
        if only is not None and len(expected) < len(only):
            raise fault(f"the reference's answer to {program} has not all of {', '.join(only)}")
        answers = []
        for mode in self.modes:
            self.last_call = FailedCall(program, inputs, tolerance, only, mode)
            got = self._call(program, inputs, want, tolerance)
            if only is not None:
                self._refuse(judge.first_misfit(program, got, want))
            self._refuse(judge.first_difference(program, got, expected, tolerance))
            answers.append(got)
        return answers[0]

    def _refuse(self, found: Message | None) -> None:
        """Raises: Finding (wrong), with the call."""
        __tracebackhide__ = True
        if found and self.last_call:
            # It costs more than comparing, so only now.
            call = describe(self.last_call.program, self.last_call.inputs, self.last_call.mode)
            raise Finding("wrong", Message(found.id, {**found.arguments, "call": call}))

    def _call(
        self,
        program: str,
        inputs: dict[str, Any],
        want: dict[str, Any],
        tolerance: float | None = None,
    ) -> dict[str, Any]:
        __tracebackhide__ = True
        return self._answer(program, inputs, want, tolerance).result

    def _answer(
        self, program: str, inputs: dict[str, Any], want: dict[str, Any], tolerance: float | None
    ) -> Answer:
        """What the subject answers to the last call. Raises: Finding where it gives no answer."""
        __tracebackhide__ = True
        mode = self.last_call.mode if self.last_call else ""
        if self._worker is None:
            self._worker = self._subject.worker(self._limits)
        answer: Answer = self._worker.run(program, inputs, mode)
        if self.watch:
            self.watch(Call(program, inputs, answer, want, tolerance, mode))
        if answer.outcome == "ok":
            return answer
        if answer.failure and answer.failure.name == NOT_COMPILED and self._subject.kernels_problem:
            raise Finding(*self._subject.kernels_problem)
        call = describe(program, inputs, mode)
        raise Finding(*explain(answer, call, self._task, self._limits, self._subject.hurry))

    def end(self) -> Facts | None:
        """End the worker; the kernel's facts about it, None if it never started."""
        return self._subject.end(self._worker, self._limits) if self._worker else None


class KernelTrial(Trial):
    """One check of a task of kernels: values in each order of threads, and what the checked mode reports."""

    modes = ("forward", "reverse", "shuffled")

    def no_reports(self, program: str, *kinds: str, **inputs: Any) -> None:
        """A program in checked mode reports no error of these kinds (none given: of any).

        The case must also `compare` this call: a kernel that does nothing makes no mistake.
        Raises: Finding.
        """
        __tracebackhide__ = True
        self._submitted.add((program, call_name(program, inputs)))
        self.last_call = FailedCall(program, inputs, mode="checked")
        reports = self._answer(program, inputs, {}, None).reports
        errors = [one for one in reports if one.severity == "error" and (not kinds or one.kind in kinds)]
        if errors:
            raise Finding("wrong", message_of(errors[0]))


class Plugin:
    """Collects a lab's grading tests and runs them for one subject after another."""

    def __init__(self, lab: Lab, secret: bytes) -> None:
        self.lab, self._secret = lab, secret
        self.items: dict[str, list[pytest.Function]] = {}
        self.checks: list[Check] = []
        self.errors: list[str] = []
        self.failed: dict[str, FailedCall] = {}
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
        return "wrong", Message("judging.law", {"text": clean(first)})
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
