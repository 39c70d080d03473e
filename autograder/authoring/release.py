"""Make the zip that students get of a lab, and put it in place only after it has proved itself.

released = release(course, "lab1", "en", Path("build/release"), "full", datetime.now(UTC))
released.path          # build/release/lab1-3f9a2c.zip
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder import key
from autograder.authoring import release_bundle as bundle
from autograder.authoring.labs import check_labs
from autograder.authoring.leaks import scan
from autograder.authoring.leaks_secrets import secrets_of
from autograder.authoring.release_proof import prove
from autograder.batch import record
from autograder.course import Course, CourseError, Lab
from autograder.sandbox.client import Level


@dataclass(frozen=True)
class Released:
    """A zip in its place. `fresh`: it was not there before. `closed`: whose solutions it may not show."""

    path: Path
    lab: Lab
    size: int
    files: int
    sha256: str
    fresh: bool
    level: Level
    closed: tuple[str, ...]


def told(released: Released) -> str:
    """What there is now, and what was proved, in a few lines."""
    lab, kilobytes = released.lab, -(-released.size // 1024)
    head = f"{released.path}{'' if released.fresh else ' (it was there already, byte for byte)'}"
    solutions = [f"solution of {one}" for one in released.closed]
    kept = ", ".join(["hidden test", "mutant", "key", "path of the course team", *solutions])
    return (
        f"{head}\n"
        f"{kilobytes} KB, {released.files} files, sha256 {released.sha256}\n"
        f"Proved at level {released.level}: its modules earn 0 of {lab.max_points} points, the reference "
        f"earns {lab.max_points}; it holds no {kept}."
    )


def release(
    course: Course, lab_id: str, language: str | None, out: Path, level: Level, now: datetime
) -> Released:
    """Bundle a lab with `language` (else the course's first) at the top, prove it, put it below `out`.

    Raises: CourseError for whatever keeps it from students: one line, what, where, how to mend it;
    StorageError where it can't be written.
    """
    lab = course.lab(lab_id)
    language = language or course.languages[0]
    if language not in course.languages:
        raise CourseError(
            f"course.toml lists no language {language!r}. There are: {', '.join(course.languages)}."
        )
    _refuse_drift(course)
    files = bundle.files_of(course, lab, language)
    top = bundle.name_of(lab, files)
    archive = bundle.packed(top, files)
    path = out / f"{top}.zip"
    fresh = not _is_there(path, archive)
    _refuse_leaks(course, archive, now)
    prove(course, lab, archive, level)
    if fresh:
        record.write(path, archive)
    return Released(
        path=path,
        lab=lab,
        size=len(archive),
        files=len(files),
        sha256=hashlib.sha256(archive).hexdigest(),
        fresh=fresh,
        level=level,
        closed=tuple(one.id for one in course.labs if now < one.solutions_after),
    )


def _refuse_drift(course: Course) -> None:
    if difference := check_labs(course):
        first = difference.splitlines()[0]
        if first.startswith("---"):
            first = re.findall(r"labs/\S+", difference)[0] + " differs"
        raise CourseError(f"labs/ is not what reference/ gives: {first}. Run: make labs")


def _is_there(path: Path, archive: bytes) -> bool:
    """Whether the zip is in its place already.

    Raises: CourseError if something else is.
    """
    try:
        if path.read_bytes() == archive:
            return True
    except FileNotFoundError:
        return False
    except OSError as error:
        raise CourseError(
            f"{path} can't be read: {error.strerror}. Move it away, or choose another --out."
        ) from None
    raise CourseError(f"{path} holds something else. Move it away, or choose another --out.")


def _refuse_leaks(course: Course, archive: bytes, now: datetime) -> None:
    found = scan(archive, secrets_of(course, key.load_key(), now))
    if found:
        first, more = found[0], f" ({len(found) - 1} more such places.)" if len(found) > 1 else ""
        raise CourseError(f"In the bundle, {first.where} holds {first.what}. {first.mend}{more}")
