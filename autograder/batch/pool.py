"""Several grader processes; submissions go to whichever is free. One that dies or hangs is replaced."""

import contextlib
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from typing import Any

from autograder import key
from autograder.course import CourseError, Lab
from autograder.intake import Found
from autograder.judging.protocol import Graded, Kind, Known, Ready, Refused
from autograder.judging.verdicts import Check, Verdict, result_of
from autograder.sandbox.client import Level
from autograder.sandbox.compiling import WALL
from labkit.messages import Message

from .process import LAST_S, PATIENCE_S, Nursery, Process

TRIES = 2  # a submission whose grader died gets a second one
DIED = f"the grader process died {TRIES} times"
STUCK = f"the grader process did not answer {TRIES} times"
MARGIN = 3  # times all limits together: explanations run what was wrong again


@dataclass(frozen=True)
class _Job:
    found: Found
    variant: int
    order: Any
    tries: int = 1


class _Grader:
    def __init__(self, process: Process) -> None:
        self.process = process
        self.job: _Job | None = None
        self.variants: set[int] = set()
        self.until = 0.0

    def give(self, job: _Job, patience_s: float) -> None:
        """The next job; longer than this it may not take."""
        self.job = job
        self.until = time.monotonic() + patience_s
        self.variants.add(job.variant)
        with contextlib.suppress(OSError):  # it has just died: the end of its line will say so
            self.process.line.send(job.order)


def patience_s(lab: Lab, checks: Sequence[Check]) -> float:
    """After how long a grader that says nothing of a submission is stuck: all limits together, and more."""
    wall = {task.id: task.limits.wall_s for task in lab.tasks}
    compiling = len(lab.kernels) * lab.compile_limits.cpu_s
    return MARGIN * (sum(wall[check.task] for check in checks) + WALL * compiling)


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

    def drain(self) -> list[_Job]:
        jobs = [job for jobs in (*self._jobs.values(), self._again) for job in jobs]
        self._jobs.clear()
        self._again.clear()
        return jobs


class Pool:
    """Grader processes for one lab; a context manager."""

    def __init__(
        self,
        lab: Lab,
        level: Level,
        secret: bytes,
        jobs: int,
        kind: Kind = "grade",
        known: Known | None = None,
        order: Callable[[Found], Any] = lambda found: found,
    ) -> None:
        """`known`: mistakes to be recognised; `order`: what a grader is sent of a submission."""
        self._kind: Kind = kind
        self._known, self._order = known, order
        self._lab, self._level, self._secret, self._jobs = lab, level, secret, jobs
        self._nursery: Nursery | None = None
        self._starts = 0
        self._graders: list[_Grader] = []
        self._waiting = _Waiting()
        self._patience_s = 0.0

    def add(self, found: Found) -> None:
        """Work to be graded, maybe again."""
        self._waiting.add(_Job(found, key.variant_of(self._secret, found.student), self._order(found)))

    def run(
        self,
        class_: Sequence[Found],
        on_ready: Callable[[Ready], None],
        on_result: Callable[[Graded], None],
    ) -> None:
        """Grade everybody; results come in any order, and `on_ready` each time before graders are forked.

        Raises: CourseError when the grading tests can't be used or graders can't start.
        """
        for found in class_:
            self.add(found)
        ready = self._start(on_ready)
        self._staff()
        while self._graders:
            left = max(0.0, min(one.until for one in self._graders) - time.monotonic())
            for line in wait([one.process.line.fileno() for one in self._graders], left):
                one = next(one for one in self._graders if one.process.line.fileno() == line)
                try:
                    message = one.process.line.receive()
                except (EOFError, OSError):
                    message = None
                if isinstance(message, Graded):
                    on_result(message)
                    self._employ(one)
                else:
                    why = "; ".join(message.errors) if isinstance(message, Refused) else DIED
                    self._bury(one, why, ready, on_result)
            for one in [one for one in self._graders if one.until <= time.monotonic()]:
                self._bury(one, STUCK, ready, on_result)
            while self._waiting and not self._graders:
                self._start_again(ready, on_ready, on_result)

    def _start(self, on_ready: Callable[[Ready], None]) -> Ready:
        """A nursery that stands. Raises: CourseError."""
        while self._starts < TRIES:
            self._starts += 1
            self._nursery = Nursery(self._kind, self._lab, self._level, self._secret, self._known)
            try:
                ready = self._nursery.ready()
            except EOFError:
                self._nursery.close()
                continue
            if isinstance(ready, Refused):
                raise CourseError(f"{self._lab.id}: {'; '.join(ready.errors)}")
            on_ready(ready)
            self._patience_s = patience_s(self._lab, ready.checks)
            return ready
        raise CourseError(f"{self._lab.id}: a grader process ended while starting. Run `autograder doctor`.")

    def _start_again(
        self, ready: Ready, on_ready: Callable[[Ready], None], on_result: Callable[[Graded], None]
    ) -> None:
        """All graders are gone and work is left: so is the nursery."""
        assert self._nursery
        self._nursery.close(LAST_S)
        try:
            self._start(on_ready)
            self._staff()
        except CourseError:
            for job in self._waiting.drain():
                on_result(self._undecided(job, ready, "no grader process can start any more"))

    def _staff(self) -> None:
        """As many graders as there may be and is work for."""
        for _ in range(self._jobs):
            self._hire()

    def _hire(self) -> None:
        """One more grader, if there is work for it; without a nursery the others go on."""
        assert self._nursery
        if self._waiting:
            with contextlib.suppress(EOFError):
                one = _Grader(self._nursery.fork())
                self._graders.append(one)
                self._employ(one)

    def _employ(self, one: _Grader) -> None:
        one.job = None
        if self._waiting:
            others = {variant for other in self._graders if other is not one for variant in other.variants}
            one.give(self._waiting.next(one.variants, others), self._patience_s)
        else:
            self._graders.remove(one)
            one.process.stop()

    def _bury(self, dead: _Grader, why: str, ready: Ready, on_result: Callable[[Graded], None]) -> None:
        """A grader process is gone, or has to go: its submission gets another, then is a grader fault."""
        self._graders.remove(dead)
        dead.process.stop()
        job = dead.job
        assert job
        if job.tries < TRIES:
            self._waiting.add(replace(job, tries=job.tries + 1))
        else:
            on_result(self._undecided(job, ready, why))
        self._hire()

    def _undecided(self, job: _Job, ready: Ready, text: str) -> Graded:
        message = Message("judging.grader-fault", {"text": text})
        verdicts = [Verdict(check.id, "grader-fault", message) for check in ready.checks]
        return Graded(result_of(self._lab, ready.checks, verdicts, job.found.student, job.variant), "", [])

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *error: object) -> None:
        for one in self._graders:  # none is left unless the batch was broken off
            one.process.hurry()
        for one in self._graders:
            one.process.stop(LAST_S)
        if self._nursery:
            if any(error):
                self._nursery.hurry()
            self._nursery.close(LAST_S if any(error) else PATIENCE_S)
