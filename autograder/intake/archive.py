"""A zip or tar archive as a tree of entries: read in memory, never unpacked to disk."""

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autograder.intake.entries import (
    DEPTH,
    MEGABYTE,
    MEMBERS,
    UNPACKED_BYTES,
    Entry,
    Kind,
    Refused,
    Unusable,
    decoded_name,
    is_junk,
    listed,
    megabytes,
    shown,
)
from autograder.intake.tar import DamagedTar, is_tar, tar_members
from labkit.messages import Message

TAKEN_SUFFIXES = (".zip", ".tar.gz", ".tgz", ".tar")
REFUSED_SUFFIXES = (".rar", ".7z", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst")
_SIGNATURES = {
    b"Rar!": "RAR",
    b"7z\xbc\xaf": "7z",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
}
# An honest entry of a zip's directory takes some 100 bytes; padding it is a way to cost time.
_ZIP_DIRECTORY_BYTES = MEGABYTE
_ZIP_ENTRY = b"PK\x01\x02"
_NAME_BYTES = 4096
_CHUNK = 64 << 10


@dataclass(frozen=True)
class Archive:
    """The tree of an archive, and what is odd about it."""

    top: Entry
    notes: tuple[Message, ...]


@dataclass(frozen=True)
class _Member:
    name: str
    kind: Kind
    read: Callable[[int], bytes]


@dataclass
class _Node:
    kind: Kind = Kind.FOLDER
    read: Callable[[int], bytes] | None = None
    children: dict[str, "_Node"] = field(default_factory=dict)


def archive_suffix(name: str) -> str | None:
    """The ending of `name` that makes it look like an archive, of any kind."""
    suffixes = (*TAKEN_SUFFIXES, *REFUSED_SUFFIXES)
    return next((suffix for suffix in suffixes if name.casefold().endswith(suffix)), None)


def open_archive(data: bytes, name: str, prefix: str = "") -> Archive:
    """The tree of the archive `name`, told from its bytes; `prefix` stands before its entries' paths.

    Raises: Refused.
    """
    suffix = archive_suffix(name)
    if data.startswith(b"PK"):
        members, right = _zip_members(data, name), suffix == ".zip"
    elif data.startswith(b"\x1f\x8b"):
        members, right = _tar_members(_inflated(data, name), name), suffix in (".tar.gz", ".tgz")
    elif is_tar(data):
        members, right = _tar_members(data, name), suffix == ".tar"
    else:
        raise Refused(_unknown(data, name))
    notes = [] if right else [Message("intake.wrong-suffix", {"file": shown(name)})]
    return _tree(members, prefix, notes)


def _unknown(data: bytes, name: str) -> Message:
    for signature, form in _SIGNATURES.items():
        if data.startswith(signature):
            return Message("intake.archive-form", {"file": shown(name), "form": form})
    return Message("intake.empty-file" if not data else "intake.no-archive", {"file": shown(name)})


def _zip_members(data: bytes, name: str) -> list[_Member]:
    if data.count(_ZIP_ENTRY) > MEMBERS:
        raise _too_many(name)
    try:
        archive = zipfile.ZipFile(_BoundedReads(data))
    except Exception:  # whatever a library raises over bytes made to break it
        raise Refused(Message("intake.archive-damaged", {"file": shown(name)})) from None
    return [_zip_member(archive, info, name) for info in archive.infolist()]


class _BoundedReads(io.BytesIO):
    """Bytes that can't be read in one go beyond what a zip's directory may take."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(_ZIP_DIRECTORY_BYTES + 1 if size is None or size < 0 else size)
        if len(data) > _ZIP_DIRECTORY_BYTES:
            raise zipfile.BadZipFile
        return data


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, archive_name: str) -> _Member:
    # Without the UTF-8 flag zipfile takes names for code page 437; give the bytes back and look again.
    encoding = "utf-8" if info.flag_bits & 0x800 else "cp437"
    name = decoded_name(info.filename.encode(encoding, errors="replace")).replace("\\", "/")
    kind = _zip_kind(info.external_attr >> 16)
    if name.endswith("/") and kind is Kind.FILE:
        kind = Kind.FOLDER

    def read(limit: int) -> bytes:
        if info.flag_bits & 0x41:
            raise Refused(Message("intake.encrypted", {"file": shown(archive_name)}))
        # Others have no bound on what one step may unpack.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused(Message("intake.compression", {"file": shown(archive_name)}))
        if info.file_size > limit:
            raise _too_large(name, limit)
        try:
            return _unpacked(archive, info)
        except Exception:  # as above
            message = Message("intake.member-damaged", {"file": _last(name), "archive": shown(archive_name)})
            raise Unusable(message) from None

    return _Member(name, kind, read)


def _zip_kind(mode: int) -> Kind:
    if stat.S_ISLNK(mode):
        return Kind.LINK
    if stat.S_ISDIR(mode):
        return Kind.FOLDER
    return Kind.FILE if stat.S_IFMT(mode) in (0, stat.S_IFREG) else Kind.SPECIAL


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """All bytes of a member; zipfile yields at most as many as it declares, and checks their CRC."""
    with archive.open(info) as file:
        return b"".join(iter(lambda: file.read(_CHUNK), b""))


def _inflated(data: bytes, name: str) -> bytes:
    inflator = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        unpacked = inflator.decompress(data, UNPACKED_BYTES + 1)
    except zlib.error:
        raise Refused(Message("intake.archive-damaged", {"file": shown(name)})) from None
    if len(unpacked) > UNPACKED_BYTES:
        raise Refused(Message("intake.bomb", {"file": shown(name), "limit": megabytes(UNPACKED_BYTES)}))
    if not inflator.eof:
        raise Refused(Message("intake.archive-damaged", {"file": shown(name)}))
    if not is_tar(unpacked):
        raise Refused(Message("intake.no-archive", {"file": shown(name)}))
    return unpacked


def _tar_members(data: bytes, archive_name: str) -> list[_Member]:
    members: list[_Member] = []
    try:
        for raw, kind, content in tar_members(data):
            if len(members) == MEMBERS:
                raise _too_many(archive_name)
            members.append(_tar_member(decoded_name(raw[: _NAME_BYTES + 1]), kind, content))
    except DamagedTar:
        raise Refused(Message("intake.archive-damaged", {"file": shown(archive_name)})) from None
    return members


def _tar_member(name: str, kind: Kind, content: memoryview) -> _Member:
    def read(limit: int) -> bytes:
        if len(content) > limit:
            raise _too_large(name, limit)
        return bytes(content)

    return _Member(name, kind, read)


def _too_large(path: str, limit: int) -> Unusable:
    return Unusable(Message("intake.too-large", {"file": _last(path), "limit": megabytes(limit)}))


def _last(path: str) -> str:
    return shown(path.rpartition("/")[2])


def _too_many(name: str) -> Refused:
    return Refused(Message("intake.too-many-members", {"file": shown(name), "limit": MEMBERS}))


def _tree(members: list[_Member], prefix: str, notes: list[Message]) -> Archive:
    top = _Node()
    outside: list[str] = []
    for member in members:
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if member.name.startswith("/") or ".." in parts or re.match("[A-Za-z]:", member.name):
            outside.append(member.name)
        elif 0 < len(parts) <= DEPTH + 1 and len(member.name) <= _NAME_BYTES:
            _plant(top, parts, member)
    if outside:
        notes = [*notes, Message("intake.outside", {"files": listed(outside)})]
    return Archive(_entry(top, prefix.rstrip("/"), prefix), tuple(notes))


def _plant(top: _Node, parts: list[str], member: _Member) -> None:
    node = top
    for part in parts[:-1]:
        node = node.children.setdefault(part, _Node())
        if node.kind is not Kind.FOLDER:
            node.kind = Kind.DUPLICATE
    last = parts[-1]
    if last not in node.children:
        node.children[last] = _Node(member.kind, member.read)
    elif not node.children[last].kind is member.kind is Kind.FOLDER:
        node.children[last].kind = Kind.DUPLICATE


def _entry(node: _Node, path: str, prefix: str) -> Entry:
    def children() -> list[Entry]:
        return list(_children(node, prefix))

    def read(limit: int) -> bytes:
        return node.read(limit) if node.read else b""

    return Entry(path, node.kind, read, children)


def _children(node: _Node, prefix: str) -> Iterator[Entry]:
    for name, child in sorted(node.children.items()):
        if not is_junk(name):
            yield _entry(child, prefix + name, f"{prefix}{name}/")
