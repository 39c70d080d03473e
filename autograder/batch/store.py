"""The results of one lab on disk: OUT/LAB/STUDENT/record.json, with facts.json beside it."""

import contextlib
import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from autograder.judging.details import Detail
from autograder.judging.protocol import Graded
from autograder.judging.verdicts import Result
from autograder.sandbox.client import Level

from . import record
from .record import Record

RECORD, FACTS = "record.json", "facts.json"


class Facts(msgspec.Struct, frozen=True):
    """What may differ from run to run. `record`: SHA-256 of the record that it belongs to."""

    record: str
    level: Level
    machine: str
    checks: list[dict[str, Any]]
    details: list[Detail]


@dataclass(frozen=True)
class Stored:
    """A result as it lies on disk. `digest`: SHA-256 over the bytes of both files."""

    record: Record
    facts: Facts
    digest: str

    @property
    def result(self) -> Result:
        """What was found of the student's work."""
        return self.record.result

    @property
    def level(self) -> Level:
        """The level of isolation it was graded at."""
        return self.facts.level

    @property
    def details(self) -> dict[str, Detail]:
        """What was found out about checks that failed, by check; it only explains."""
        return {detail.check: detail for detail in self.facts.details}


@dataclass(frozen=True)
class Store:
    """Results by student. The record is written last, and the facts name it: a result is both or neither."""

    folder: Path
    key: str

    def load(self, student: str) -> Stored | None:
        """What is stored of a student; None where nothing is, or not the whole of it."""
        try:
            content = (self.folder / student / RECORD).read_bytes()
            aside = (self.folder / student / FACTS).read_bytes()
            found = msgspec.json.decode(content, type=Record)
            facts = msgspec.json.decode(aside, type=Facts)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        if facts.record != _sha256(content) or found.result.student != student:
            return None
        return Stored(found, facts, _sha256(content + aside))

    def keep(self, graded: Graded, depends: dict[str, str], level: Level) -> Stored:
        """Store a result; once this returns, the end of this process takes nothing of it.

        Raises: record.StorageError.
        """
        hashes = {**depends, "submission": graded.digest}
        content = record.as_json(Record(record.SCHEMA, self.key, hashes, graded.result))
        machine = f"{platform.node()} {platform.platform()}"
        facts = Facts(_sha256(content), level, machine, graded.facts, graded.details)
        return self._write(graded.result.student, content, record.as_json(facts))

    def adopt(self, student: str, other: "Store") -> None:
        """Take a student's result over from another store.

        Raises: record.StorageError.
        """
        files = [(other.folder / student / name).read_bytes() for name in (RECORD, FACTS)]
        self._write(student, *files)

    def _write(self, student: str, content: bytes, aside: bytes) -> Stored:
        record.write(self.folder / student / FACTS, aside)
        record.write(self.folder / student / RECORD, content)
        stored = self.load(student)
        assert stored is not None
        return stored

    def students(self) -> list[str]:
        """Who has a record, whole or not."""
        return sorted(path.parent.name for path in self.folder.glob(f"[!.]*/{RECORD}"))

    def sweep(self) -> None:
        """Remove the unfinished files of a process that was killed; the caller is the only one who writes."""
        for pattern in (f".*{record.UNFINISHED}", f"*/.*{record.UNFINISHED}"):
            for path in self.folder.glob(pattern):
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
