"""How late work is, and the share of its points that this costs."""

import contextlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec

from autograder.course import Course, CourseError, Lab, valid_student_id
from autograder.intake import Found
from autograder.toml_file import read_toml

STAMP = "timestamp.txt"
_STAMP_BYTES = 200
_DAY = timedelta(days=1)


class _Extension(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    student: str
    lab: str
    hours: Annotated[float, msgspec.Meta(gt=0, le=10_000)]
    reason: str = ""


class _Extensions(msgspec.Struct, frozen=True):
    extension: tuple[_Extension, ...] = ()


@dataclass(frozen=True)
class Lateness:
    """`handed_in`: UTC, None where no time is known, which counts as on time; `extra`: of an extension."""

    handed_in: datetime | None
    extra: timedelta
    days: int
    share: float


def extensions(course: Course, lab: Lab) -> dict[str, timedelta]:
    """Who has more time for a lab, from extensions.toml.

    Raises: CourseError, for an id that can be nobody's as well.
    """
    if not (course.root / "extensions.toml").exists():
        return {}
    found = read_toml(course.root, "extensions.toml", _Extensions, "")
    for one in found.extension:
        if not valid_student_id(one.student):
            raise CourseError(f"extensions.toml: {one.student!r} is no student's id. Mend it.")
    return {one.student: timedelta(hours=one.hours) for one in found.extension if one.lab == lab.id}


def lateness(course: Course, lab: Lab, found: Found, more: Mapping[str, timedelta]) -> Lateness:
    """How late a student's work is, by the time that the exchange or `collect` noted beside it.

    A day that has begun counts. Raises: CourseError for a time that can't be read.
    """
    handed_in = _handed_in(found)
    extra = more.get(found.student, timedelta(0))
    over = handed_in - lab.due - extra if handed_in else timedelta(0)
    days = max(0, math.ceil(over / _DAY))
    share = min(1.0, course.late.per_day * max(0, days - course.late.free_days))
    return Lateness(handed_in, extra, days, share)


def _handed_in(found: Found) -> datetime | None:
    path = found.paths[0] / STAMP if found.paths[0].is_dir() else found.paths[0].parent / STAMP
    text = _read(path)
    if text is None:
        return None
    words = text.strip().removesuffix("UTC").strip()
    with contextlib.suppress(ValueError):
        moment = datetime.fromisoformat(words)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    raise CourseError(f"{path} holds no time. Write one like 2026-11-24 15:59:00 UTC, or remove it.")


def _read(path: Path) -> str | None:
    """A small file's text; a link is not followed."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(_STAMP_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
