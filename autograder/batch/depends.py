"""What a result depends on besides the student's work: each part as a hash of its content, never of a date.

The level of isolation is none of it: records are the same bytes at every level that holds a student back.
"""

import functools
import hashlib
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from autograder.course import CourseError, Lab

_PACKAGE = Path(__file__).parents[1]
_CUDA = _PACKAGE.parent / "labkit" / "cuda"
_NOTEBOOK = [_PACKAGE.parent / "labkit" / name for name in ("predict.py", "break_it.py")]
# What of our own code decides how a check ends; what shows results does not.
_DECIDES = ("judging", "sandbox", "intake", "worker", "course.py", "key.py")


def dependencies(lab: Lab) -> dict[str, str]:
    """Part -> SHA-256 of its content: `reference` `grading` `skeleton` `lab` `grader`, of kernels `cuda` too,
    of a notebook `notebook`.

    Raises: CourseError when a part can't be read, or kernels have no compiler.
    """
    cuda = {"cuda": _cuda(compiler_of(lab))} if lab.kernels else {}
    try:
        return (
            cuda
            | _notebook(lab)
            | {
                "reference": _hash(lab.reference, [lab.reference / name for name in lab.texts]),
                "grading": _hash(lab.grading, _files(lab.grading)),
                "skeleton": _hash(lab.skeleton, [lab.skeleton / name for name in lab.texts]),
                "lab": _hash_of(_described(lab)),
                "grader": grader(),
            }
        )
    except FileNotFoundError as error:
        mend = "Run: make labs" if lab.skeleton in Path(error.filename).parents else "Put it back."
        raise CourseError(f"{lab.id}: {error.filename} is missing. {mend}") from None
    except OSError as error:
        raise CourseError(
            f"{lab.id}: {error.filename} can't be read: {error.strerror}. Mend its permissions."
        ) from None


def everything(lab: Lab) -> str:
    """SHA-256 of all that stands in the lab's folder of reference/. Raises: CourseError."""
    try:
        return _hash(lab.reference, _files(lab.reference))
    except OSError as error:
        raise CourseError(
            f"{lab.id}: {error.filename} can't be read: {error.strerror}. Mend its permissions."
        ) from None


def compiler_of(lab: Lab) -> str:
    """The C++ compiler for a lab's kernels. Raises: CourseError without one."""
    from labkit.cuda import compile as cuda  # most labs have no kernels

    found = cuda.compiler()
    if found is None:
        raise CourseError(
            f"{lab.id}: its kernels need a C++ compiler, and this machine has none. Run: apt-get install g++"
        )
    return str(found)


@functools.cache
def _cuda(compiler: str) -> str:
    """The hash of what runs kernels, with the compiler's version."""
    version = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    return _hash_of([_hash(_CUDA, _files(_CUDA)), version.split(b"\n")[0]])


def _notebook(lab: Lab) -> dict[str, str]:
    """Of a lab whose notebook is graded: the hash of its source and of what its questions are made from."""
    if not lab.graded_notebook:
        return {}
    source = (lab.reference / lab.notebook_source).read_bytes()
    return {"notebook": _hash_of([source, *(file.read_bytes() for file in _NOTEBOOK)])}


@functools.cache
def grader() -> str:
    """The hash of our own code, with the versions of what it computes with."""
    places = [_PACKAGE / name for name in _DECIDES]
    files = [file for place in places for file in ([place] if place.is_file() else _files(place))]
    code = _hash(_PACKAGE, files)
    return _hash_of([code, np.__version__, platform.python_version_tuple()[:2]])


def _described(lab: Lab) -> Any:
    """What of lab.toml and course.toml shows in a result: no dates, no folders, no minutes."""
    tasks = [
        {
            "id": task.id,
            "points": task.points,
            "title": task.title,
            "files": task.files,
            "blanks": [blank.name for blank in task.blanks],
            "needs": task.needs,
            "limits": task.limits,
        }
        for task in lab.tasks
    ]
    return [lab.id, lab.modules, lab.kernels, lab.graded_notebook, lab.limits, lab.compile_limits, tasks]


def _files(folder: Path) -> list[Path]:
    """All files below a folder but what Python leaves beside them."""
    return sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


def _hash(folder: Path, files: Iterable[Path]) -> str:
    return _hash_of([(file.relative_to(folder).as_posix(), file.read_bytes()) for file in files])


def _hash_of(content: Any) -> str:
    return hashlib.sha256(msgspec.msgpack.encode(content, order="sorted")).hexdigest()
