"""Several grader processes, and submissions handed to whichever is free. A grader that dies is replaced."""

import contextlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from autograder import key
from autograder.course import CourseError, Lab
from autograder.intake import Found
from autograder.judging.protocol import Graded, Ready, Refused, Started, TestTheReference
from autograder.judging.verdicts import Verdict, result_of
from autograder.sandbox.client import Level
from labkit.messages import Message

from .process import LAST_S, Process, uninterrupted

TRIES = 2  # a submission whose grader died gets a second one


@dataclass(frozen=True)
class _Job:
    found: Found
    variant: int
    tries: int = 1


class _Grader(Process):
    def __init__(self, lab: Lab, level: Level, secret: bytes) -> None:
        super().__init__(_grade, lab, level, secret)
        self.job: _Job | None = None
        self.variants: set[int] = set()

    def give(self, job: _Job) -> None:
        self.job = job
        self.variants.add(job.variant)
        self.tell(job.found)

    def tell(self, order: TestTheReference | Ready | Found) -> None:
        with contextlib.suppress(OSError):  # it has just died: the end of its channel will say so
            self.channel.send(order)


def _grade(channel: "Connection[Any, Any]", lab: Lab, level: Level, secret: bytes) -> None:
    from autograder.judging import grader  # loads pytest, which the parent can do without

    grader.main(channel, lab, level, secret)


class _Waiting:
    """Work that waits, by variant, so that a grader can go on with answers it has already computed.

    What a grader died of waits until all else is done.
    """

    def __init__(self) -> None:
        self._jobs: dict[int, deque[_Job]] = defaultdict(deque)
        self._again: deque[_Job] = deque()

    def __bool__(self) -> bool:
        return bool(self._again) or any(self._jobs.values())

    def add(self, job: _Job) -> None:
        (self._jobs[job.variant] if job.tries == 1 else self._again).append(job)

    def next(self, known: set[int], others: set[int]) -> _Job:
        """Of a variant in `known`, or else of one that is not in `others`, or any."""
        variants = [variant for variant, jobs in self._jobs.items() if jobs]
        if not variants:
            return self._again.popleft()
        preferred = [variant for variant in variants if variant in known]
        preferred += [variant for variant in variants if variant not in others]
        return self._jobs[(preferred or variants)[0]].popleft()

    def all(self) -> Iterable[_Job]:
        return [job for jobs in (*self._jobs.values(), self._again) for job in jobs]


class Pool:
    """Grader processes for one lab; a context manager."""

    def __init__(self, lab: Lab, level: Level, secret: bytes, jobs: int) -> None:
        self._lab, self._level, self._secret, self._jobs = lab, level, secret, jobs
        self._graders: list[_Grader] = []
        self._waiting = _Waiting()
        self._ready: Ready | None = None
        self._tester: _Grader | None = None  # the one that tests the reference
        self._idle: list[_Grader] = []  # those that wait for its word
        self._failed_starts = 0

    def add(self, found: Found) -> None:
        """Work to be graded, maybe again."""
        self._waiting.add(_Job(found, key.variant_of(self._secret, found.student)))

    def run(
        self,
        class_: Sequence[Found],
        on_ready: Callable[[Ready], None],
        on_result: Callable[[Graded], None],
    ) -> None:
        """Grade everybody; results come in any order, and `on_ready` for each grader before its first.

        Raises: CourseError when the grading tests can't be used or graders can't start.
        """
        for found in class_:
            self.add(found)
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
                self._listen(one, message, on_ready, on_result)

    def _listen(
        self,
        one: _Grader,
        message: Started | Ready | Graded,
        on_ready: Callable[[Ready], None],
        on_result: Callable[[Graded], None],
    ) -> None:
        if isinstance(message, Graded):
            on_result(message)
            self._employ(one)
        elif isinstance(message, Ready):
            self._ready = message
            on_ready(message)
            self._employ(one)
            while self._idle:
                self._listen(self._idle.pop(), Started(), on_ready, on_result)
        elif self._ready:
            on_ready(self._ready)
            one.tell(self._ready)
            self._employ(one)
        elif self._tester:
            self._idle.append(one)
        else:
            self._tester = one
            one.tell(TestTheReference())

    def _employ(self, one: _Grader) -> None:
        one.job = None
        if self._waiting:
            others = {variant for other in self._graders if other is not one for variant in other.variants}
            one.give(self._waiting.next(one.variants, others))
        else:
            one.stop()
            self._graders.remove(one)

    def _start(self) -> None:
        with uninterrupted():
            self._graders.append(_Grader(self._lab, self._level, self._secret))

    def _bury(self, dead: _Grader, on_result: Callable[[Graded], None]) -> None:
        """A grader process is gone: its submission gets another, and then counts as a grader fault."""
        dead.stop()
        self._graders.remove(dead)
        if dead in self._idle:
            self._idle.remove(dead)
        if dead.job is None:
            self._bury_unstarted(dead, on_result)
            return
        assert self._ready
        job = dead.job
        if job.tries < TRIES:
            self._waiting.add(_Job(job.found, job.variant, job.tries + 1))
        else:
            on_result(self._undecided(job, self._ready, f"the grader process died {TRIES} times"))
        if self._waiting:
            self._start()

    def _bury_unstarted(self, dead: _Grader, on_result: Callable[[Graded], None]) -> None:
        """The others go on; if there is none, one more may try."""
        self._failed_starts += 1
        if dead is self._tester and self._ready is None:
            self._tester = self._idle.pop() if self._idle else None
            if self._tester:
                self._tester.tell(TestTheReference())
        if self._graders or not self._waiting:
            return
        if self._failed_starts < TRIES:
            self._start()
        elif self._ready is None:
            raise CourseError(
                f"{self._lab.id}: a grader process ended while starting. Run `autograder doctor`."
            )
        else:
            for job in self._waiting.all():
                on_result(self._undecided(job, self._ready, "no grader process can start any more"))

    def _undecided(self, job: _Job, ready: Ready, text: str) -> Graded:
        message = Message("judging.grader-fault", {"text": text})
        verdicts = [Verdict(check.id, "grader-fault", message) for check in ready.checks]
        return Graded(result_of(self._lab, ready.checks, verdicts, job.found.student, job.variant), "", [])

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *error: object) -> None:
        for one in self._graders:  # none is left unless the batch was broken off
            one.hurry()
        for one in self._graders:
            one.stop(LAST_S)
