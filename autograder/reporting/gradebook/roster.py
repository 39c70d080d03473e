"""roster.csv beside course.toml: who takes the course, and what they are called."""

import csv
from dataclasses import dataclass
from pathlib import Path

from autograder.course import CourseError, valid_student_id

NAME = "roster.csv"


@dataclass(frozen=True)
class Person:
    """A line of the roster."""

    id: str
    name: str = ""
    email: str = ""


def read_roster(root: Path) -> dict[str, Person]:
    """By id, in the file's order; empty without a roster. Raises: CourseError."""
    path = root / NAME
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}. Mend its permissions.") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not UTF-8. Save it as “CSV UTF-8”.") from None
    people: dict[str, Person] = {}
    for number, row in enumerate(csv.DictReader(text.splitlines()), 2):
        id = (row.get("id") or "").strip()
        if not valid_student_id(id) or id in people:
            what = "stands there twice" if id in people else "is no student's id"
            raise CourseError(f"{path}, line {number}: {id!r} {what}. Mend the column id.")
        people[id] = Person(id, (row.get("name") or "").strip(), (row.get("email") or "").strip())
    return people
