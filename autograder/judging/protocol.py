"""What the parent and its grader processes say to each other; light, since the parent needs no pytest."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from autograder.course import Lab
from autograder.intake import Found
from autograder.sandbox.client import Level
from labkit.messages import Message

from .details import Detail
from .mistakes import Mistake
from .verdicts import Check, Result, Verdict

Kind = Literal["grade", "replay", "examine"]
Until = Literal["", "task", "all"]


class Known(msgspec.Struct, frozen=True):
    """A lab's typical mistakes, and the folder in which their answers are kept."""

    mistakes: tuple[Mistake, ...]
    folder: Path


class Setup(msgspec.Struct, frozen=True):
    """To a nursery: what its graders are to grade. `parent`: the process id of whoever says it."""

    kind: Kind
    parent: int
    lab: Lab
    level: Level
    secret: bytes
    known: Known | None = None


class Ready(msgspec.Struct, frozen=True):
    """From a nursery: its checks, and which of them the reference fails, and why."""

    checks: list[Check]
    faults: dict[str, Message]


class Fork(msgspec.Struct, frozen=True):
    """To a nursery: fork a grader, whose line follows as a descriptor; back comes a handle of the process."""


class Refused(msgspec.Struct, frozen=True):
    """From a nursery or a grader: it can't start, for bad grading tests or want of a sandbox."""

    errors: list[str]


class Measured(msgspec.Struct):
    """A quantity that a check compares, and how far answers were off, in shares of the accepted error.

    accepted: the largest share up to 1. refused: the largest above it, None where nothing was refused.
    """

    check: str
    program: str
    quantity: str
    tolerance: float
    accepted: float = 0.0
    refused: float | None = None

    def note(self, share: float) -> None:
        """One more answer."""
        if share <= 1:
            self.accepted = max(self.accepted, share)
        else:
            self.refused = share if self.refused is None else max(self.refused, share)

    def together(self, other: "Measured") -> "Measured":
        """What was seen by either."""
        refused = [one.refused for one in (self, other) if one.refused is not None]
        accepted = max(self.accepted, other.accepted)
        return msgspec.structs.replace(self, accepted=accepted, refused=max(refused, default=None))


class Graded(msgspec.Struct, frozen=True):
    """A result, with what may differ from run to run: times, memory, what was printed, and explanations.

    For the audit: `measured`, and `compared`, the calls of each check whose answers were.
    """

    result: Result
    digest: str
    facts: list[dict[str, Any]]
    details: list[Detail] = []
    measured: list[Measured] = []
    compared: dict[str, list[str]] = {}


# --- The audit


@dataclass(frozen=True)
class Examination:
    """Work to examine. `only`: these tasks and checks, empty: all.

    `until`: what ends with the first check that fails, if anything does, each task or all. `hurried`: limits
    are short from the start, as after a time-out.
    """

    found: Found
    only: tuple[str, ...] = ()
    until: Until = ""
    hurried: bool = False


# --- Replay: one check again


@dataclass(frozen=True)
class Order:
    """Which check to run again, of which work."""

    found: Found
    check: str


@dataclass(frozen=True)
class Quantity:
    """One number or array of an answer, in words; `difference`: the largest, and what was accepted."""

    name: str
    expected: str
    got: str
    difference: str


@dataclass
class CallStory:
    """A call, with its inputs in full. `frames`: where in the student's files an exception came from."""

    program: str
    inputs: dict[str, str]
    ending: str
    quantities: list[Quantity] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)


@dataclass
class CaseStory:
    """One input of the check."""

    id: str
    calls: list[CallStory] = field(default_factory=list)
    outcome: str = "not-run"
    message: Message | None = None


@dataclass
class Replayed:
    """What a check did; `facts`: of each import and each try, as in facts.json."""

    check: str
    variant: int
    digest: str
    verdict: Verdict
    cases: list[CaseStory]
    facts: list[dict[str, Any]]
