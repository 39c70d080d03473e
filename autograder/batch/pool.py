"""Several grader processes, and submissions handed to whichever is free. A grader that dies is replaced."""

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from autograder import key
from autograder.course import CourseError, Lab
from autograder.intake import Found
from autograder.judging import grader
from autograder.judging.grader import Graded, Ready, Refused
from autograder.judging.verdicts import Verdict, result_of
from autograder.sandbox.client import Level
from labkit.messages import Message

TRIES = 2  # a submission whose grader died gets a second one
PATIENCE_S = 5  # for a grader to end by itself
LAST_S = 1  # for one that is told to end at once


class _Grader:
    def __init__(self, lab: Lab, level: Level, secret: bytes) -> None:
        context = multiprocessing.get_context("spawn")
        self.channel: Connection[Any, Any]
        self.channel, theirs = context.Pipe()
        self._process = context.Process(target=grader.main, args=(theirs, lab, level, secret), daemon=True)
        # It inherits the mask: Ctrl-C, which reaches all of a terminal's processes, is for us alone.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
        self.job: tuple[Found, int] | None = None

    def give(self, job: tuple[Found, int]) -> None:
        self.job = job
        with contextlib.suppress(OSError):  # it has just died: the end of its channel will say so
            self.channel.send(job[0])

    def hurry(self) -> None:
        self._process.terminate()

    def stop(self, patience_s: float = PATIENCE_S) -> None:
        self.channel.close()
        self._process.join(patience_s)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


class Pool:
    """Grader processes for one lab; a context manager."""

    def __init__(self, lab: Lab, level: Level, secret: bytes, jobs: int) -> None:
        self._start: Callable[[], _Grader] = lambda: _Grader(lab, level, secret)
        self._lab, self._secret, self._jobs = lab, secret, jobs
        self._graders: list[_Grader] = []
        self._waiting: deque[tuple[Found, int]] = deque()
        self._ready: Ready | None = None

    def run(
        self,
        class_: Sequence[Found],
        on_ready: Callable[[Ready], None],
        on_result: Callable[[Graded], None],
    ) -> None:
        """Grade everybody; results come in any order.

        Raises: CourseError when the grading tests can't be used or graders can't start.
        """
        self._waiting = deque((found, 1) for found in class_)
        for _ in range(max(1, min(self._jobs, len(class_)))):
            self._graders.append(self._start())
        while self._graders:
            for channel in wait([one.channel for one in self._graders]):
                one = next(one for one in self._graders if one.channel is channel)
                try:
                    message = one.channel.recv()
                except (EOFError, OSError):
                    self._bury(one, on_result)
                    continue
                if isinstance(message, Refused):
                    raise CourseError(f"{self._lab.id}: {'; '.join(message.errors)}")
                if isinstance(message, Graded):
                    on_result(message)
                elif self._ready is None:
                    self._ready = message
                    on_ready(message)
                if self._waiting:
                    one.give(self._waiting.popleft())
                else:
                    one.stop()
                    self._graders.remove(one)

    def _bury(self, dead: _Grader, on_result: Callable[[Graded], None]) -> None:
        """A grader process is gone: its submission gets another, and then counts as a grader fault."""
        dead.stop()
        self._graders.remove(dead)
        if self._ready is None:
            raise CourseError(
                f"{self._lab.id}: a grader process ended while starting. Run `autograder doctor`."
            )
        if dead.job is None:  # while starting: the others go on
            if not self._graders:
                for found, _ in self._waiting:
                    on_result(self._undecided(found, self._ready, "no grader process can start any more"))
            return
        found, tries = dead.job
        if tries < TRIES:
            self._waiting.append((found, tries + 1))
        else:
            on_result(self._undecided(found, self._ready, f"the grader process died {TRIES} times"))
        if self._waiting:
            self._graders.append(self._start())

    def _undecided(self, found: Found, ready: Ready, text: str) -> Graded:
        message = Message("judging.grader-fault", {"text": text})
        verdicts = [Verdict(check.id, "grader-fault", message) for check in ready.checks]
        variant = key.variant_of(self._secret, found.student)
        return Graded(result_of(self._lab, ready.checks, verdicts, found.student, variant), "", [])

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *error: object) -> None:
        for one in self._graders:  # none is left unless the batch was broken off
            one.hurry()
        for one in self._graders:
            one.stop(LAST_S)
