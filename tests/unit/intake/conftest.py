import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.intake import Found, Submission, read_submission

MODULES = ("graph.py", "engine.py")
Contents = dict[str, bytes]


@pytest.fixture
def good() -> Contents:
    return {"graph.py": b"x = 1\n", "engine.py": b"import graph\n"}


@pytest.fixture
def lab_folder(tmp_path: Path) -> Path:
    """alice/lab1, empty."""
    folder = tmp_path / "alice" / "lab1"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def read() -> Callable[[Path], Submission]:
    return lambda *paths: read_submission(Found("alice", paths), MODULES)


@pytest.fixture
def from_folder(lab_folder: Path, read: Callable[[Path], Submission]) -> Callable[[Contents], Submission]:
    def hand_in(contents: Contents) -> Submission:
        for name, data in contents.items():
            path = lab_folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return read(lab_folder)

    return hand_in


@pytest.fixture
def from_archive(tmp_path: Path, read: Callable[[Path], Submission]) -> Callable[..., Submission]:
    def hand_in(data: bytes, name: str = "lab1.zip") -> Submission:
        path = tmp_path / "alice" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return read(path)

    return hand_in


@pytest.fixture(scope="session")
def zipped() -> Callable[[Contents], bytes]:
    def pack(contents: Contents) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in contents.items():
                archive.writestr(name, data)
        return buffer.getvalue()

    return pack


@pytest.fixture(scope="session")
def tarred() -> Callable[..., bytes]:
    def pack(contents: Contents, compression: str = "gz", form: int = tarfile.PAX_FORMAT) -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode=f"w:{compression}", format=form) as archive:
            for name, data in contents.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return buffer.getvalue()

    return pack
