"""Grade a class: every submission of a lab, in parallel, each result stored as soon as it is there."""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from autograder import key
from autograder.course import CourseError, Lab
from autograder.intake import find_submissions
from autograder.judging.protocol import Graded, Ready
from autograder.judging.verdicts import Result
from autograder.sandbox.client import Level
from labkit.messages import Message

from . import record
from .pool import Pool


@dataclass
class ClassResult:
    """A graded class. `faults`: checks that the reference itself fails, which count for nobody."""

    lab: Lab
    level: Level
    results: list[Result] = field(default_factory=list)
    refused: tuple[Message, ...] = ()
    faults: dict[str, Message] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether no result needs a person."""
        return not self.refused and not self.faults and all(result.complete for result in self.results)


def grade(
    lab: Lab,
    submitted: Path,
    out: Path,
    level: Level,
    jobs: int,
    on_start: Callable[[int], None],
    on_result: Callable[[Result], None],
) -> ClassResult:
    """Grade all submissions of `lab` below `submitted`, leave records below `out`/LAB.

    Raises: CourseError for bad course files, folders or grading tests; StorageError when a record can't
    be stored.
    """
    class_ = find_submissions(submitted, lab.id)
    if out.resolve() == submitted.resolve():
        raise CourseError(f"{out} holds the submissions. Choose another folder for the results with --out.")
    folder = out / lab.id
    secret = key.load_key()
    record.prepare(folder, key.key_id(secret))
    graded = ClassResult(lab, level, refused=class_.refused)
    hashes: dict[str, str] = {}

    def ready(message: Ready) -> None:
        graded.faults = dict(message.faults)
        hashes.update(message.hashes)
        on_start(len(class_.found))

    def store(message: Graded) -> None:
        result = message.result
        content = record.Record(
            record.SCHEMA, key.key_id(secret), {**hashes, "submission": message.digest}, result
        )
        record.write(folder / result.student / "record.json", record.as_json(content))
        facts = {
            "level": level,
            "machine": f"{platform.node()} {platform.platform()}",
            "checks": message.facts,
            "details": message.details,
        }
        record.write(folder / result.student / "facts.json", record.as_json(facts))
        graded.results.append(result)
        on_result(result)

    with Pool(lab, level, secret, jobs) as pool:
        pool.run(class_.found, ready, store)
    graded.results.sort(key=lambda result: result.student)
    return graded
