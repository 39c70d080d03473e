"""Records on disk: whole or not there, the same bytes for the same content."""

import os
import shutil
import stat
import subprocess
import sys

import pytest

from autograder.batch import record
from autograder.course import CourseError

KEY_ID = "0123abcd"
NAMESPACE = ["unshare", "--mount", "--map-root-user"]
# A script with the folder `there`, on a file system of its own.
PRELUDE = """
import sys
from pathlib import Path
from autograder.batch import record
from autograder.course import CourseError
there = Path(sys.argv[1])
"""


@pytest.fixture(scope="module")
def mounting():
    if not shutil.which("unshare"):
        pytest.skip("no unshare here to mount a small file system")
    if subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode:
        pytest.skip("mounting a file system is not allowed here")


def run_there(folder, options, program):
    """Run a program where `folder` is a small tmpfs; what it printed."""
    script = f'mount -t tmpfs -o {options} small "$1" && exec "$2" -c "$3" "$1"'
    command = [*NAMESPACE, "sh", "-c", script, "sh", str(folder), sys.executable, PRELUDE + program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_file_is_written_whole_for_all_to_read_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "new" / "ann" / "record.json"
    record.write(path, b"one")
    record.write(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(path.parent) == ["record.json"]


def test_a_reader_sees_the_old_or_the_new_file_and_never_a_part(tmp_path):
    path = tmp_path / "record.json"
    record.write(path, b"old" * 1000)
    with path.open("rb") as reader:
        record.write(path, b"new" * 1000)
        assert reader.read() == b"old" * 1000
    assert path.read_bytes() == b"new" * 1000


def test_what_stands_in_the_way_is_an_error_with_the_mend_and_leaves_no_litter(tmp_path):
    (tmp_path / "record.json" / "folder").mkdir(parents=True)
    with pytest.raises(record.StorageError, match=r"record\.json can't be written: .* run it again"):
        record.write(tmp_path / "record.json", b"x")
    assert os.listdir(tmp_path) == ["record.json"]


def test_on_a_full_disk_the_old_record_stays_whole(mounting, tmp_path):
    printed = run_there(
        tmp_path,
        "size=64k",
        """
record.write(there / "ann/record.json", b"old")
try:
    record.write(there / "ann/record.json", b"x" * 200_000)
except record.StorageError as error:
    print(error)
print((there / "ann/record.json").read_bytes(), [path.name for path in (there / "ann").iterdir()])
""",
    )
    assert printed.splitlines() == [
        f"{tmp_path}/ann/record.json can't be written: No space left on device. "
        "Make room or choose another --out, then run it again: what is stored already is whole.",
        "b'old' ['record.json']",
    ]


@pytest.mark.parametrize(
    ("options", "reason"), [("ro", "Read-only file system"), ("size=4k,nr_inodes=2", "No space")]
)
def test_an_output_folder_that_takes_nothing_is_refused_before_anybody_is_graded(
    mounting, tmp_path, options, reason
):
    printed = run_there(
        tmp_path,
        options,
        """
try:
    record.prepare(there / "lab0", "0123abcd")
except CourseError as error:
    print(error)
""",
    )
    assert f"{tmp_path}/lab0 can't be written to: {reason}" in printed
    assert "Choose another folder with --out" in printed


def test_an_output_folder_on_a_full_disk_is_refused(mounting, tmp_path):
    printed = run_there(
        tmp_path,
        "size=8k",
        """
(there / "filler").write_bytes(b"x" * 4096)
try:
    record.prepare(there / "lab0", "0123abcd")
    (there / "more").write_bytes(b"x" * 4096)
    record.prepare(there / "lab0", "0123abcd")
except CourseError as error:
    print(error)
""",
    )
    assert "No space left on device" in printed


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_an_output_folder_that_is_a_file_is_refused(tmp_path, place):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CourseError, match="can't be written to"):
        record.prepare(tmp_path / place, KEY_ID)
    assert (tmp_path / "file").read_text() == "mine"


def test_preparing_leaves_an_empty_folder_and_may_be_repeated(tmp_path):
    for _ in range(2):
        record.prepare(tmp_path / "out" / "lab0", KEY_ID)
    assert list((tmp_path / "out" / "lab0").iterdir()) == []


def test_a_class_graded_with_another_key_is_refused_with_the_mend(tmp_path):
    record.write(tmp_path / "ann" / "record.json", b'{"key": "ffff0000", "more": [1]}')
    with pytest.raises(CourseError) as error:
        record.prepare(tmp_path, KEY_ID)
    assert "graded with the key ffff0000; the key here is 0123abcd" in str(error.value)
    assert "ADKIT_KEY_FILE" in str(error.value) and "\n" not in str(error.value)


def test_records_of_the_same_key_and_torn_ones_are_no_obstacle(tmp_path):
    record.write(tmp_path / "ann" / "record.json", b'{"key": "0123abcd"}')
    record.write(tmp_path / "bob" / "record.json", b'{"key": ')
    (tmp_path / "grades.csv").write_text("")
    record.prepare(tmp_path, KEY_ID)


def test_json_is_sorted_readable_and_ends_with_a_newline():
    assert record.as_json({"b": 1, "a": {"d": None, "c": "数"}}) == (
        '{\n  "a": {\n    "c": "数",\n    "d": null\n  },\n  "b": 1\n}\n'.encode()
    )
