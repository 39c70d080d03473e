"""Has a lab's audit passed, as lab and grader are now, with the key that grades? build/audit/ says."""

import contextlib
from pathlib import Path

import msgspec

from autograder import key
from autograder.course import Course, Lab

from .depends import dependencies, everything


class _Figures(msgspec.Struct, frozen=True):
    """Of what the audit wrote, what is asked here; more may stand there."""

    key: str
    depends: dict[str, str]
    sound: bool


def file(course: Course, lab: Lab) -> Path:
    """Where the audit writes its figures."""
    return course.root / "build/audit" / f"{lab.id}.json"


def basis(lab: Lab) -> dict[str, str]:
    """What points depend on, and all that they were held against: mistakes, alternates, hints."""
    return dependencies(lab) | {"everything": everything(lab)}


def withdraw(course: Course, lab: Lab) -> dict[str, str]:
    """Before an audit: what was found before counts no more. What this one will rest on.

    Raises: CourseError.
    """
    file(course, lab).unlink(missing_ok=True)
    return basis(lab)


def audited(course: Course, lab: Lab) -> bool:
    """Whether it has. Raises: CourseError."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        found = msgspec.json.decode(file(course, lab).read_bytes(), type=_Figures)
        return found.sound and found.key == key.key_id(key.load_key()) and found.depends == basis(lab)
    return False
