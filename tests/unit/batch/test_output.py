"""The output folder: one writer, one course."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from autograder.batch import output
from autograder.course import CourseError

HOLD = """
import sys, time
from pathlib import Path
from autograder.batch import output
with output.claim(Path(sys.argv[1]), "mini"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that writes to `out`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "out"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_writer_is_told_who_the_first_is_in_one_line(holder, tmp_path):
    with pytest.raises(CourseError) as error, output.claim(tmp_path / "out", "mini"):
        pass
    line = str(error.value)
    assert f"process {holder.pid} on {os.uname().nodename} since 2" in line and "\n" not in line
    assert "--out" in line
    assert re.search(r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d", line)


def test_a_killed_writer_leaves_a_lock_file_that_holds_nobody_up(holder, tmp_path):
    holder.kill()
    holder.wait()
    assert f"process {holder.pid}" in (tmp_path / "out/.lock").read_text()
    with output.claim(tmp_path / "out", "mini"):
        assert f"process {os.getpid()}" in (tmp_path / "out/.lock").read_text()


def test_it_can_be_claimed_again_and_again_and_with_another_folder_at_once(tmp_path):
    for _ in range(2):
        with output.claim(tmp_path / "out", "mini"), output.claim(tmp_path / "other", "mini"):
            pass
    assert json.loads((tmp_path / "out/course.json").read_text()) == {"course": "mini", "schema": 1}


def test_results_of_another_course_are_left_alone(tmp_path):
    with output.claim(tmp_path, "ad2025"):
        pass
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with (
        pytest.raises(CourseError, match=r"results of the course ad2025, and this is ad2026\. .*--out"),
        output.claim(tmp_path, "ad2026"),
    ):
        pass
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_torn_marker_is_written_anew(tmp_path):
    (tmp_path / "course.json").write_text('{"cou')
    with output.claim(tmp_path, "mini"):
        pass
    assert json.loads((tmp_path / "course.json").read_text())["course"] == "mini"


def test_a_folder_that_cannot_be_made_is_one_line_with_the_mend(tmp_path):
    (tmp_path / "file").write_text("mine")
    with (
        pytest.raises(CourseError, match="can't be written to") as error,
        output.claim(tmp_path / "file", "m"),
    ):
        pass
    assert "--out" in str(error.value)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files of one test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def test_temporary_files_of_a_killed_writer_are_removed_by_the_next(temporary, tmp_path):
    script = HOLD.replace(
        "time.sleep(60)", "import os, tempfile; tempfile.mkdtemp(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "out"], capture_output=True)
    (folder,) = temporary.iterdir()
    assert len(list(folder.iterdir())) == 1
    with output.claim(tmp_path / "out", "mini"):
        assert list(folder.iterdir()) == []
        assert Path(tempfile.mkdtemp()).parent == folder == Path(os.environ["TMPDIR"])
    assert list(temporary.iterdir()) == []
    assert Path(tempfile.mkdtemp()).parent == temporary


def test_a_folder_for_temporary_files_that_another_has_made_is_left_alone(temporary, tmp_path):
    with output.claim(tmp_path / "out", "mini"):
        (folder,) = temporary.iterdir()
    folder.mkdir(mode=0o700)
    (folder / "theirs").mkdir()
    with output.claim(tmp_path / "out", "mini"):
        assert Path(tempfile.mkdtemp()).parent == temporary
    assert (folder / "theirs").exists()
