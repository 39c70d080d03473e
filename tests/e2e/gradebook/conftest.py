"""The tiny course with a notebook: a solution cell, a test cell a task, a question graded by hand."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import MiniCourse

TASKS = {"square": 2, "order": 3, "reverse": 5}
QUESTION, ASKED = "why-reverse", "Why does reverse mode need an order?"
SCORES = "lab0.csv"


def cell(kind: str, id: str, source: str, **mark: Any) -> dict[str, Any]:
    """A cell; one with marks is nbgrader's, in schema 3."""
    nbgrader = {"grade": False, "solution": False, "task": False, "locked": False, "schema_version": 3}
    metadata = {"nbgrader": {**nbgrader, "grade_id": id, **mark}} if mark else {}
    made = {"cell_type": kind, "id": id, "metadata": metadata, "source": source}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def notebook() -> dict[str, Any]:
    cells = [
        cell("markdown", "title", "# Chains"),
        cell("code", "setup", "import graph, engine", locked=True, solution=False),
        cell("code", "prediction", "# cell: prediction\nraise NotImplementedError()", solution=True),
        *(
            cell("code", id, f"check({id!r})", grade=True, locked=True, points=points)
            for id, points in TASKS.items()
        ),
        cell("markdown", QUESTION, ASKED, grade=True, solution=True, points=4),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def answered(**answers: str) -> dict[str, Any]:
    """The notebook as a student hands it in; `_` in an id stands for `-`."""
    made = copy.deepcopy(notebook())
    texts = {id.replace("_", "-"): text for id, text in answers.items()}
    for one in made["cells"]:
        one["source"] = texts.get(one["id"], one["source"])
    return made


class BookCourse:
    """The tiny course, with a class and a gradebook."""

    def __init__(self, mini: "MiniCourse") -> None:
        self.mini, self.root, self.book = mini, mini.root, mini.root / "gradebook"
        mini.edit(
            "reference/lab0_chains/lab.toml",
            'modules = ["graph.py", "engine.py"]',
            'modules = ["graph.py", "engine.py"]\nnotebook = "lab0.ipynb"',
        )
        self.write_notebook(notebook())

    def write_notebook(self, made: dict[str, Any]) -> None:
        (self.mini.lab.skeleton / "lab0.ipynb").write_text(json.dumps(made), encoding="utf-8")

    def hand_in(self, student: str, made: dict[str, Any] | str | None = None, **files: str | None) -> Path:
        folder = self.mini.hand_in(student, **files)
        if made is not None:
            text = made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)
            (folder / "lab0.ipynb").write_text(text, encoding="utf-8")
        return folder

    def run(self, *arguments: str, code: int = 0) -> str:
        """`autograder ARGUMENTS` as typed in the course's folder; what it says."""
        done = subprocess.run(
            [sys.executable, "-m", "autograder", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def nbgrader(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """`nbgrader ARGUMENTS` as typed in the gradebook's folder."""
        return subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self.book,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ | {"JUPYTER_CONFIG_DIR": str(self.root / ".jupyter")},
        )

    def shown(self, student: str) -> dict[str, Any]:
        """The rebuilt notebook."""
        path = self.book / "autograded" / student / "lab0" / "lab0.ipynb"
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


@pytest.fixture(scope="module")
def course(
    mini_course: Callable[[Path], "MiniCourse"], tmp_path_factory: pytest.TempPathFactory
) -> BookCourse:
    return BookCourse(mini_course(tmp_path_factory.mktemp("book") / "course"))
