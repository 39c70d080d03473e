import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.intake import Found, Submission, read_submission

MODULES = ("graph.py", "engine.py")
FUZZ = settings(max_examples=100, derandomize=True, deadline=None, database=None)
STARTS = [b"", b"PK\3\4", b"PK\5\6", b"\x1f\x8b\x08\0", b"Rar!"]
PARTS = ["graph.py", "..", ".", "", "a", "Graph (1).py", "C:", "\\", "d.zip", "图"]
NAMES = st.one_of(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=20),
    st.lists(st.sampled_from(PARTS), max_size=5).map("/".join).filter(bool),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def _read(path: Path) -> Submission:
    """Read it, and hold what must hold of every submission."""
    submission = read_submission(Found("mallory", (path,)), MODULES)
    if submission.error is None:
        assert {*submission.files, *submission.problems} >= set(MODULES)
        assert not set(submission.files) & set(submission.problems)
    else:
        assert not submission.files
        assert not submission.problems
    for message in filter(None, (submission.error, *submission.problems.values(), *submission.notes)):
        assert message.text("en").isprintable()
        assert message.text("zh").isprintable()
    return submission


def _in_archive(place: Path, packed: str, data: bytes) -> Submission:
    path = place / f"lab1.{packed}"
    path.write_bytes(data)
    return _read(path)


@FUZZ
@given(start=st.sampled_from(STARTS), data=st.binary(max_size=2000))
def test_random_bytes_as_an_archive_are_survived(place: Path, start: bytes, data: bytes) -> None:
    _in_archive(place, "zip", start + data)


@FUZZ
@given(
    packed=st.sampled_from(["zip", "tar"]),
    at=st.floats(0, 1, exclude_max=True),
    changed=st.binary(max_size=8),
    cut=st.integers(0, 50),
)
def test_damaged_archives_are_survived(
    place: Path,
    zipped: Callable[..., bytes],
    tarred: Callable[..., bytes],
    packed: str,
    at: float,
    changed: bytes,
    cut: int,
) -> None:
    contents = {"graph.py": b"x = 1\n", "lab/engine.py": b"y = 2\n" * 200, "图.md": b"z"}
    data = bytearray(zipped(contents) if packed == "zip" else tarred(contents, ""))
    position = int(at * len(data))
    data[position : position + len(changed)] = changed
    _in_archive(place, packed, bytes(data[: len(data) - cut]))


@FUZZ
@given(names=st.lists(NAMES, max_size=8), packed=st.sampled_from(["zip", "tar"]))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_random_names_in_an_archive_are_survived(
    place: Path, tarred: Callable[..., bytes], names: list[str], packed: str
) -> None:
    if packed == "tar":
        data = tarred(dict.fromkeys(names, b"x"), "")
    else:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in names:
                archive.writestr(name, b"x")
        data = buffer.getvalue()
    _in_archive(place, packed, data)


@FUZZ
@given(data=st.binary(max_size=300))
def test_random_bytes_as_a_module_are_survived(place: Path, data: bytes) -> None:
    folder = place / "lab1"
    folder.mkdir(exist_ok=True)
    (folder / "graph.py").write_bytes(data)
    text = _read(folder).files.get("graph.py", "")
    assert "\r" not in text
    assert "\0" not in text
