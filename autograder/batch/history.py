"""What the last finished run of a lab left, so that what changed since can be told, whatever was killed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from . import record
from .store import Stored

FILE = ".last.json"


class Last(msgspec.Struct, frozen=True):
    """A student's points, the digest of the work, and what the pages were made from."""

    points: int | None
    submission: str
    pages: str


@dataclass(frozen=True)
class Change:
    """Points that are other than before although the work is the same."""

    student: str
    before: int
    after: int


def last(folder: Path) -> dict[str, Last]:
    """By student; empty where no run has finished yet."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=dict[str, Last])
    except (OSError, msgspec.DecodeError):
        return {}


def changes(before: Mapping[str, Last], stored: Sequence[Stored]) -> list[Change]:
    """Whose points changed without the student's doing."""
    found = []
    for one in stored:
        old, points = before.get(one.result.student), one.result.points
        same_work = old is not None and old.submission == one.record.hashes["submission"]
        if old and same_work and old.points is not None and points is not None and points != old.points:
            found.append(Change(one.result.student, old.points, points))
    return found


def remember(folder: Path, stored: Sequence[Stored], pages: Mapping[str, str]) -> None:
    """Keep what the next run wants to know. Raises: record.StorageError."""
    kept = {
        one.result.student: Last(
            one.result.points, one.record.hashes["submission"], pages[one.result.student]
        )
        for one in stored
    }
    record.write(folder / FILE, record.as_json({**last(folder), **kept}))
