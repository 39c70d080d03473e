"""What a student unpacks, and a Python with numpy and pytest alone."""

import importlib.util
import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from autograder.authoring.labs import write_labs
from autograder.course import load_course

ROOT = Path(__file__).parents[3]
STRICT = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
NO_NETWORK = """\
import socket
class Refused(socket.socket):
    def __init__(self, *arguments, **options):
        raise OSError("a student's command opened a socket")
socket.socket = Refused
"""
NUMPY = ("numpy",)
PYTEST = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")


def make_python(folder, packages):
    """A Python of a student's, with these packages alone; sockets are refused."""
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib*/**/site-packages"))
    (site / "sitecustomize.py").write_text(NO_NETWORK)
    for name in packages:
        origin = Path(importlib.util.find_spec(name).origin)
        place = origin.parent if origin.name == "__init__.py" else origin
        for path in {place, *place.parent.glob(f"{name}[.-]*")}:  # with its libraries and metadata
            (site / path.name).symlink_to(path)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def student_python(tmp_path_factory):
    return make_python(tmp_path_factory.mktemp("python"), NUMPY + PYTEST)


@pytest.fixture
def python_without_numpy(tmp_path):
    return make_python(tmp_path / "python", PYTEST)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """labs/ and build/solved/ as they come from this reference."""
    root = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "course.toml", root)
    shutil.copytree(ROOT / "reference", root / "reference")
    write_labs(load_course(root))
    return root


class Kit:
    """What a student unpacks: labkit beside the labs, in a folder with an awkward name."""

    def __init__(self, root, made, python, cache):
        self.root = root / "实验 一" / "作业 (2)"
        self.lab = self.root / "labs" / "lab1_scalars"
        shutil.copytree(ROOT / "labkit", self.root / "labkit", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(made / "labs", self.root / "labs")
        self._solved, self._python, self._cache = made / "build" / "solved" / "lab1", python, cache

    def solve(self):
        shutil.copytree(self._solved, self.lab, dirs_exist_ok=True)
        return self

    def edit(self, name, old, new):
        """Replace `old`, which stands there once."""
        text = (self.lab / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (self.lab / name).write_text(text.replace(old, new), encoding="utf-8")
        return self

    def command(self, *arguments, start=None, python=None, **settings):
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment |= {"PYTHONIOENCODING": "gbk", "ADKIT_CUDA_CACHE": str(self._cache), **settings}
        command = [str(python or self._python), *STRICT, "-m", "labkit", *arguments]
        return command, {"cwd": start or self.root, "env": environment}

    def run(self, *arguments, **where):
        """Exit code, output, and what was said on stderr."""
        command, options = self.command(*arguments, **where)
        done = subprocess.run(command, **options, capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode("gbk"), done.stderr.decode("gbk")

    @staticmethod
    def states(printed):
        """The state of each task in an English report: task -> "passed", "wrong", …"""
        lab = load_course(ROOT).lab("lab1")
        ids = [task.id for task in lab.tasks if lab.notebook not in task.files]
        rows = [
            line.strip() for line in printed.splitlines() if line.startswith("  ") and line.split()[-1] in ids
        ]
        found = {row.split()[-1]: row.split("  ")[0] for row in rows}
        assert list(found) == ids
        return found


@pytest.fixture
def kit(tmp_path, made, student_python, kernel_cache):
    return Kit(tmp_path, made, student_python, kernel_cache)
