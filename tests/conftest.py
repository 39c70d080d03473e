"""What the tests of several rooms share: a fixed key, and a tiny course that grades in a second."""

import contextlib
import ctypes
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.labs import write_labs
from autograder.batch.grade import ClassResult, grade
from autograder.course import Lab, load_course
from autograder.judging.verdicts import Result
from autograder.sandbox import probes
from autograder.sandbox.client import Level

collect_ignore = ["courses"]
COURSES = Path(__file__).parent / "courses"
MINI = COURSES / "mini"
KEY = bytes(range(32))
NURSERY = "autograder.judging.nursery"
SUBREAPER = 36  # prctl: orphans below this process become its children


@pytest.fixture(scope="session", autouse=True)
def fixed_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bytes]:
    """The key of all tests, in a file as a course team has it."""
    file = tmp_path_factory.mktemp("key") / "key"
    file.write_text(KEY.hex() + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADKIT_KEY_FILE", str(file))
        yield KEY


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Compiled kernels, kept from test to test and not in anybody's home."""
    folder = tmp_path_factory.mktemp("kernels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADKIT_CUDA_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def level() -> Level:
    """The best level of this machine."""
    return probes.best_level()[0]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here, so no page was opened in a browser")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


class MiniCourse:
    """A copy of courses/mini, or of another course of one lab: edit it, hand work in, grade it."""

    def __init__(self, root: Path, level: Level, source: Path = MINI) -> None:
        shutil.copytree(source, root)
        self.root, self._level = root, level
        write_labs(load_course(root))
        self.solved = {
            name: (root / "build/solved" / self.lab.id / name).read_text(encoding="utf-8")
            for name in self.lab.texts
        }
        self.skeleton = {name: (self.lab.skeleton / name).read_text(encoding="utf-8") for name in self.solved}

    @property
    def lab(self) -> Lab:
        return load_course(self.root).labs[0]

    @property
    def submitted(self) -> Path:
        return self.root / "submitted"

    @property
    def out(self) -> Path:
        return self.root / "graded"

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace `old`, which stands there once, in a file of the course."""
        file = self.root / name
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def add_checks(self, text: str) -> None:
        """A further file of grading tests."""
        (self.lab.grading / "test_more.py").write_text(text, encoding="utf-8")

    def hand_in(self, student: str, **files: str | None) -> Path:
        """Right work, but for the modules named: a text instead, or None to leave it out."""
        folder = self.submitted / student / self.lab.id
        folder.mkdir(parents=True)
        stems = {name.partition(".")[0]: name for name in self.solved}
        named = {stems.get(stem, f"{stem}.py"): text for stem, text in files.items()}
        for name, text in {**self.solved, **named}.items():
            if text is not None:
                (folder / name).write_text(text, encoding="utf-8")
        return folder

    def grade(
        self,
        jobs: int = 1,
        out: Path | None = None,
        level: Level | None = None,
        submitted: Path | None = None,
    ) -> "Graded":
        class_, _ = grade(
            self.lab,
            submitted or self.submitted,
            out or self.out,
            lambda: level or self._level,
            jobs,
            lambda _: None,
            lambda _: None,
        )
        return Graded(class_, out or self.out)


class Graded:
    """A graded class, by student."""

    def __init__(self, class_: ClassResult, out: Path) -> None:
        self.class_, self.out = class_, out
        self.results: dict[str, Result] = {result.student: result for result in class_.results}

    def points(self, student: str) -> list[int | None]:
        """Of the whole, then of each task."""
        result = self.results[student]
        return [result.points, *(task.points for task in result.tasks)]

    def outcomes(self, student: str) -> list[str]:
        return [task.outcome for task in self.results[student].tasks]

    def message(self, student: str, check: str) -> str:
        """What a student reads about a check, in English."""
        found = {one.id: one.message for task in self.results[student].tasks for one in task.checks}[check]
        return found.text("en") if found else ""

    def file(self, student: str, name: str = "record.json") -> Any:
        return json.loads((self.out / self.class_.lab.id / student / name).read_bytes())


@pytest.fixture(scope="session")
def mini_course(level: Level) -> Callable[[Path], MiniCourse]:
    """Makes a copy of the course at a path that does not exist yet."""
    return lambda root: MiniCourse(root, level)


@pytest.fixture
def mini(mini_course: Callable[[Path], MiniCourse], tmp_path: Path) -> MiniCourse:
    """A copy of the course for one test."""
    return mini_course(tmp_path / "course")


@pytest.fixture(scope="module")
def cuda_course(level: Level, tmp_path_factory: pytest.TempPathFactory) -> MiniCourse:
    """A copy of courses/cuda, whose lab has kernels, for the tests of a module."""
    return MiniCourse(tmp_path_factory.mktemp("cuda") / "course", level, COURSES / "cuda")


def processes_below() -> list[str]:
    """Command lines of the living processes below this one."""
    return [line for _, line in _below(str(os.getpid()))]


@pytest.fixture
def graders() -> Callable[[], list[int]]:
    """Process ids of the graders: what a nursery below this process has forked."""

    def found() -> list[int]:
        return [pid for one in _nurseries() for pid, line in _below(str(one)) if NURSERY in line]

    return found


@pytest.fixture
def nurseries() -> Callable[[], list[int]]:
    """Process ids of the processes that graders are forked from."""
    return _nurseries


def _nurseries() -> list[int]:
    return [pid for pid, line in _below(str(os.getpid())) if NURSERY in line and _leads_a_session(pid)]


def _leads_a_session(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid) == pid
    return False


@pytest.fixture
def fork_servers() -> Callable[[], list[int]]:
    """Process ids of the sandboxes' servers and of what they have forked."""
    return lambda: [pid for pid, line in _below(str(os.getpid())) if "sandbox/server.py" in line]


def _below(ancestor: str) -> list[tuple[int, str]]:
    """Id and command line of each living process below another."""
    found, waiting = [], [ancestor]
    while waiting:
        for children in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            for child in _read(children).split():
                line = _read(Path(f"/proc/{child}/cmdline")).replace("\0", " ")
                if line:  # a zombie has none
                    found.append((int(child), line))
                    waiting.append(child)
    return found


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # the process has just ended
        return ""


@pytest.fixture
def running() -> Iterator[Callable[[], list[str]]]:
    """What runs below this process, orphans included; in the end nothing may."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    before = len(os.listdir("/proc/self/fd"))
    yield processes_below
    end = time.monotonic() + 20  # a loaded machine takes its time to end a dozen
    while (left := processes_below()) and time.monotonic() < end:
        time.sleep(0.05)
    ctypes.CDLL(None).prctl(SUBREAPER, 0)
    assert left == []
    assert len(os.listdir("/proc/self/fd")) <= before
