"""Who handed in what: SUBMITTED/STUDENT/LAB/ as a folder, or SUBMITTED/STUDENT/LAB.zip and the like."""

import os
import unicodedata
from collections import defaultdict
from pathlib import Path

from autograder.course import CourseError, valid_student_id
from autograder.intake.archive import REFUSED_SUFFIXES, TAKEN_SUFFIXES, archive_suffix
from autograder.intake.entries import Refused, is_junk, listed, reason_of, shown
from autograder.intake.submission import ClassFolder, Found
from labkit.messages import Argument, Message


class NothingFound(CourseError):
    """There is no work on a lab; `is_misnamed`: but there is something that may be meant as such."""

    def __init__(self, line: str, is_misnamed: bool) -> None:
        super().__init__(line)
        self.is_misnamed = is_misnamed


def find_submissions(submitted: Path, lab: str) -> ClassFolder:
    """All work on one lab, sorted by student.

    Names of folders that differ in case or in Unicode form only are one student's.
    Raises: CourseError if `submitted` is no folder, NothingFound if it holds nothing of this lab.
    """
    paths: dict[str, list[Path]] = defaultdict(list)
    refused: list[Message] = []
    for folder in _student_folders(submitted, lab):
        student = _student(folder)
        if folder.is_symlink():
            refused.append(Message("intake.student-link", {"folder": shown(folder.name)}))
        elif not valid_student_id(student):
            refused.append(Message("intake.no-student", {"folder": shown(folder.name)}))
        else:
            try:
                paths[student.casefold()] += _work(folder, lab)
            except Refused as refusal:
                refused.append(refusal.message)
    found = [Found(_student(work[0].parent), tuple(work)) for work in paths.values() if work]
    if not found:
        misnamed = any(message.id == "intake.misnamed" for message in refused)
        raise NothingFound(_nothing(submitted, lab, refused), misnamed)
    return ClassFolder(tuple(sorted(found, key=lambda one: one.student)), tuple(refused))


def _student_folders(submitted: Path, lab: str) -> list[Path]:
    mend = f"Name the folder that holds STUDENT/{lab}/ with --submitted, or in course.toml."
    try:
        with os.scandir(submitted) as entries:
            names = sorted(entry.name for entry in entries if not _is_beside_the_students(entry))
    except FileNotFoundError:
        raise CourseError(f"The folder of submissions {submitted} doesn't exist. {mend}") from None
    except NotADirectoryError:
        raise CourseError(f"{submitted} is a file, not the folder of submissions. {mend}") from None
    except OSError as error:
        raise CourseError(f"{submitted} can't be read: {reason_of(error)}. Mend its permissions.") from None
    return [submitted / name for name in names]


def _is_beside_the_students(entry: "os.DirEntry[str]") -> bool:
    # A link counts as a folder here, to be told of rather than followed.
    plain = not (entry.is_symlink() or entry.is_dir(follow_symlinks=False))
    return plain or is_junk(entry.name) or entry.name == "_unknown"


def _student(folder: Path) -> str:
    return unicodedata.normalize("NFC", folder.name)


def _work(folder: Path, lab: str) -> list[Path]:
    """What in a student's folder is work on this lab.

    Raises: Refused if it can't be read, or holds only what may be meant as work on this lab.
    """
    try:
        with os.scandir(folder) as entries:
            packed = {entry.name: not entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError as error:
        arguments: dict[str, Argument] = {"folder": shown(folder.name), "reason": reason_of(error)}
        raise Refused(Message("intake.student-unreadable", arguments)) from None
    names = {lab.casefold() + ending for ending in ("", *TAKEN_SUFFIXES, *REFUSED_SUFFIXES)}
    work = sorted(name for name in packed if name.casefold() in names)
    misnamed = [name for name in packed if _is_misnamed(name, packed[name], lab)]
    if misnamed and not work:
        arguments = {"folder": shown(folder.name), "found": listed(misnamed), "lab": lab}
        raise Refused(Message("intake.misnamed", arguments))
    return [folder / name for name in work]


def _is_misnamed(name: str, packed: bool, lab: str) -> bool:
    """Whether a folder or archive may be meant as this lab: "lab1 (1).zip", "lab1-final"."""
    head, rest = name[: len(lab)], name[len(lab) :]
    meant = head.casefold() == lab.casefold() and not rest[:1].isalnum()
    return meant and (archive_suffix(name) is not None or not packed)


def _nothing(submitted: Path, lab: str, refused: list[Message]) -> str:
    line = f"{submitted} holds no submission of {lab}. Put them there as STUDENT/{lab}/ or STUDENT/{lab}.zip."
    if refused:
        line += f" {refused[0].text('en')}"
    return line + (f" ({len(refused) - 1} more like this.)" if len(refused) > 1 else "")
