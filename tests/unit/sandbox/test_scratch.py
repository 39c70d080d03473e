"""A killed grader's folders go with the next start; nobody else's do."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.client import ForkServer, SandboxError
from autograder.sandbox.scratch import Scratch, sweep

ROOT = Path(__file__).parents[3]
HOLD = """
import sys, time
from autograder.sandbox.scratch import Scratch
print(Scratch("sub").path, flush=True)
time.sleep(100)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for temporary files of this test's own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def grader() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that holds a folder, an old one."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ}
    )
    assert process.stdout is not None
    path = Path(process.stdout.readline().strip())
    (path / "graph.py").write_text("answer = 42")
    age(path)
    yield process, path
    process.stdout.close()
    process.kill()
    process.wait()


def age(path: Path) -> None:
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago), follow_symlinks=False)


def test_the_folder_of_a_living_grader_stays(grader: tuple[subprocess.Popen[str], Path]) -> None:
    sweep()
    assert (grader[1] / "graph.py").read_text() == "answer = 42"


def test_the_folder_of_a_killed_grader_goes(grader: tuple[subprocess.Popen[str], Path]) -> None:
    process, path = grader
    process.send_signal(signal.SIGKILL)
    process.wait()
    sweep()
    assert not path.exists()


def test_a_grader_at_level_portable_sweeps_when_it_starts_and_leaves_nothing(folder: Path) -> None:
    left = folder / "adkit-site-left"
    left.mkdir()
    age(left)
    try:
        ForkServer("portable").close()
    except SandboxError as error:
        pytest.skip(str(error))
    assert list(folder.iterdir()) == []


def test_what_is_young_or_a_link_or_of_another_name_stays(folder: Path) -> None:
    (folder / "precious").mkdir()
    (folder / "precious" / "file").touch()
    (folder / "adkit-sub-young").mkdir()
    (folder / "adkit-sub-link").symlink_to(folder / "precious")
    (folder / "adkit-sub-file").touch()
    (folder / "adkit-bench-old").mkdir()
    for path in folder.iterdir():
        if path.name != "adkit-sub-young":
            age(path)
    before = sorted(folder.rglob("*"))
    sweep()
    assert sorted(folder.rglob("*")) == before


def test_a_folder_is_removed_with_its_content_and_twice_does_no_harm() -> None:
    scratch = Scratch("sub")
    Path(scratch.path, "graph.py").touch()
    scratch.remove()
    scratch.remove()
    assert not Path(scratch.path).exists()
