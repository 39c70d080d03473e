"""What a student can put where a submission should be: each attack with the message that must come of it."""

import gzip
import io
import os
import socket
import stat
import struct
import tarfile
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import chdir, suppress
from pathlib import Path

import pytest

from autograder.intake import Found, Submission, find_submissions, read_submission
from labkit.messages import Message

MODULES = ("graph.py", "engine.py")
SECRET = "THE REFERENCE"
Build = Callable[[Path], None]


def _read(path: Path) -> Submission:
    """Read it, and hold what must hold of every submission."""
    before = len(os.listdir("/proc/self/fd"))
    start = time.process_time()
    submission = read_submission(Found("mallory", (path,)), MODULES)
    assert time.process_time() - start < 5
    assert len(os.listdir("/proc/self/fd")) == before
    assert SECRET not in "".join(submission.files.values())
    if submission.error is None:
        assert {*submission.files, *submission.problems} >= set(MODULES)
        assert not set(submission.files) & set(submission.problems)
    else:
        assert not submission.files
        assert not submission.problems
    for message in _messages(submission):
        for language in ("en", "zh"):
            assert 0 < len(message.text(language)) < 1000
            assert message.text(language).isprintable()
    return submission


def _messages(submission: Submission) -> list[Message]:
    error = [submission.error] if submission.error else []
    return [*error, *submission.problems.values(), *submission.notes]


def _ids(submission: Submission) -> set[str]:
    return {message.id.removeprefix("intake.") for message in _messages(submission)}


# In a folder: graph.py is attacked, engine.py is there.


def _symlink(target: str) -> Build:
    return lambda folder: (folder / "graph.py").symlink_to(target)


def _socket(folder: Path) -> None:
    with chdir(folder), socket.socket(socket.AF_UNIX) as listening:  # a socket's path must be short
        listening.bind("graph.py")


def _device(folder: Path) -> None:
    try:
        os.mknod(folder / "graph.py", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device needs root")


def _huge(folder: Path) -> None:
    with (folder / "graph.py").open("wb") as file:
        file.truncate(10 << 30)


def _linked_folder(folder: Path) -> None:
    (folder / "sub").symlink_to("../../secret")


def _wide(folder: Path) -> None:
    for number in range(2001):
        (folder / f"{number}.py").touch()


def _deep(folder: Path) -> None:
    path = folder
    for _ in range(60):
        path = path / ("d" * 20)
    path.mkdir(parents=True)


def _two_compositions(folder: Path) -> None:
    (folder / "zo\u00eb.py").touch()
    (folder / "zoe\N{COMBINING DIAERESIS}.py").touch()


def _evil_names(folder: Path) -> None:
    for name in (
        b"\xff\xfe.py",
        b"a\nb.py",
        b"\x1b[31m.py",
        "\N{RIGHT-TO-LEFT OVERRIDE}yp.py".encode(),
        b"=1+1.py",
    ):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).touch()


FOLDER_ATTACKS: dict[str, tuple[Build, str]] = {
    "absolute link": (_symlink("/etc/passwd"), "link"),
    "link to the reference": (_symlink("../../secret/graph.py"), "link"),
    "link to itself": (_symlink("graph.py"), "link"),
    "dangling link": (_symlink("nowhere"), "link"),
    "link to the other module": (_symlink("engine.py"), "link"),
    "linked folder": (_linked_folder, "missing"),
    "pipe that would hang": (lambda folder: os.mkfifo(folder / "graph.py"), "not-a-file"),
    "socket": (_socket, "not-a-file"),
    "device": (_device, "not-a-file"),
    "folder of that name": (lambda folder: (folder / "graph.py").mkdir(), "not-a-file"),
    "10 GB, sparse": (_huge, "too-large"),
    "hard link": (lambda folder: os.link(folder / "engine.py", folder / "graph.py"), "hard-link"),
    "2001 entries": (_wide, "too-many-entries"),
    "60 levels": (_deep, "missing"),
    "composed and decomposed": (_two_compositions, "duplicate"),
    "names to break a terminal": (_evil_names, "unimportable"),
    "helper that is a link": (lambda folder: (folder / "help.py").symlink_to("/etc/passwd"), "link"),
    "helper that is a pipe": (lambda folder: os.mkfifo(folder / "help.py"), "not-a-file"),
    "a data set as the only archive": (lambda folder: (folder / "data.zip").write_bytes(b"PK"), "missing"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mallory" / "lab1"
    folder.mkdir(parents=True)
    (folder / "engine.py").write_text("y = 2\n")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "graph.py").write_text(SECRET)
    return folder


@pytest.mark.parametrize("attack", FOLDER_ATTACKS)
def test_a_hostile_folder_is_told_of(attack: str, folder: Path) -> None:
    build, expected = FOLDER_ATTACKS[attack]
    build(folder)
    assert expected in _ids(_read(folder))


# Archives.


def _zip(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive, pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **kwargs: None)  # of duplicate names
        for name, data in members:
            archive.writestr(name, data, method)
    return buffer.getvalue()


def _zip_special(name: str, mode: int, data: bytes = b"/etc/passwd") -> bytes:
    info = zipfile.ZipInfo(name)
    info.external_attr = (mode | 0o666) << 16
    return _zip((info, data))


def _tar(*members: tuple[str, bytes, str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, kind, target, data in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, target, len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _tar_header(name: str, size: int, kind: bytes) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


def _negative_tar() -> bytes:
    """CVE-2025-8194: a member that leads back to itself."""
    header = bytearray(_tar_header("graph.py", 0, tarfile.REGTYPE))
    header[124:136] = b"\xff" * 10 + b"\xfe\x00"
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) * 4


def _zip_of_many_long_entries(count: int, extra: bytes) -> bytes:
    numbers = (20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, len(extra), 0, 0, 0, 0, 0)
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", *numbers) + b"a" + extra
    directory = entry * count
    listed = min(count, 0xFFFF)
    return directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, listed, listed, len(directory), 0, 0)


def _with_flag(data: bytes, flag: int) -> bytes:
    """A zip whose directory claims `flag` of every member."""
    changed = bytearray(data)
    for at in (index for index in range(len(data)) if data.startswith(b"PK\1\2", index)):
        changed[at + 8] |= flag
    return bytes(changed)


def _broken_crc() -> bytes:
    return _zip(("graph.py", b"x = 1\n"), method=zipfile.ZIP_STORED).replace(b"x = 1", b"x = 2")


def _huge_declared() -> bytes:
    return _zip(("graph.py", b"#" * 1000)).replace(struct.pack("<L", 1000), struct.pack("<L", 0xF0000000))


REGULAR, LINK, HARD, PIPE, DEVICE = b"0", b"2", b"1", b"6", b"3"
GOOD_TAR = _tar(("graph.py", REGULAR, "", b"x = 1\n"), ("engine.py", REGULAR, "", os.urandom(3000)))
GOOD_ZIP = _zip(("graph.py", b"x = 1\n"), ("engine.py", b"y = 2\n"))
NO_FIELDS = b"\xfe\xca\0\0" * 16383

ARCHIVE_ATTACKS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "zip: ../": ("lab1.zip", lambda: _zip(("../graph.py", b"x")), "outside"),
    "zip: ..\\": ("lab1.zip", lambda: _zip(("..\\graph.py", b"x")), "outside"),
    "zip: in and out": ("lab1.zip", lambda: _zip(("a/../../graph.py", b"x")), "outside"),
    "zip: absolute": ("lab1.zip", lambda: _zip(("/etc/cron.d/graph.py", b"x")), "outside"),
    "zip: drive": ("lab1.zip", lambda: _zip(("C:\\graph.py", b"x")), "outside"),
    "zip: link": ("lab1.zip", lambda: _zip_special("graph.py", stat.S_IFLNK), "link"),
    "zip: pipe": ("lab1.zip", lambda: _zip_special("graph.py", stat.S_IFIFO), "not-a-file"),
    "zip: device": ("lab1.zip", lambda: _zip_special("graph.py", stat.S_IFBLK), "not-a-file"),
    "zip: folder of that name": ("lab1.zip", lambda: _zip(("graph.py/", b"")), "not-a-file"),
    "zip: duplicate": ("lab1.zip", lambda: _zip(("graph.py", b"1"), ("graph.py", b"2")), "duplicate"),
    "zip: disguised duplicate": (
        "lab1.zip",
        lambda: _zip(("graph.py", b"1"), (".//graph.py", b"2")),
        "duplicate",
    ),
    "zip: file and folder": ("lab1.zip", lambda: _zip(("graph.py", b"1"), ("graph.py/x", b"2")), "duplicate"),
    "zip: encrypted": ("lab1.zip", lambda: _with_flag(GOOD_ZIP, 0x01), "encrypted"),
    "zip: strongly encrypted": ("lab1.zip", lambda: _with_flag(GOOD_ZIP, 0x40), "encrypted"),
    "zip: LZMA": ("lab1.zip", lambda: _zip(("graph.py", b"x"), method=zipfile.ZIP_LZMA), "compression"),
    "zip: bzip2 bomb": (
        "lab1.zip",
        lambda: _zip(("graph.py", bytes(9 << 20)), method=zipfile.ZIP_BZIP2),
        "compression",
    ),
    "zip: bomb": ("lab1.zip", lambda: _zip(("graph.py", bytes(50 << 20))), "too-large"),
    "zip: declared 4 GB": ("lab1.zip", _huge_declared, "too-large"),
    "zip: bad CRC": ("lab1.zip", _broken_crc, "member-damaged"),
    "zip: 6000 members": ("lab1.zip", lambda: _zip_of_many_long_entries(6000, b""), "too-many-members"),
    "zip: 800,000 claims": ("lab1.zip", lambda: b"PK\1\2" * 800_000, "too-many-members"),
    "zip: padded directory": ("lab1.zip", lambda: _zip_of_many_long_entries(15, NO_FIELDS), "missing"),
    "zip: endless directory": (
        "lab1.zip",
        lambda: _zip_of_many_long_entries(300, NO_FIELDS),
        "archive-damaged",
    ),
    "zip: cut off": ("lab1.zip", lambda: GOOD_ZIP[:-20], "archive-damaged"),
    "zip: only the end": ("lab1.zip", lambda: GOOD_ZIP[-22:], "archive-damaged"),
    "zip: only the beginning": ("lab1.zip", lambda: b"PK", "archive-damaged"),
    "zip: name not UTF-8 as said": (
        "lab1.zip",
        lambda: _zip(("图.md", b"")).replace("图".encode(), b"\xff\xfe\xfd"),
        "archive-damaged",
    ),
    "zip: deep": ("lab1.zip", lambda: _zip(("d/" * 20000 + "graph.py", b"x")), "missing"),
    "zip: in a zip in a zip": ("lab1.zip", lambda: _zip(("a.zip", _zip(("b.zip", GOOD_ZIP)))), "missing"),
    "zip: bomb in a zip": ("lab1.zip", lambda: _zip(("a.zip", bytes(40 << 20))), "too-large"),
    "zip: garbage in a zip": ("lab1.zip", lambda: _zip(("a.zip", b"garbage")), "no-archive"),
    "tar: ../": ("lab1.tgz", lambda: _tar(("../graph.py", REGULAR, "", b"x")), "outside"),
    "tar: absolute": ("lab1.tgz", lambda: _tar(("/tmp/graph.py", REGULAR, "", b"x")), "outside"),
    "tar: absolute link": ("lab1.tgz", lambda: _tar(("graph.py", LINK, "/etc/passwd", b"")), "link"),
    "tar: inner link": (
        "lab1.tgz",
        lambda: _tar(("a", REGULAR, "", b"x"), ("graph.py", LINK, "a", b"")),
        "link",
    ),
    "tar: hard link": ("lab1.tgz", lambda: _tar(("graph.py", HARD, "../../etc/passwd", b"")), "link"),
    "tar: through a link": (
        "lab1.tgz",
        lambda: _tar(
            ("d", LINK, "/tmp", b""), ("d/graph.py", REGULAR, "", b"x"), ("engine.py", REGULAR, "", b"")
        ),
        "missing",
    ),
    "tar: pipe": ("lab1.tgz", lambda: _tar(("graph.py", PIPE, "", b"")), "not-a-file"),
    "tar: device": ("lab1.tgz", lambda: _tar(("graph.py", DEVICE, "", b"")), "not-a-file"),
    "tar: duplicate": ("lab1.tgz", lambda: _tar(*[("graph.py", REGULAR, "", b"12")] * 2), "duplicate"),
    "tar: too large": ("lab1.tgz", lambda: _tar(("graph.py", REGULAR, "", bytes(2 << 20))), "too-large"),
    "tar: bomb": ("lab1.tgz", lambda: _tar(("graph.py", REGULAR, "", bytes(70 << 20))), "bomb"),
    "tar: 5001 members": ("lab1.tgz", lambda: _tar(*[("a", REGULAR, "", b"")] * 5001), "too-many-members"),
    "tar: cut off": ("lab1.tgz", lambda: GOOD_TAR[:-100], "archive-damaged"),
    "tar: cut off, plain": (
        "lab1.tar",
        lambda: _tar_header("graph.py", 9999, REGULAR) + b"x = 1",
        "archive-damaged",
    ),
    "tar: bad CRC": ("lab1.tgz", lambda: GOOD_TAR[:-8] + b"\0\0\0\0" + GOOD_TAR[-4:], "archive-damaged"),
    "tar: negative size": ("lab1.tar", _negative_tar, "archive-damaged"),
    "tar: pax without an end": (
        "lab1.tar",
        lambda: _tar_header("x", 512, b"x") + b"1" * 512 + _tar_header("graph.py", 0, REGULAR),
        "archive-damaged",
    ),
    "tar: pax record of length 0": (
        "lab1.tar",
        lambda: _tar_header("x", 512, b"x") + b"0 path=a\n".ljust(512, b"\0"),
        "archive-damaged",
    ),
    "tar: 5 MB of pax": (
        "lab1.tar",
        lambda: _tar_header("x", 5 << 20, b"x") + b"8 a=bcd\n" * (5 << 17),
        "archive-damaged",
    ),
    "tar: name of 9 MB": (
        "lab1.tar",
        lambda: _tar_header("x", 9 << 20, b"L") + b"a/" * (9 << 19) + _tar_header("y", 0, REGULAR),
        "missing",
    ),
    "gzip of something else": ("lab1.tar.gz", lambda: gzip.compress(b"hello"), "no-archive"),
    "a web page": ("lab1.zip", lambda: b"<!DOCTYPE html><title>Log in</title>", "no-archive"),
    "a source file": ("lab1.tar", lambda: b"x = 1\n" * 1000, "no-archive"),
    "zeros": ("lab1.tar", lambda: bytes(10240), "no-archive"),
    "nothing": ("lab1.zip", lambda: b"", "empty-file"),
    "RAR": ("lab1.rar", lambda: b"Rar!\x1a\x07\x01\x00", "archive-form"),
    "RAR called zip": ("lab1.zip", lambda: b"Rar!\x1a\x07\x01\x00", "archive-form"),
    "7z": ("lab1.7z", lambda: b"7z\xbc\xaf\x27\x1c", "archive-form"),
    "tar.xz": ("lab1.tar.xz", lambda: _tar(mode="w:xz"), "archive-form"),
    "tar.bz2": ("lab1.tar.bz2", lambda: _tar(mode="w:bz2"), "archive-form"),
    "zip called tar": ("lab1.tar", lambda: GOOD_ZIP, "wrong-suffix"),
}


@pytest.mark.parametrize("attack", ARCHIVE_ATTACKS)
def test_a_hostile_archive_is_told_of(attack: str, tmp_path: Path) -> None:
    name, build, expected = ARCHIVE_ATTACKS[attack]
    (tmp_path / name).write_bytes(build())
    assert expected in _ids(_read(tmp_path / name))


@pytest.mark.parametrize("attack", ["tar: bomb", "zip: bomb", "zip: endless directory"])
def test_a_bomb_takes_a_bounded_amount_of_memory(attack: str, tmp_path: Path) -> None:
    name, build, _ = ARCHIVE_ATTACKS[attack]
    (tmp_path / name).write_bytes(build())
    tracemalloc.start()
    try:
        _read(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < 160 << 20
    finally:
        tracemalloc.stop()


def test_an_archive_of_33_megabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "lab1.zip").open("wb") as file:
        file.truncate(33 << 20)
    assert _ids(_read(tmp_path / "lab1.zip")) == {"too-large"}


def test_nothing_is_written_beside_or_outside_of_a_submission(tmp_path: Path) -> None:
    (tmp_path / "mallory").mkdir()
    path = tmp_path / "mallory" / "lab1.zip"
    path.write_bytes(_zip(("../escaped.py", b"x"), ("graph.py", b"x"), (f"{tmp_path}/absolute.py", b"x")))
    _read(path)
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["lab1.zip", "mallory"]


@pytest.mark.parametrize("make", ["link to a folder", "link to an archive", "pipe", "gone", "linked student"])
def test_the_submission_itself_may_be_the_attack(make: str, tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "mallory" / "other"
    if make == "link to a folder":
        path.symlink_to(tmp_path / "secret")
    elif make == "link to an archive":
        (tmp_path / "class.zip").write_bytes(GOOD_ZIP)
        path.symlink_to(tmp_path / "class.zip")
    elif make == "pipe":
        os.mkfifo(path)
    elif make == "linked student":
        (tmp_path / "eve").symlink_to(tmp_path / "mallory")
        path = tmp_path / "eve" / "lab1"
    submission = _read(path)
    assert submission.error is not None
    expected = {"pipe": "intake.not-a-file", "gone": "intake.unreadable"}
    assert submission.error.id == expected.get(make, "intake.submission-link")


def test_one_hostile_student_does_not_stop_the_class(tmp_path: Path) -> None:
    for student in ("alice", "zoe"):
        (tmp_path / student / "lab1").mkdir(parents=True)
        for module in MODULES:
            (tmp_path / student / "lab1" / module).write_text("x = 1\n")
    (tmp_path / "mallory").mkdir()
    (tmp_path / "mallory" / "lab1").symlink_to("/etc")
    found = find_submissions(tmp_path, "lab1").found
    taken = {work.student: read_submission(work, MODULES) for work in found}
    assert [student for student, submission in taken.items() if submission.error] == ["mallory"]
    assert [len(submission.files) for submission in taken.values()] == [2, 0, 2]


def test_a_folder_that_changes_while_it_is_read_is_survived(folder: Path) -> None:
    stop = threading.Event()
    target = folder / "graph.py"
    makers: list[Callable[[], object]] = [
        lambda: target.write_text("x = 1\n"),
        lambda: target.symlink_to("../../secret/graph.py"),
        target.mkdir,
        lambda: os.mkfifo(target),
    ]

    def change() -> None:
        while not stop.is_set():
            for make in makers:
                with suppress(OSError):
                    make()
                with suppress(OSError):
                    target.unlink()
                with suppress(OSError):
                    target.rmdir()

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(300):
            submission = read_submission(Found("mallory", (folder,)), MODULES)
            assert submission.files.get("graph.py", "x = 1\n") in ("x = 1\n", "")
    finally:
        stop.set()
        changer.join()
