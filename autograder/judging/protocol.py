"""What the parent and its grader processes say to each other; light, since the parent needs no pytest."""

from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from autograder.course import Lab
from autograder.intake import Found
from autograder.sandbox.client import Level
from labkit.messages import Message

from .details import Detail
from .verdicts import Check, Result, Verdict

Kind = Literal["grade", "replay", "examine"]


class Setup(msgspec.Struct, frozen=True):
    """To a nursery: what its graders are to grade. `parent`: the process id of whoever says it."""

    kind: Kind
    parent: int
    lab: Lab
    level: Level
    secret: bytes


class Ready(msgspec.Struct, frozen=True):
    """From a nursery: its checks, and which of them the reference fails, and why."""

    checks: list[Check]
    faults: dict[str, Message]


class Fork(msgspec.Struct, frozen=True):
    """To a nursery: fork a grader, whose line follows as a descriptor; back comes a handle of the process."""


class Refused(msgspec.Struct, frozen=True):
    """From a nursery or a grader: it can't start, for bad grading tests or want of a sandbox."""

    errors: list[str]


class Graded(msgspec.Struct, frozen=True):
    """A result, with what may differ from run to run: times, memory, what was printed, and explanations."""

    result: Result
    digest: str
    facts: list[dict[str, Any]]
    details: list[Detail] = []


# --- The audit


@dataclass(frozen=True)
class Examination:
    """Work to examine. `tasks`: only their checks, empty: all; `until_seen`: only to the first that fails."""

    found: Found
    tasks: tuple[str, ...] = ()
    until_seen: bool = False


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
