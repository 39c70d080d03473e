"""The output folder as a whole: one process at a time writes to it, and it belongs to one course."""

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from autograder.course import CourseError

from . import record

LOCK, MARKER = ".lock", "course.json"


class _Marker(msgspec.Struct, frozen=True):
    """OUT/course.json: whose results these are."""

    course: str
    schema: int = record.SCHEMA


@contextlib.contextmanager
def claim(out: Path, course: str, option: str = "--out") -> Iterator[None]:
    """Be the one who writes to `out`, until the block or the process ends, however it ends.

    `option` names another folder on the command line.
    The lock is the kernel's: a lock file that was left behind holds nobody up, and no clock is asked.
    Temporary files of this process and of those it starts go to a folder that the next to claim `out` finds
    and empties, should this one be killed.
    Raises: CourseError when another process writes there, when it holds another course's results, or when
    it can't be written to.
    """
    _refuse_another_course(out, course, option)
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise CourseError(
            f"{out} can't be written to: {error.strerror}. Choose another folder with {option}, or make room."
        ) from None
    try:
        _lock(descriptor, out, option)
        if not _refuse_another_course(out, course, option):  # asked again: it may have come since
            record.write(out / MARKER, record.as_json(_Marker(course)))
        with _scratch(out):
            yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _scratch(out: Path) -> Iterator[None]:
    usual, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    named = hashlib.sha256(os.fsencode(out.resolve())).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"adkit-{os.getuid()}-{named}"
    with contextlib.suppress(OSError):
        folder.mkdir()
        folder.chmod(_SEARCHABLE)
    if not _is_ours(folder):  # somebody else has put something there: do without
        yield
        return
    for path in folder.iterdir():
        shutil.rmtree(path, ignore_errors=True)
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = usual
        if variable is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = variable
        shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    wanted = (os.getuid(), stat.S_IFDIR | _SEARCHABLE)
    return (status.st_uid, status.st_mode) == wanted


_SEARCHABLE = 0o711  # what the sandbox is tried on must be in reach of whoever it becomes


def _lock(descriptor: int, out: Path, option: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = os.pread(descriptor, 1000, 0).decode("utf-8", "replace").strip() or "another process"
        raise CourseError(
            f"{out} is being written to by {who}. Wait until it has ended, or choose another {option}."
        ) from None
    except OSError as error:
        raise CourseError(
            f"{out} can't be locked: {error.strerror}. Choose a local folder with {option}."
        ) from None
    since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {platform.node()} since {since}\n".encode(), 0)


def _refuse_another_course(out: Path, course: str, option: str) -> bool:
    """Whether the folder is marked as this course's. Raises: CourseError when it is another's."""
    try:
        marker = msgspec.json.decode((out / MARKER).read_bytes(), type=_Marker)
    except (OSError, msgspec.DecodeError):
        return False
    if marker.course != course:
        raise CourseError(
            f"{out} holds results of the course {marker.course}, and this is {course}. Choose another folder "
            f"with {option}, or in course.toml."
        )
    return True


def refuse_submissions(out: Path, submitted: Path) -> None:
    """Results do not go among the submissions. Raises: CourseError."""
    if out.resolve() == submitted.resolve():
        raise CourseError(f"{out} holds the submissions. Choose another folder for the results with --out.")
