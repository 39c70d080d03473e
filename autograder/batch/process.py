"""Grader processes, forked from one that has loaded and tested all they need; none outlives this one."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from types import TracebackType
from typing import Self

from autograder.course import Lab
from autograder.judging.line import Line
from autograder.judging.protocol import Fork, Kind, Known, Ready, Refused, Setup
from autograder.sandbox.client import Level

PATIENCE_S = 5  # for a process to end by itself
LAST_S = 1  # for one that is told to end at once


class Process:
    """A grader at the other end of a line. Its handle names it for good, whoever has its number later."""

    def __init__(self, line: Line, handle: int) -> None:
        self.line, self._handle = line, handle

    def hurry(self) -> None:
        """Tell it to end at once."""
        self._signal(signal.SIGTERM)

    def stop(self, patience_s: float = PATIENCE_S) -> None:
        """Let it end, and end it if it does not."""
        self.line.close()
        if not self._has_ended(patience_s):
            self._signal(signal.SIGKILL)
            self._has_ended(PATIENCE_S)
        os.close(self._handle)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def _has_ended(self, patience_s: float) -> bool:
        return bool(select.select([self._handle], [], [], patience_s)[0])


class Nursery:
    """Where graders come from; a context manager.

    In a session of its own, so that Ctrl-C reaches this process alone, which then tells the others.
    """

    def __init__(self, kind: Kind, lab: Lab, level: Level, secret: bytes, known: Known | None = None) -> None:
        self._line, theirs = Line.pair()
        with theirs:
            self._process = subprocess.Popen(
                # -u, since graders end without a flush.
                [sys.executable, "-u", "-P", "-m", "autograder.judging.nursery", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                # Graders are parallel already; idle threads spin.
                env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a grading test prints must not stand in our output
                start_new_session=True,
            )
        with contextlib.suppress(OSError):  # it has just died, which `ready` will tell
            self._line.send(Setup(kind, os.getpid(), lab, level, secret, known))

    def ready(self) -> Ready | Refused:
        """Its word once the reference is tested. Raises: EOFError when it has died."""
        try:
            message: Ready | Refused = self._line.receive()
        except OSError:
            raise EOFError from None
        return message

    def fork(self) -> Process:
        """A new grader. Raises: EOFError when the nursery has died."""
        ours, theirs = Line.pair()
        try:
            with theirs:
                self._line.send(Fork())
                self._line.send_descriptor(theirs.fileno())
            return Process(ours, self._line.receive_descriptor())
        except (OSError, EOFError):
            ours.close()
            raise EOFError from None

    def close(self, patience_s: float = PATIENCE_S) -> None:
        """End it; what it forked ends with it."""
        self._line.close()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def hurry(self) -> None:
        """Tell it to end at once."""
        self._process.terminate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if error is not None:
            self.hurry()
        self.close(LAST_S if error is not None else PATIENCE_S)
