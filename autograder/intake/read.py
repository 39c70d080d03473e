"""One student's folder or archive becomes a Submission, whatever it holds."""

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from autograder.intake.archive import open_archive
from autograder.intake.choose import Chosen, choose, only_archive
from autograder.intake.entries import ARCHIVE_BYTES, Entry, Refused, Unusable, listed, shown
from autograder.intake.folder import folder_tree, opened, read_file
from autograder.intake.submission import Found, Submission
from labkit.messages import Message


@dataclass
class _Read:
    chosen: Chosen = field(default_factory=Chosen)
    notes: list[Message] = field(default_factory=list)
    error: Message | None = None


def read_submission(found: Found, modules: Sequence[str], notebook: str = "") -> Submission:
    """Take the manifest's `modules`, the helper modules and the notebook's cells out of what was found.

    Cost: bounded in time and memory, whatever the submission holds.
    Raises: nothing for anything that a student can hand in; see `Submission.error` and `.problems`.
    """
    try:
        read = _read(found.paths, modules, notebook)
    except (Refused, Unusable) as refusal:
        read = _Read(error=refusal.message)
    return Submission(
        student=found.student,
        files=read.chosen.files,
        cells=read.chosen.cells,
        problems=read.chosen.problems,
        notes=(*read.notes, *read.chosen.notes),
        error=read.error,
        digest=_digest(read),
    )


def _read(paths: tuple[Path, ...], modules: Sequence[str], notebook: str) -> _Read:
    if len(paths) > 1:
        names = (f"{path.parent.name}/{path.name}" for path in paths)
        raise Refused(Message("intake.two-submissions", {"paths": listed(names)}))
    with opened(paths[0]) as descriptor:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            return _read_tree(folder_tree(descriptor), modules, notebook)
        data = read_file(descriptor, paths[0].name, ARCHIVE_BYTES)
    archive = open_archive(data, paths[0].name)
    read = _read_tree(archive.top, modules, notebook)
    read.notes[:0] = archive.notes
    return read


def _read_tree(top: Entry, modules: Sequence[str], notebook: str) -> _Read:
    inner = only_archive(top, [*modules, notebook])
    if inner is None:
        return _Read(choose(top, modules, notebook))
    archive = open_archive(inner.read(ARCHIVE_BYTES), inner.name, prefix=f"{inner.path}/")
    note = Message("intake.inner-archive", {"file": shown(inner.path)})
    return _Read(choose(archive.top, modules, notebook), [note, *archive.notes])


def _digest(read: _Read) -> str:
    problems = {name: (message.id, message.arguments) for name, message in read.chosen.problems.items()}
    error = (read.error.id, read.error.arguments) if read.error else None
    taken: list[Any] = [sorted(read.chosen.raw.items()), problems, error]
    if read.chosen.cells:
        notes = [(message.id, message.arguments) for message in read.chosen.notes]
        taken.append([sorted(read.chosen.cells.items()), notes])
    return hashlib.sha256(msgspec.msgpack.encode(taken, order="sorted")).hexdigest()
