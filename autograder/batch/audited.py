"""Has a lab's audit passed, as lab and grader are now, with the key that grades? build/audit/ says."""

import contextlib
from pathlib import Path

import msgspec

from autograder import key
from autograder.course import Course, Lab

from .depends import dependencies


class _Figures(msgspec.Struct, frozen=True):
    """Of what the audit wrote, what is asked here; more may stand there."""

    key: str
    depends: dict[str, str]
    sound: bool


def file(course: Course, lab: Lab) -> Path:
    """Where the audit writes its figures."""
    return course.root / "build/audit" / f"{lab.id}.json"


def audited(course: Course, lab: Lab) -> bool:
    """Whether it has. Raises: CourseError."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        found = msgspec.json.decode(file(course, lab).read_bytes(), type=_Figures)
        of_now = found.key == key.key_id(key.load_key()) and found.depends == dependencies(lab)
        return found.sound and of_now
    return False
