"""The long-lived trusted processes: tests collected once, a fork per core, then one subject after another."""

import contextlib
import dataclasses
import gc
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import pytest

from autograder import key
from autograder.course import Lab
from autograder.intake import Found, Submission, read_submission
from autograder.sandbox import kernel
from autograder.sandbox.client import Answer, SandboxError
from labkit.messages import Message

from . import given, notebook
from .bench import Bench
from .details import Detail, look_closer
from .diagnosis import Diagnostician, with_diagnoses
from .explain import explain, in_full
from .facts import Log
from .kernel_details import look_at_kernels
from .line import Line
from .mistakes import Mistake
from .plugin import Plugin
from .protocol import Graded, Ready, Refused, Setup
from .remembered import Remembered
from .subject import Sandbox, Subject
from .trial import KernelTrial, References, Trial, fault
from .verdicts import Check, Verdict, result_of

if TYPE_CHECKING:
    from .workshop import Workshop

CANARY = "reference"
_QUIET = (
    "terminal cacheprovider unittest doctest junitxml faulthandler legacypath pastebin stepwise logging "
    "capture warnings unraisableexception threadexception setuponly setupplan debugging recwarn tmpdir"
)


class Grader:
    """One process's grader: what pytest collected, the reference, and the sandbox."""

    def __init__(self, line: Line, setup: Setup) -> None:
        self._line, self._lab, self._secret, self._known = line, setup.lab, setup.secret, setup.known
        self.plugin = Plugin(setup.lab, setup.secret)
        self._sandbox = Sandbox(setup.level, bool(setup.lab.kernels))
        self._workshop = _workshop(setup) if setup.lab.kernels else None
        self._modules = [Path(name).stem for name in setup.lab.modules]
        self._skeleton: dict[str, str] = {}
        self._programs = ""
        self._details: list[Detail] = []
        self._reference: Bench | None = None
        self._diagnostician: Diagnostician | None = None
        self._answers: References
        self._canary: Submission
        self._faults: dict[str, Message] = {}
        self._cpu_s: dict[str, float] = {}

    def start(self) -> None:
        """Let pytest collect; its loop is ours."""
        folder = self._lab.grading
        if not folder.is_dir():
            self._refuse([f"there is no folder of grading tests {folder}"])
            return
        # Explained assertions would tell of hidden tests, and take long over what a student made long.
        arguments = ["--assert=plain", "--import-mode=importlib", "--rootdir", str(folder), "-c", os.devnull]
        arguments += [part for name in _QUIET.split() for part in ("-p", f"no:{name}")]
        code = pytest.main([*arguments, str(folder)], plugins=[self.plugin, self])
        if code == pytest.ExitCode.USAGE_ERROR:
            self._refuse([f"pytest can't start on {folder}; it says why above"])

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """No compiled file is left beside a grading test, or taken for its source by date and size."""
        sys.dont_write_bytecode = True
        sys.pycache_prefix = os.devnull

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of pytest's loop over items: ours over submissions."""
        if self.plugin.errors:
            self._refuse(self.plugin.errors)
            return True
        try:
            self._prepare()
            self._test_the_reference()
            gc.collect()
            gc.freeze()
            with contextlib.suppress(EOFError, OSError):  # the parent has hung up
                self._line.send(Ready(self.plugin.checks, self._faults))
                self._fork_graders()
        except (OSError, UnicodeDecodeError, SyntaxError, SandboxError) as error:
            self._refuse([" ".join(str(error).split())])
        finally:
            if self._reference:
                self._reference.close()
            self._sandbox.close()
        return True

    def _fork_graders(self) -> None:
        """One for each order, until the parent hangs up; then whoever is left is told to end."""
        graders: set[int] = set()
        nursery = os.getpid()
        try:
            while True:
                self._line.receive()
                theirs = self._line.receive_descriptor()
                graders -= {pid for pid in graders if os.waitpid(pid, os.WNOHANG)[0]}
                pid = os.fork()
                if pid == 0:
                    self._be_a_grader(theirs, nursery)
                graders.add(pid)
                os.close(theirs)
                handle = os.pidfd_open(pid)
                self._line.send_descriptor(handle)
                os.close(handle)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            for pid in graders:
                os.kill(pid, signal.SIGTERM)
            for pid in graders:
                os.waitpid(pid, 0)

    def _be_a_grader(self, end: int, nursery: int) -> NoReturn:
        """Answer orders until the parent hangs up, or the nursery, a process id, is gone."""
        try:
            kernel.die_with_parent(signal.SIGTERM)
            self._line.close()
            self._line = Line(socket.socket(fileno=end))
            self._sandbox.borrow()
            self._reference = self._bench(self._canary)
            self._answers = self._answers.from_now_on(self._reference)
            if self._known:
                self._diagnostician = Diagnostician(
                    self._lab,
                    self.plugin,
                    self._answers,
                    self._mistaken,
                    Remembered(self._known.folder),
                    self._known.mistakes,
                )
            while os.getppid() == nursery:
                self._line.send(self.answer(self._line.receive()))
        except SandboxError as error:
            self._refuse([str(error)])
        except (EOFError, OSError, KeyboardInterrupt):
            pass
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            with contextlib.suppress(Exception):
                if self._reference:
                    self._reference.close()
                self._sandbox.close()
            os._exit(0)

    def _refuse(self, errors: list[str]) -> None:
        with contextlib.suppress(OSError):  # the parent has hung up
            self._line.send(Refused(errors))

    def _prepare(self) -> None:
        """Start the reference.

        Raises: OSError, UnicodeDecodeError or SyntaxError for bad course files; SandboxError.
        """
        self._skeleton = {name: _skeleton(self._lab, name) for name in self._lab.modules}
        files = {name: (self._lab.reference / name).read_text("utf-8") for name in self._lab.texts}
        self._programs = (self._lab.grading / "programs.py").read_text("utf-8")
        self._notebook, cells = notebook.reference(self._lab)
        self._canary = Submission(
            student=CANARY, files=files, problems={}, notes=(), error=None, digest="", cells=cells
        )
        self._reference = self._bench(self._canary)
        self._answers = References(self._reference)

    def _bench(self, submission: Submission) -> Bench:
        """Sandboxes for this work, its kernels compiled. Raises: SandboxError."""
        files = notebook.with_cells(self._lab, submission)
        built = self._workshop.build(files) if self._workshop else {}
        return Bench(self._sandbox, files, self._programs, self._modules, built, self._notebook)

    def _mistaken(self, mistake: Mistake) -> Bench:
        """The reference with one mistake. Raises: SandboxError."""
        return self._bench(dataclasses.replace(self._canary, files=self._canary.files | mistake.changed))

    def _test_the_reference(self) -> None:
        """The reference is the canary of a batch: graded first, on the path every submission takes."""
        log = Log()
        verdicts = self._verdicts(self._canary, key.variant_of(self._secret, CANARY), log)
        self._faults = {
            verdict.check: verdict.message or fault("no message").message
            for verdict in verdicts
            if verdict.outcome != "passed"
        }
        self._cpu_s = {entry["check"]: entry["cpu_s"] for entry in log.entries if "cpu_s" in entry}

    def answer(self, order: Any) -> Any:
        """What the parent gets for an order of its own."""
        return self._grade(order)

    def _grade(self, found: Found) -> Graded:
        submission = read_submission(found, self._lab.texts, self._lab.graded_notebook)
        variant = key.variant_of(self._secret, submission.student)
        log = Log()
        self._details = []
        if submission.error:
            outcome = "not-run" if submission.undecided else "crashed"
            verdicts = [Verdict(check.id, outcome, submission.error) for check in self.plugin.checks]
        else:
            try:
                verdicts = self._verdicts(submission, variant, log)
            except Exception as error:  # a defect of ours costs nobody a point, nor the others their grades
                message = fault(f"{type(error).__name__}: {error}").message
                verdicts = [Verdict(check.id, "grader-fault", message) for check in self.plugin.checks]
        notes = list(submission.notes)
        if submission.cells:
            notes += notebook.number_of(submission)[1]
        notes += self._given_notes(submission)
        result = result_of(
            self._lab, self.plugin.checks, verdicts, submission.student, variant, submission.error, notes
        )
        return Graded(result, submission.digest, log.entries, self._details)

    def _given_notes(self, submission: Submission) -> list[Message]:
        """What was changed in given code."""
        return [
            note
            for name in self._lab.modules
            if name in submission.files
            for note in given.notes(name, self._skeleton[name], submission.files[name])
        ]

    def _verdicts(self, submission: Submission, variant: int, log: Log) -> list[Verdict]:
        """A verdict for every check; the import of each module first, as a step of its own."""
        verdicts: list[Verdict] = []
        self.plugin.failed.clear()
        self.plugin.number = notebook.number_of(submission)[0]
        with self._bench(submission) as bench:
            broken = self._import(bench.modules, submission, log) | bench.problems
            for check in self.plugin.checks:
                files = self._lab.task(check.task).files
                stopped = next((broken[name] for name in files if name in broken), None)
                if self.passes_over(check, verdicts):
                    verdicts.append(Verdict(check.id, "not-run"))
                elif check.id in self._faults:
                    # How the reference fails is nothing for students.
                    message = fault("the reference fails this check itself").message
                    verdicts.append(Verdict(check.id, "grader-fault", message))
                elif stopped:
                    verdicts.append(Verdict(check.id, *stopped))
                else:
                    verdicts.append(self._check(check, bench, variant, log))
            if self._lab.kernels:
                verdicts = self._unwritten(verdicts, bench, log)
            with contextlib.suppress(Exception):  # it explains verdicts and changes none
                self._details = self._look_closer(bench, verdicts)
            if self._diagnostician:
                with contextlib.suppress(Exception):
                    found = self._diagnostician.diagnose(bench, verdicts, broken, variant)
                    self._details = with_diagnoses(self._details, found)
        return verdicts

    def goes_on(self, verdict: Verdict) -> bool:
        """Whether the other cases of a check run too after one that failed; they decide nothing."""
        return False

    def passes_over(self, check: Check, verdicts: Sequence[Verdict]) -> bool:
        """Whether a check need not run, after these verdicts."""
        return False

    def _unwritten(self, verdicts: list[Verdict], bench: Bench, log: Log) -> list[Verdict]:
        """Of kernels: what compiling took, and which failed for want of being written."""
        from . import unwritten

        for name, one in bench.built.items():
            log.compiled(name, one)
        return unwritten.renamed(self._lab, self.plugin.checks, verdicts, bench.compiled_texts())

    def _look_closer(self, bench: Bench, verdicts: list[Verdict]) -> list[Detail]:
        """Details on what was wrong. The reference gets a second jail: its first has a worker at work."""
        checks, failed = self.plugin.checks, self.plugin.failed
        if not failed:
            return []
        # With another number it would be another student's question.
        of_modules = {
            id: call for id, call in failed.items() if not call.mode and "number" not in call.inputs
        }
        of_kernels = {id: call for id, call in failed.items() if call.mode}
        with self._bench(self._canary) as right:
            details = look_closer(self._lab, checks, verdicts, of_modules, bench.modules, right.modules)
            with contextlib.suppress(SandboxError):
                details += look_at_kernels(self._lab, checks, verdicts, of_kernels, bench, right)
        return details

    def _import(self, subject: Subject, submission: Submission, log: Log) -> dict[str, tuple[str, Message]]:
        """Why modules can't be imported: file -> outcome and message."""
        broken: dict[str, tuple[str, Message]] = {}
        for name, problem in submission.problems.items():
            broken[name] = ("crashed", problem)
        for name in self._lab.modules:
            if name in broken:
                continue
            task = next(task for task in self._lab.tasks if name in task.files)
            hurry = subject.hurry
            answer, facts = subject.load(Path(name).stem, self._lab.limits)
            log.add(f"import {name}", facts)
            if unusable := _unusable_import(answer, submission.problems):
                broken[name] = ("crashed", unusable)
            elif answer.outcome != "ok":
                call = f"import {name}"
                broken[name] = explain(_as_crash(answer), call, task, self._lab.limits, hurry)
        return broken

    def _check(self, check: Check, bench: Bench, variant: int, log: Log) -> Verdict:
        """A verdict; a time-out or a fault of ours gets a second try."""
        subject = bench.of(self._lab.launched(self._lab.task(check.task)))
        verdict = self._try(check, subject, variant, log)
        if verdict.outcome == "grader-fault":
            subject.reopen()
            verdict = self._try(check, subject, variant, log)
        elif verdict.outcome == "timed-out" and not subject.hurry:
            verdict = self._try(check, subject, variant, log)
            if verdict.outcome == "timed-out":
                subject.hurry_up()
        return _guard(verdict, check, self._lab)

    def _try(self, check: Check, subject: Subject, variant: int, log: Log) -> Verdict:
        """All cases of a check in one worker; the first that does not pass decides."""
        task = self._lab.task(check.task)
        limits = subject.limits(task.limits, self._cpu_s.get(check.id, 0.0))
        launched = self._lab.launched(task)
        trial = (KernelTrial if launched else Trial)(subject, self._answers.of(launched), task, limits)
        verdict, words = Verdict(check.id, "passed"), ""
        try:
            for item in self.plugin.items[check.id]:
                found = self.plugin.run(item, trial, variant)
                if found.outcome == "grader-fault" and found.message:
                    words = in_full(found.message)
                if verdict.outcome == "passed":
                    verdict = found
                if found.outcome != "passed" and not self.goes_on(found):
                    break
        finally:
            log.add(check.id, trial.end(), words)
        return verdict


def _workshop(setup: Setup) -> "Workshop":
    from .workshop import Workshop  # most labs have no kernels

    return Workshop(setup.lab, setup.level)


def _skeleton(lab: Lab, name: str) -> str:
    """The module as students get it. Raises: OSError, UnicodeDecodeError or SyntaxError."""
    shown = f"labs/{lab.folder}/{name}"
    try:
        text = (lab.skeleton / name).read_text("utf-8")
        given.given_code(text)
    except FileNotFoundError:
        raise OSError(f"{shown} is missing. Run: make labs") from None
    except SyntaxError as error:
        raise SyntaxError(f"{shown}, line {error.lineno}: {error.msg}. Run: make labs") from None
    return text


def _unusable_import(answer: Answer, problems: dict[str, Message]) -> Message | None:
    """Why the module that is missing to the imported one can't be used, if it is one of the lab's."""
    if answer.failure is None or answer.failure.builtin != "ModuleNotFoundError":
        return None
    missing = answer.failure.text.removeprefix("No module named ").strip("'")
    return problems.get(f"{missing}.py")


def _as_crash(answer: Answer) -> Answer:
    """A module that raises NotImplementedError while being imported is broken, not unwritten."""
    if answer.failure and answer.failure.builtin == "NotImplementedError":
        renamed = msgspec.structs.replace(answer.failure, builtin="RuntimeError")
        return Answer("raised", failure=renamed)
    return answer


def _guard(verdict: Verdict, check: Check, lab: Lab) -> Verdict:
    """A check without points guards given code: if it fails, that code was changed."""
    if check.points or verdict.outcome not in ("wrong", "crashed") or verdict.message is None:
        return verdict
    arguments = verdict.message.arguments
    call = arguments.get("call", check.id)
    file = ", ".join(lab.task(check.task).files)
    return Verdict(check.id, verdict.outcome, Message("judging.given-changed", {"call": call, "file": file}))
