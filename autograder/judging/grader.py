"""The long-lived trusted process, one per core: tests collected once, then one subject after another."""

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autograder import key
from autograder.course import Lab
from autograder.intake import Found, Submission, read_submission
from autograder.sandbox import kernel
from autograder.sandbox.client import Answer, Level, SandboxError
from labkit.messages import Message

from . import given
from .details import Detail, look_closer
from .explain import explain, in_full
from .facts import Log
from .plugin import Plugin, Reference, Trial, fault
from .protocol import Graded, Ready, Refused, Started, TestTheReference
from .subject import Sandbox, Subject
from .verdicts import Check, Verdict, result_of

CANARY = "reference"
_QUIET = (
    "terminal cacheprovider unittest doctest junitxml faulthandler legacypath pastebin stepwise logging "
    "capture warnings unraisableexception threadexception setuponly setupplan debugging recwarn tmpdir"
)


def main(channel: Connection, lab: Lab, level: Level, secret: bytes) -> None:
    """Collect, then grade every submission that comes through the channel."""
    run(Grader(channel, lab, level, secret))


def run(grader: "Grader") -> None:
    """Be a grader's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and says so by SIGTERM
    os.dup2(2, 1)  # what a grading test prints must not stand in the parent's output
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # meant for somebody's own tests; -k would drop checks
        os.environ.pop(name, None)
    with contextlib.suppress(KeyboardInterrupt):
        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            end_with_parent()
            grader.start()
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)


def end_with_parent() -> None:
    """SIGTERM when the process that started this one is gone, however it went.

    The fork server, our parent, ends with it.
    """
    kernel.die_with_parent(signal.SIGTERM)
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():  # it has gone already
        signal.raise_signal(signal.SIGTERM)


class Grader:
    """One process's grader: what pytest collected, the reference, and the sandbox."""

    def __init__(self, channel: Connection, lab: Lab, level: Level, secret: bytes) -> None:
        self._channel, self._lab, self._secret = channel, lab, secret
        self.plugin = Plugin(lab, secret)
        self._sandbox = Sandbox(level)
        self._modules = [Path(name).stem for name in lab.modules]
        self._skeleton: dict[str, str] = {}
        self._programs = ""
        self._reference: Subject | None = None
        self._details: list[Detail] = []
        self._answers: Reference
        self._canary: Submission
        self._ready = Ready([], {}, {})

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
            gc.collect()
            gc.freeze()
            with contextlib.suppress(EOFError, OSError):  # the parent has closed the channel
                self._channel.send(Started())
                while True:
                    self._obey(self._channel.recv())
        except (OSError, UnicodeDecodeError, SyntaxError, SandboxError) as error:
            self._refuse([" ".join(str(error).split())])
        finally:
            if self._reference:
                self._reference.close()
            self._sandbox.close()
        return True

    def _refuse(self, errors: list[str]) -> None:
        with contextlib.suppress(OSError):  # the parent has closed the channel
            self._channel.send(Refused(errors))

    def _prepare(self) -> None:
        """Start the reference.

        Raises: OSError, UnicodeDecodeError or SyntaxError for bad course files; SandboxError.
        """
        self._skeleton = {name: _skeleton(self._lab, name) for name in self._lab.modules}
        files = {name: (self._lab.reference / name).read_text("utf-8") for name in self._lab.modules}
        self._programs = (self._lab.grading / "programs.py").read_text("utf-8")
        self._reference = Subject(self._sandbox, files, self._programs, self._modules)
        self._answers = Reference(self._reference)
        self._canary = Submission(student=CANARY, files=files, problems={}, notes=(), error=None, digest="")

    def _obey(self, order: Any) -> None:
        if isinstance(order, TestTheReference):
            self._ready = self._test_the_reference()
            self._channel.send(self._ready)
        elif isinstance(order, Ready):
            self._ready = order
        else:
            self._channel.send(self.answer(order))

    def _test_the_reference(self) -> Ready:
        """The reference is the canary of a batch: graded first, on the path every submission takes."""
        log = Log()
        verdicts = self._verdicts(self._canary, key.variant_of(self._secret, CANARY), log)
        faults = {
            verdict.check: verdict.message or fault("no message").message
            for verdict in verdicts
            if verdict.outcome != "passed"
        }
        cpu_s = {entry["check"]: entry["cpu_s"] for entry in log.entries if "cpu_s" in entry}
        return Ready(self.plugin.checks, faults, cpu_s)

    def answer(self, order: Any) -> Any:
        """What the parent gets for an order of its own."""
        return self._grade(order)

    def _grade(self, found: Found) -> Graded:
        submission = read_submission(found, self._lab.modules)
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
        for name in self._lab.modules:
            if name in submission.files:
                notes += given.notes(name, self._skeleton[name], submission.files[name])
        result = result_of(
            self._lab, self.plugin.checks, verdicts, submission.student, variant, submission.error, notes
        )
        return Graded(result, submission.digest, log.entries, self._details)

    def _verdicts(self, submission: Submission, variant: int, log: Log) -> list[Verdict]:
        """A verdict for every check; the import of each module first, as a step of its own."""
        verdicts = []
        self.plugin.failed.clear()
        with Subject(self._sandbox, submission.files, self._programs, self._modules) as subject:
            broken = self._import(subject, submission, log)
            for check in self.plugin.checks:
                files = self._lab.task(check.task).files
                stopped = next((broken[name] for name in files if name in broken), None)
                if check.id in self._ready.faults:
                    # How the reference fails is nothing for students.
                    message = fault("the reference fails this check itself").message
                    verdicts.append(Verdict(check.id, "grader-fault", message))
                elif stopped:
                    verdicts.append(Verdict(check.id, *stopped))
                else:
                    verdicts.append(self._check(check, subject, variant, log))
            with contextlib.suppress(Exception):  # it explains verdicts and changes none
                self._details = self._look_closer(subject, verdicts)
        return verdicts

    def _look_closer(self, subject: Subject, verdicts: list[Verdict]) -> list[Detail]:
        """Details on what was wrong. The reference gets a second jail: its first has a worker at work."""
        failed = self.plugin.failed
        if not failed:
            return []
        files = {name: (self._lab.reference / name).read_text("utf-8") for name in self._lab.modules}
        with Subject(self._sandbox, files, self._programs, self._modules) as right:
            return look_closer(self._lab, self.plugin.checks, verdicts, failed, subject, right)

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

    def _check(self, check: Check, subject: Subject, variant: int, log: Log) -> Verdict:
        """A verdict; a time-out or a fault of ours gets a second try."""
        verdict = self._try(check, subject, variant, log)
        if verdict.outcome == "grader-fault":
            subject.reopen()
            verdict = self._try(check, subject, variant, log)
        elif verdict.outcome == "timed-out" and not subject.hurry:
            verdict = self._try(check, subject, variant, log)
            if verdict.outcome == "timed-out":
                subject.timed_out_twice()
        return _guard(verdict, check, self._lab)

    def _try(self, check: Check, subject: Subject, variant: int, log: Log) -> Verdict:
        """All cases of a check in one worker; the first that does not pass decides."""
        task = self._lab.task(check.task)
        limits = subject.limits(task.limits, self._ready.cpu_s.get(check.id, 0.0))
        trial = Trial(subject, self._answers, task, limits)
        words = ""
        try:
            for item in self.plugin.items[check.id]:
                verdict = self.plugin.run(item, trial, variant)
                if verdict.outcome == "grader-fault" and verdict.message:
                    words = in_full(verdict.message)
                if verdict.outcome != "passed":
                    break
        finally:
            log.add(check.id, trial.end(), words)
        return verdict


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
