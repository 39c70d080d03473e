"""A set of modules under test in its sandbox: a submission, the reference, an alternate or a mutant alike."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from autograder.course import Limits
from autograder.sandbox.client import (
    NO_KERNELS,
    NO_NOTEBOOK,
    Answer,
    Facts,
    ForkServer,
    Kernels,
    Notebook,
    SandboxError,
    Session,
    Worker,
)
from labkit.messages import Message

FLOOR_S = 0.25  # of CPU: the shortest limit after a time-out
IDLE_FLOOR_S = 1.0  # a shorter pause may be the machine's
MARGIN = 20  # times what the reference used: the least a check may use after a time-out
IMPORT_MARGIN = 2  # times what the subject's own imports used, which every check pays again
PACE = 5  # seconds of waiting that a second of CPU may take: what a busy machine makes of honest work

Hurry = Literal["", "again", "slow"]


@dataclass
class Sandbox:
    """A fork server that is started again when it has died."""

    level: Any
    kernels: bool = False
    _server: ForkServer | None = field(default=None, repr=False)
    _owned: bool = True

    def session(
        self,
        files: dict[str, str],
        programs: str,
        modules: list[str],
        kernels: Kernels = NO_KERNELS,
        notebook: Notebook = NO_NOTEBOOK,
    ) -> Session:
        """A fresh sandbox; one more try with a new server. Raises: SandboxError."""
        try:
            return self._running().session(files, programs, modules, kernels, notebook)
        except SandboxError:
            self.close()
            return self._running().session(files, programs, modules, kernels, notebook)

    def _running(self) -> ForkServer:
        if self._server is None:
            self._server, self._owned = ForkServer(self.level, self.kernels), True
        return self._server

    def close(self) -> None:
        """End the server, unless it is only borrowed."""
        if self._server and self._owned:
            self._server.close()
        self._server = None

    def borrow(self) -> None:
        """After a fork: go on with the parent's server, whose end is the parent's business."""
        self._owned = False


class Subject:
    """Modules in a sandbox; each check gets a fresh worker, so that none depends on another.

    `hurry`: why limits are cut short: "again" after a confirmed time-out, "slow" after too much waiting in
    all its checks together. `kernels_problem`: why its modules have no kernels to launch.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        files: dict[str, str],
        programs: str,
        modules: list[str],
        kernels: Kernels = NO_KERNELS,
        notebook: Notebook = NO_NOTEBOOK,
    ) -> None:
        self._open: Callable[[], Session] = lambda: sandbox.session(
            files, programs, modules, kernels, notebook
        )
        self._session = self._open()
        self.hurry: Hurry = ""
        self.kernels_problem: tuple[str, Message] | None = None
        self._wall_s = self._cpu_s = self._import_cpu_s = 0.0

    def worker(self, limits: Limits) -> Worker:
        """A fresh worker for one check; the caller ends it."""
        return self._session.worker(limits)

    def end(self, worker: Worker, limits: Limits) -> Facts | None:
        """End a worker that ran under `limits`, and count its time."""
        facts = worker.end()
        self._wall_s += worker.wall_s
        self._cpu_s += facts.cpu_s if facts else 0.0
        if not self.hurry and self._wall_s > 2 * limits.wall_s + PACE * self._cpu_s:
            self.hurry = "slow"
        return facts

    def reopen(self) -> None:
        """A new sandbox after a fault of this one. Raises: SandboxError."""
        self._session.close()
        self._session = self._open()

    def hurry_up(self) -> None:
        """Cut limits short: a second try under full ones timed out too, or nobody is to wait once more."""
        self.hurry = self.hurry or "again"

    def load(self, module: str, limits: Limits) -> tuple[Answer, Facts | None]:
        """Import a module in a worker of its own; once more if the sandbox failed or the time ran out.

        Raises: SandboxError.
        """
        answer, facts = self._load(module, limits)
        if answer.outcome == "grader-fault":
            self.reopen()
            answer, facts = self._load(module, limits)
        elif answer.outcome == "timed-out" and not self.hurry:
            answer, facts = self._load(module, limits)
            if answer.outcome == "timed-out":
                self.hurry_up()
        if answer.outcome == "ok" and facts:
            self._import_cpu_s += facts.cpu_s
        return answer, facts

    def _load(self, module: str, limits: Limits) -> tuple[Answer, Facts | None]:
        if self.hurry:  # what an import costs is not known yet
            limits = _shorter(limits, limits.cpu_s / 2)
        worker = self.worker(limits)
        try:
            answer = worker.load(module)
        finally:
            facts = self.end(worker, limits)
        return answer, facts

    def limits(self, limits: Limits, reference_cpu_s: float) -> Limits:
        """The limits of the next check, shorter in a hurry.

        Otherwise one endless loop would cost every check's full limit. The reference's own cost, many
        times over, always remains, and so does that of the subject's imports.
        """
        if not self.hurry:
            return limits
        own = IMPORT_MARGIN * self._import_cpu_s
        return _shorter(limits, own + max(FLOOR_S, MARGIN * reference_cpu_s))

    def close(self) -> None:
        """Nothing of it stays."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


def _shorter(limits: Limits, cpu_s: float) -> Limits:
    """Limits with less CPU, and less of the wall clock in proportion."""
    cpu_s = min(limits.cpu_s, cpu_s)
    return msgspec.structs.replace(
        limits,
        cpu_s=cpu_s,
        idle_s=min(limits.idle_s, max(IDLE_FLOOR_S, cpu_s)),
        wall_s=min(limits.wall_s, max(IDLE_FLOOR_S, limits.wall_s * cpu_s / limits.cpu_s)),
    )
