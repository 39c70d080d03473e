"""Results as grading left them on disk: all that pages are made from, so that they can be made again."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from autograder.batch.record import Record
from autograder.judging.details import Detail
from autograder.judging.verdicts import Result


@dataclass(frozen=True)
class Stored:
    """A student's result, with the details by check."""

    result: Result
    details: dict[str, Detail]


class _Facts(msgspec.Struct):
    """What of facts.json pages show."""

    details: list[Detail] = []


def with_details(result: Result, facts: object) -> Stored:
    """A result with what its facts, as JSON has them, tell of its details; they only explain."""
    try:
        details = msgspec.convert(facts, _Facts).details
    except msgspec.ValidationError:
        details = []
    return Stored(result, {detail.check: detail for detail in details})


def load(folder: Path) -> Stored | None:
    """What lies in a student's folder; None where there is no record that can be read."""
    try:
        result = msgspec.json.decode((folder / "record.json").read_bytes(), type=Record).result
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    try:
        facts = msgspec.json.decode((folder / "facts.json").read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        facts = {}
    return with_details(result, facts)


def load_class(folder: Path) -> dict[str, Stored | None]:
    """Everybody with a record, by student."""
    return {path.parent.name: load(path.parent) for path in sorted(folder.glob("*/record.json"))}
