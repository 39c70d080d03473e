"""A set of modules under test in its sandbox: a submission, the reference, an alternate or a mutant alike."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import msgspec

from autograder.course import Limits
from autograder.sandbox.client import Answer, Facts, ForkServer, SandboxError, Session, Worker

FLOOR_S = 0.25  # the shortest limit after a time-out
MARGIN = 20  # times what the reference used: the least a check may use after a time-out


@dataclass
class Sandbox:
    """A fork server that is started again when it has died."""

    level: Any
    _server: ForkServer | None = field(default=None, repr=False)

    def session(self, files: dict[str, str], programs: str, modules: list[str]) -> Session:
        """A fresh sandbox; one more try with a new server. Raises: SandboxError."""
        try:
            return self._running().session(files, programs, modules)
        except SandboxError:
            self.close()
            return self._running().session(files, programs, modules)

    def _running(self) -> ForkServer:
        if self._server is None:
            self._server = ForkServer(self.level)
        return self._server

    def close(self) -> None:
        """End the server."""
        if self._server:
            self._server.close()
            self._server = None


class Subject:
    """Modules in a sandbox; each check gets a fresh worker, so that none depends on another."""

    def __init__(self, sandbox: Sandbox, files: dict[str, str], programs: str, modules: list[str]) -> None:
        self._open: Callable[[], Session] = lambda: sandbox.session(files, programs, modules)
        self._session = self._open()
        self.hurried = False

    def worker(self, limits: Limits) -> Worker:
        """A fresh worker for one check; the caller ends it."""
        return self._session.worker(limits)

    def reopen(self) -> None:
        """A new sandbox after a fault of this one. Raises: SandboxError."""
        self._session.close()
        self._session = self._open()

    def load(self, module: str, limits: Limits) -> tuple[Answer, Facts | None]:
        """Import a module in a worker of its own; once more if the sandbox failed or the time ran out.

        Raises: SandboxError.
        """
        answer, facts = self._load(module, limits)
        if answer.outcome == "grader-fault":
            self.reopen()
            answer, facts = self._load(module, limits)
        elif answer.outcome == "timed-out" and not self.hurried:
            answer, facts = self._load(module, limits)
            self.hurried = answer.outcome == "timed-out"
        return answer, facts

    def _load(self, module: str, limits: Limits) -> tuple[Answer, Facts | None]:
        worker = self.worker(self.limits(limits, 0.0))
        try:
            answer = worker.load(module)
        finally:
            facts = worker.end()
        return answer, facts

    def limits(self, limits: Limits, reference_cpu_s: float) -> Limits:
        """The limits of the next check: shorter once a time-out of this subject was confirmed.

        Otherwise one endless loop would cost every check's full limit. The reference's own cost, many
        times over, always remains.
        """
        if not self.hurried:
            return limits
        short = max(FLOOR_S, MARGIN * reference_cpu_s)
        return msgspec.structs.replace(
            limits, cpu_s=min(limits.cpu_s, short), idle_s=min(limits.idle_s, max(2 * FLOOR_S, short))
        )

    def close(self) -> None:
        """Nothing of it stays."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()
