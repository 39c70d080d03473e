"""A submission as a tree of entries, the same for a folder and for an archive; and its bounds."""

import enum
import os
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from labkit.messages import Message

MEGABYTE = 1 << 20
FILE_BYTES = 1 * MEGABYTE
ALL_BYTES = 5 * MEGABYTE
ARCHIVE_BYTES = 32 * MEGABYTE
UNPACKED_BYTES = 64 * MEGABYTE
MEMBERS = 5000
ENTRIES = 2000
FOLDERS = 100
DEPTH = 4
HELPERS = 50

_SHOWN_CHARACTERS = 80
_SHOWN_NAMES = 5
_JUNK = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"}


class _Told(Exception):
    def __init__(self, message: Message) -> None:
        super().__init__(message.id)
        self.message = message


class Refused(_Told):
    """A whole submission, or a student's folder, can't be read."""


class Unusable(_Told):
    """One file can't be used; the others can."""


class Kind(enum.Enum):
    """What an entry is; DUPLICATE: the name stands for more than one thing."""

    FILE = enum.auto()
    FOLDER = enum.auto()
    LINK = enum.auto()
    SPECIAL = enum.auto()
    DUPLICATE = enum.auto()


@dataclass(frozen=True)
class Entry:
    """One name in a submission.

    `path`: from the submission's top, for people; its last part is the name.
    `read(limit)`: the bytes, at most `limit`; raises Unusable or Refused.
    `children()`: the entries of a folder, sorted, junk left out; raises Refused.
    """

    path: str
    kind: Kind
    read: Callable[[int], bytes]
    children: Callable[[], list["Entry"]]
    hard_links: int = 1

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


def walk(top: Entry) -> list[Entry]:
    """All entries below `top`, those nearest to it first, as far as the bounds go."""
    seen: list[Entry] = []
    folders = [top]
    for folder in folders:
        try:
            children = folder.children()
        except Refused:
            continue
        seen += children
        if len(seen) >= ENTRIES:
            break
        deeper = [child for child in children if child.kind is Kind.FOLDER and child.path.count("/") < DEPTH]
        folders += deeper[: FOLDERS - len(folders)]
    return seen[:ENTRIES]


def is_junk(name: str) -> bool:
    """Whether an entry is hidden or left behind by a tool, and no part of anyone's work."""
    return name.startswith(".") or name in _JUNK


def decoded_name(raw: bytes) -> str:
    """A file name from its bytes: UTF-8, else GBK as Chinese Windows writes it, composed (NFC)."""
    for encoding in ("utf-8", "gbk"):
        try:
            return unicodedata.normalize("NFC", raw.decode(encoding))
        except UnicodeDecodeError:
            continue
    return raw.decode("ascii", errors="backslashreplace")


def shown(name: str | os.PathLike[str]) -> str:
    """A name fit for a message: no control, bidirectional or broken characters, of bounded length."""
    text = decoded_name(os.fspath(name).encode("utf-8", errors="surrogateescape"))
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def listed(names: Iterable[str]) -> str:
    """A list of names fit for a message: sorted, the first few of them, and how many more there are."""
    unique = sorted(set(names))
    more = len(unique) - _SHOWN_NAMES
    return ", ".join(shown(name) for name in unique[:_SHOWN_NAMES]) + (f" … (+{more})" if more > 0 else "")


def reason_of(error: OSError) -> str:
    """What the system says about an error, in a few words."""
    return error.strerror or type(error).__name__


def megabytes(size: int) -> str:
    """A bound as people write it."""
    return f"{size // MEGABYTE} MB"
