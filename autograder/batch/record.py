"""A record: a result with what it depends on. And how files of ours are written: whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from autograder.course import CourseError
from autograder.judging.verdicts import Result

SCHEMA = 1
UNFINISHED = ".unfinished"  # how the name of a file ends while it is being written


class Record(msgspec.Struct, frozen=True):
    """A result with what it depends on; byte-identical for identical inputs."""

    schema: int
    key: str
    hashes: dict[str, str]
    result: Result


class StorageError(Exception):
    """A result could not be stored; str() is one line with the mend."""


class _Graded(msgspec.Struct):
    """What of a record tells whether a class is still graded with the same key."""

    key: str


def prepare(folder: Path, key_id: str) -> None:
    """Make the output folder, prove that it can be written to and holds nothing graded with another key.

    Raises: CourseError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x" * 4096)
            probe.flush()
    except OSError as error:
        raise CourseError(
            f"{folder} can't be written to: {error.strerror}. Choose another folder with --out, or make room."
        ) from None
    for path in sorted(folder.glob("*/record.json")):
        with contextlib.suppress(OSError, msgspec.DecodeError):  # what is torn will be written anew
            used = msgspec.json.decode(path.read_bytes(), type=_Graded).key
            if used != key_id:
                raise CourseError(
                    f"{path} was graded with the key {used}; the key here is {key_id}: inputs would differ. "
                    "Put the backup of that key in place (ADKIT_KEY_FILE), or choose another --out."
                )


def write(path: Path, content: bytes) -> None:
    """Write a file so that at every moment either the old or the new one is there, whole.

    Raises: StorageError.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(unfinished, 0o644)
            os.replace(unfinished, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):  # Ctrl-C just after it got its name
                os.unlink(unfinished)
            raise
    except OSError as error:
        raise StorageError(
            f"{path} can't be written: {error.strerror}. Make room or choose another --out, then run it "
            "again: what is stored already is whole."
        ) from None


def as_json(value: Any) -> bytes:
    """JSON with sorted keys, for people and for byte-wise comparison."""
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2) + b"\n"
