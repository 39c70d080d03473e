"""Several grader processes, and submissions handed to whichever is free. A grader that dies is replaced."""

import contextlib
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from autograder import key
from autograder.course import CourseError, Lab
from autograder.intake import Found
from autograder.judging.protocol import Graded, Ready, Refused, TestTheReference
from autograder.judging.verdicts import Verdict, result_of
from autograder.sandbox.client import Level
from labkit.messages import Message

TRIES = 2  # a submission whose grader died gets a second one
PATIENCE_S = 5  # for a grader to end by itself
LAST_S = 1  # for one that is told to end at once


class _Grader:
    def __init__(self, lab: Lab, level: Level, secret: bytes) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # graders are parallel already; idle threads spin
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["autograder.judging.grader"])
        self.channel: Connection[Any, Any]
        self.channel, theirs = context.Pipe()
        self._process = context.Process(target=_grade, args=(theirs, lab, level, secret), daemon=True)
        with _nameless_main():
            self._process.start()
        theirs.close()
        self.job: tuple[Found, int] | None = None
        self.variants: set[int] = set()

    def give(self, job: tuple[Found, int]) -> None:
        self.job = job
        self.tell(job[0])

    def tell(self, order: TestTheReference | Ready | Found) -> None:
        with contextlib.suppress(OSError):  # it has just died: the end of its channel will say so
            self.channel.send(order)

    def hurry(self) -> None:
        self._process.terminate()

    def stop(self, patience_s: float = PATIENCE_S) -> None:
        self.channel.close()
        self._process.join(patience_s)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _grade(channel: "Connection[Any, Any]", lab: Lab, level: Level, secret: bytes) -> None:
    from autograder.judging import grader  # loads pytest, which the parent can do without

    grader.main(channel, lab, level, secret)


@contextlib.contextmanager
def _nameless_main() -> Iterator[None]:
    """A grader needs nothing of the command that started it; multiprocessing would run its file again."""
    main = sys.modules["__main__"]
    file = vars(main).pop("__file__", None)
    try:
        yield
    finally:
        if file is not None:
            main.__file__ = file


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block; processes started in it inherit the mask and never see it.

    The mask alone would not do: another thread may take the signal.
    """
    resource_tracker.ensure_running()  # starting it later would lift the mask
    came: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if came:
        raise KeyboardInterrupt


class Pool:
    """Grader processes for one lab; a context manager."""

    def __init__(self, lab: Lab, level: Level, secret: bytes, jobs: int) -> None:
        self._lab, self._level, self._secret, self._jobs = lab, level, secret, jobs
        self._graders: list[_Grader] = []
        self._waiting: deque[tuple[Found, int]] = deque()
        self._ready: Ready | None = None
        self._tested = False  # whether a grader has been told to test the reference
        self._idle: list[_Grader] = []  # which wait for its word

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
            self._start()
        while self._graders:
            for channel in wait([one.channel for one in self._graders]):
                one = next(one for one in self._graders if one.channel is channel)
                try:
                    message = one.channel.recv()
                except (EOFError, OSError):
                    self._bury(one, on_result)
                    continue
                if isinstance(message, Refused):
                    if self._ready:  # the others have started, so it is no fault of the course's files
                        self._bury(one, on_result)
                        continue
                    raise CourseError(f"{self._lab.id}: {'; '.join(message.errors)}")
                if isinstance(message, Ready):
                    self._ready = message
                    on_ready(message)
                    self._employ(one)
                    for other in self._idle:
                        self._brief(other, message)
                    self._idle.clear()
                elif isinstance(message, Graded):
                    on_result(message)
                    self._employ(one)
                elif self._ready:
                    self._brief(one, self._ready)
                elif self._tested:
                    self._idle.append(one)
                else:
                    self._tested = True
                    one.tell(TestTheReference())

    def _brief(self, one: _Grader, ready: Ready) -> None:
        one.tell(ready)
        self._employ(one)

    def _employ(self, one: _Grader) -> None:
        if self._waiting:
            one.give(self._next_for(one))
        else:
            one.stop()
            self._graders.remove(one)

    def _start(self) -> None:
        with _uninterrupted():
            self._graders.append(_Grader(self._lab, self._level, self._secret))

    def _next_for(self, one: _Grader) -> tuple[Found, int]:
        """The next submission, if possible of a variant whose answers this grader has already computed."""
        variants = [key.variant_of(self._secret, found.student) for found, _ in self._waiting]
        others = {variant for grader in self._graders if grader is not one for variant in grader.variants}
        known = [place for place, variant in enumerate(variants) if variant in one.variants]
        fresh = [place for place, variant in enumerate(variants) if variant not in others]
        place = (known or fresh or [0])[0]
        one.variants.add(variants[place])
        job = self._waiting[place]
        del self._waiting[place]
        return job

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
            self._start()

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
