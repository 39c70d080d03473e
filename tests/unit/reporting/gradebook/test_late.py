"""Lateness: by the time beside the work, in any zone, a day that has begun counts."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from autograder.course import CourseError, Late, load_course
from autograder.intake import Found
from autograder.reporting.gradebook.late import STAMP, Lateness, extensions, lateness

if TYPE_CHECKING:
    from tests.conftest import MiniCourse


@dataclass
class Desk:
    """A course with three free days and a tenth for each further one, and work handed in at a time."""

    root: Path

    def late(self, stamp: str | None, hours: float = 0) -> Lateness:
        course = msgspec.structs.replace(load_course(self.root), late=Late(3, 0.1))
        folder = self.root / "submitted/ann/lab0"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / STAMP).unlink(missing_ok=True)
        if stamp is not None:
            (folder / STAMP).write_text(stamp, encoding="utf-8")
        more = {"ann": timedelta(hours=hours)} if hours else {}
        return lateness(course, course.labs[0], Found("ann", (folder,)), more)


@pytest.fixture(scope="module")
def desk(mini_course: Callable[[Path], "MiniCourse"], tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(mini_course(tmp_path_factory.mktemp("late") / "course").root)


@pytest.mark.parametrize(
    ("stamp", "days", "share"),
    [
        (None, 0, 0),
        ("2026-11-24 15:59:00 UTC", 0, 0),  # 23:59 in Beijing, to the second
        ("2026-11-24 15:59:00.000001 UTC", 1, 0),
        ("2026-11-25T00:00:00+08:00", 1, 0),
        ("2026-11-24 09:59:00-06:00", 0, 0),
        ("2026-11-27 15:59:00 UTC", 3, 0),
        ("2026-11-27T15:59:01Z", 4, 0.1),
        ("2027-11-27T15:59:01Z\n", 369, 1),
    ],
)
def test_days_late_and_what_they_cost(desk: Desk, stamp: str | None, days: int, share: float) -> None:
    late = desk.late(stamp)
    assert (late.days, late.share) == (days, pytest.approx(share))


def test_an_extension_moves_the_day(desk: Desk) -> None:
    assert desk.late("2026-11-28 15:59:00 UTC", hours=24).days == 3


def test_extensions_are_read_from_their_file(desk: Desk) -> None:
    course = load_course(desk.root)
    assert extensions(course, course.labs[0]) == {}
    file = desk.root / "extensions.toml"
    file.write_text('[[extension]]\nstudent = "ann"\nlab = "lab0"\nhours = 48\nreason = "ill"\n')
    try:
        assert extensions(course, course.labs[0]) == {"ann": timedelta(days=2)}
    finally:
        file.unlink()


def test_more_time_for_nobody_is_told(desk: Desk) -> None:
    course = load_course(desk.root)
    file = desk.root / "extensions.toml"
    file.write_text('[[extension]]\nstudent = "ann, "\nlab = "lab0"\nhours = 48\n')
    try:
        with pytest.raises(CourseError, match=r"extensions\.toml: 'ann, ' is no student's id\. Mend it\."):
            extensions(course, course.labs[0])
    finally:
        file.unlink()


def test_a_time_that_is_none_is_told_with_a_mend(desk: Desk) -> None:
    with pytest.raises(CourseError, match=r"timestamp\.txt holds no time\. Write one like"):
        desk.late("yesterday")
