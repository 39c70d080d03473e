"""Reading a folder that someone else filled: no link is followed, nothing that can hang is opened."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from autograder.intake.entries import (
    ENTRIES,
    Entry,
    Kind,
    Refused,
    Unusable,
    decoded_name,
    is_junk,
    megabytes,
    reason_of,
    shown,
)
from labkit.messages import Argument, Message

# O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
_SAFELY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A descriptor of a student's folder or archive; neither `path` nor the folder it lies in may be a link.

    Raises: Refused.
    """
    try:
        parent = os.open(path.parent, _SAFELY | os.O_DIRECTORY)
        try:
            descriptor = os.open(path.name, _SAFELY, dir_fd=parent)
        finally:
            os.close(parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Refused(Message("intake.submission-link", {"name": shown(path.name)})) from None
        if error.errno == errno.ENXIO:  # a socket
            raise Refused(Message("intake.not-a-file", {"file": shown(path.name)})) from None
        raise Refused(unreadable(path.name, error)) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def unreadable(name: str, error: OSError) -> Message:
    """What the system said when `name` was to be read; it says that of the machine, not of the work."""
    return Message("intake.unreadable", {"file": shown(name), "reason": reason_of(error)})


def folder_tree(descriptor: int) -> Entry:
    """The folder behind an open descriptor, which must stay open as long as entries are read."""
    return Entry("", Kind.FOLDER, _not_a_file, lambda: _children(descriptor, (), ""))


def read_file(descriptor: int, name: str, limit: int) -> bytes:
    """The bytes of an open file.

    Raises: Unusable if it is no regular file or larger than `limit`; Refused if the system won't give it.
    """
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unusable(Message("intake.not-a-file", {"file": shown(name)}))
        # The size is only asked first to spare the reading: a file may grow.
        data = b"" if status.st_size > limit else _read(descriptor, limit + 1)
    except OSError as error:
        raise Refused(unreadable(name, error)) from None
    if status.st_size > limit or len(data) > limit:
        raise Unusable(Message("intake.too-large", {"file": shown(name), "limit": megabytes(limit)}))
    return data


def _read(descriptor: int, count: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
        parts: list[bytes] = []
        while count > 0 and (part := file.read(count)):
            parts.append(part)
            count -= len(part)
    return b"".join(parts)


def _open_beneath(top: int, parts: tuple[str, ...], flags: int) -> int:
    """Open step by step, so that no folder on the way can be a link either."""
    descriptor = os.dup(top)
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        try:
            following = os.open(part, flags if last else _SAFELY | os.O_DIRECTORY, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = following
    return descriptor


def _children(top: int, parts: tuple[str, ...], prefix: str) -> list[Entry]:
    try:
        descriptor = _open_beneath(top, parts, _SAFELY | os.O_DIRECTORY)
        try:
            with os.scandir(descriptor) as scan:
                listing = list(islice(scan, ENTRIES + 1))
            if len(listing) > ENTRIES:
                arguments: dict[str, Argument] = {"folder": shown(prefix or "./"), "limit": ENTRIES}
                raise Refused(Message("intake.too-many-entries", arguments))
            entries = [_entry(top, parts, prefix, item) for item in listing if not is_junk(item.name)]
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Refused(unreadable(prefix or "./", error)) from None
    # Two names may differ on disk and be the same to a reader, composed and decomposed.
    unique: dict[str, Entry] = {}
    for entry in entries:
        unique[entry.path] = replace(entry, kind=Kind.DUPLICATE) if entry.path in unique else entry
    return [entry for _, entry in sorted(unique.items())]


def _entry(top: int, parts: tuple[str, ...], prefix: str, item: "os.DirEntry[str]") -> Entry:
    path = prefix + decoded_name(os.fsencode(item.name))
    name = path.rpartition("/")[2]
    here = (*parts, item.name)
    try:
        status = item.stat(follow_symlinks=False)
    except OSError:  # gone since it was listed; reading it will say so
        kind, hard_links = Kind.FILE, 1
    else:
        kind, hard_links = _kind(status.st_mode), status.st_nlink

    def read(limit: int) -> bytes:
        try:
            descriptor = _open_beneath(top, here, _SAFELY)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise Unusable(Message("intake.link", {"file": shown(name)})) from None
            raise Refused(unreadable(name, error)) from None
        try:
            return read_file(descriptor, name, limit)
        finally:
            os.close(descriptor)

    return Entry(path, kind, read, lambda: _children(top, here, path + "/"), hard_links)


def _kind(mode: int) -> Kind:
    if stat.S_ISLNK(mode):
        return Kind.LINK
    if stat.S_ISDIR(mode):
        return Kind.FOLDER
    return Kind.FILE if stat.S_ISREG(mode) else Kind.SPECIAL


def _not_a_file(limit: int) -> bytes:
    raise IsADirectoryError
