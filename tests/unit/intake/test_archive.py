import errno
import io
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.intake import Submission

Contents = dict[str, bytes]
FromArchive = Callable[..., Submission]
Pack = Callable[..., bytes]


def _note_ids(submission: Submission) -> list[str]:
    return [message.id for message in submission.notes]


def _has_all(submission: Submission, good: Contents) -> bool:
    return submission.error is None and submission.files == {
        name: data.decode() for name, data in good.items()
    }


def test_a_zip_is_read(from_archive: FromArchive, zipped: Pack, good: Contents) -> None:
    submission = from_archive(zipped(good))
    assert _has_all(submission, good)
    assert submission.notes == ()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize(
    ("name", "compression"), [("lab1.tar", ""), ("lab1.tar.gz", "gz"), ("lab1.tgz", "gz")]
)
def test_a_tar_of_each_form_is_read(
    from_archive: FromArchive, tarred: Pack, good: Contents, name: str, compression: str, form: int
) -> None:
    submission = from_archive(tarred(good, compression, form), name)
    assert _has_all(submission, good)
    assert submission.notes == ()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_with_long_names_is_read(
    from_archive: FromArchive, tarred: Pack, good: Contents, form: int
) -> None:
    wrapper = "homework" * 14
    contents = {f"{wrapper}/{name}": data for name, data in good.items()}
    assert _has_all(from_archive(tarred(contents, "gz", form), "lab1.tgz"), good)


def test_a_tar_made_of_a_folder_with_a_leading_dot_is_read(
    from_archive: FromArchive, tarred: Pack, good: Contents
) -> None:
    assert _has_all(
        from_archive(tarred({f"./{name}": data for name, data in good.items()}), "lab1.tgz"), good
    )


def test_a_pax_path_wins_over_the_short_name(from_archive: FromArchive, good: Contents) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in good.items():
            member = tarfile.TarInfo("short")
            member.size, member.pax_headers = len(data), {"path": f"作业/{name}", "comment": "= 12 path=x\n"}
            archive.addfile(member, io.BytesIO(data))
    assert _has_all(from_archive(buffer.getvalue(), "lab1.tar"), good)


@pytest.mark.parametrize("wrapper", ["lab1", "作业"])
def test_the_one_folder_of_an_archive_is_entered(
    from_archive: FromArchive, zipped: Pack, good: Contents, wrapper: str
) -> None:
    contents = {f"{wrapper}/{name}": data for name, data in good.items()}
    junk = {
        f"__MACOSX/{wrapper}/._graph.py": b"\0\5",
        f"{wrapper}/.DS_Store": b"",
        f"{wrapper}/__pycache__/a": b"",
    }
    submission = from_archive(zipped({f"{wrapper}/": b"", **contents, **junk}))
    assert _has_all(submission, good)
    assert submission.notes == ()


def _with_raw_names(data: bytes, replacements: dict[bytes, bytes]) -> bytes:
    for old, new in replacements.items():
        assert len(old) == len(new)
        data = data.replace(old, new)
    return data


def test_names_in_gbk_as_chinese_windows_writes_them_are_read(
    from_archive: FromArchive, zipped: Pack, good: Contents
) -> None:
    data = zipped({**{f"WORK/{name}": text for name, text in good.items()}, "WORK/NOTE 1.py": b""})
    data = _with_raw_names(data, {b"WORK": "作业".encode("gbk"), b"NOTE": "笔记".encode("gbk")})
    submission = from_archive(data)
    assert _has_all(submission, good)
    assert "笔记 1.py" in submission.notes[0].text("en")


def test_names_in_no_encoding_at_all_are_read(
    from_archive: FromArchive, zipped: Pack, good: Contents
) -> None:
    data = _with_raw_names(zipped({**good, "NOTE.py": b""}), {b"NOTE": b"\xff\xff\x80\x81"})
    submission = from_archive(data)
    assert sorted(submission.files) == sorted(good)
    assert submission.notes[0].text("zh").isprintable()


def test_backslashes_of_windows_tools_separate_folders(
    from_archive: FromArchive, zipped: Pack, good: Contents
) -> None:
    assert _has_all(from_archive(zipped({f"lab1\\{name}": data for name, data in good.items()})), good)


@pytest.mark.parametrize(("packing", "name"), [("tar", "lab1.zip"), ("zip", "lab1.tar.gz"), ("zip", "lab1")])
def test_a_wrong_ending_is_a_note(
    from_archive: FromArchive, zipped: Pack, tarred: Pack, good: Contents, packing: str, name: str
) -> None:
    submission = from_archive(zipped(good) if packing == "zip" else tarred(good), name)
    assert _has_all(submission, good)
    assert _note_ids(submission) == ["intake.wrong-suffix"]


def test_a_zip_in_a_zip_is_opened_one_level_and_no_further(
    from_archive: FromArchive, zipped: Pack, good: Contents
) -> None:
    once = zipped({"lab1.zip": zipped(good)})
    assert _has_all(from_archive(once), good)
    assert from_archive(zipped({"lab1.zip": once})).problems["graph.py"].id == "intake.missing"


def test_a_damaged_member_costs_only_itself(from_archive: FromArchive, good: Contents) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in good.items():
            archive.writestr(name, data)
    submission = from_archive(buffer.getvalue().replace(b"x = 1", b"x = 2"))
    assert list(submission.files) == ["engine.py"]
    assert submission.problems["graph.py"].id == "intake.member-damaged"
    assert "graph.py is damaged inside lab1.zip" in submission.problems["graph.py"].text("en")


def test_a_member_that_declares_less_than_it_holds_is_damaged(
    from_archive: FromArchive, zipped: Pack
) -> None:
    data = zipped({"graph.py": b"#" * 1000, "engine.py": b""})
    submission = from_archive(data.replace(struct.pack("<L", 1000), struct.pack("<L", 10)))
    assert submission.problems["graph.py"].id == "intake.member-damaged"


def test_large_files_beside_the_modules_are_never_unpacked(
    from_archive: FromArchive, zipped: Pack, good: Contents
) -> None:
    assert _has_all(from_archive(zipped({**good, "weights.bin": bytes(20 << 20)})), good)


def test_the_student_is_told_how_to_mend_a_cut_off_upload(
    from_archive: FromArchive, zipped: Pack, good: Contents
) -> None:
    submission = from_archive(zipped(good)[:-30])
    assert submission.error is not None
    assert "Pack your files again" in submission.error.text("en")
    assert submission.files == {}
    assert submission.problems == {}


def test_an_archive_that_cannot_be_read_is_told_apart_from_a_broken_one(
    from_archive: FromArchive, zipped: Pack, good: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not from_archive(zipped(good)[:100]).undecided
    opened = os.open

    def failing(path: str | Path, *arguments: Any, **options: Any) -> int:
        if os.path.basename(path) == "lab1.zip":
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)
    submission = from_archive(zipped(good))
    assert submission.undecided
    assert submission.error is not None
    assert submission.error.id == "intake.unreadable"
