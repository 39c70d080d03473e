"""What the parent and its grader processes say to each other; light, since the parent needs no pytest."""

from typing import Any

import msgspec

from labkit.messages import Message

from .details import Detail
from .verdicts import Check, Result


class Started(msgspec.Struct, frozen=True):
    """From a grader: its tests are collected, its sandbox stands."""


class TestTheReference(msgspec.Struct, frozen=True):
    """To the first grader: grade the reference, say `Ready`."""

    __test__ = False  # pytest, which is near, takes it for a test


class Ready(msgspec.Struct, frozen=True):
    """The checks, which of them the reference fails and why, and what each cost it; then to every grader."""

    checks: list[Check]
    faults: dict[str, Message]
    cpu_s: dict[str, float]
    hashes: dict[str, str]


class Refused(msgspec.Struct, frozen=True):
    """From a grader: it can't start, for bad grading tests or want of a sandbox."""

    errors: list[str]


class Graded(msgspec.Struct, frozen=True):
    """A result, with what may differ from run to run: times, memory, what was printed, and explanations."""

    result: Result
    digest: str
    facts: list[dict[str, Any]]
    details: list[Detail] = []
