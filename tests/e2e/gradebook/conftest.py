"""The tiny course with a notebook: a solution cell, a test cell a task, a question graded by hand."""

import contextlib
import csv
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.authoring.labs import write_labs
from autograder.cli import cli
from autograder.course import load_course

if TYPE_CHECKING:
    from tests.conftest import MiniCourse

QUESTION, ASKED, ASKED_IN_ENGLISH = "why-reverse", "*在这里作答。*", "*Your answer here.*"
SCHEME = "before its inputs: four points"
SOURCE = f"""\
# %% [markdown] lang="zh"
# # 链

# %% [markdown] lang="en"
# # Chains

# %% setup="true"
import graph, engine

# %% solution="prediction"
# cell: prediction
### BEGIN SOLUTION
value = 7
### END SOLUTION

# %% test="square"
check("square")

# %% test="order"
check("order")

# %% test="reverse"
check("reverse")

# %% [markdown] manual="{QUESTION}" points=4 lang="zh"
# {ASKED}
#
# ### BEGIN MARK SCHEME
# Every `use` {SCHEME}
# ### END MARK SCHEME

# %% [markdown] manual="{QUESTION}" points=4 lang="en"
# {ASKED_IN_ENGLISH}
#
# ### BEGIN MARK SCHEME
# Every `use` {SCHEME}
# ### END MARK SCHEME
"""


def cell(kind: str, id: str, source: str, **mark: Any) -> dict[str, Any]:
    """A cell; one with marks is nbgrader's, in schema 3."""
    nbgrader = {"grade": False, "solution": False, "task": False, "locked": False, "schema_version": 3}
    metadata = {"nbgrader": {**nbgrader, "grade_id": id, **mark}} if mark else {}
    made = {"cell_type": kind, "id": id, "metadata": metadata, "source": source}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


class BookCourse:
    """The tiny course, with a class and a gradebook."""

    def __init__(self, mini: "MiniCourse") -> None:
        self.mini, self.root, self.book = mini, mini.root, mini.root / "gradebook"
        mini.edit(
            "reference/lab0_chains/lab.toml",
            'modules = ["graph.py", "engine.py"]',
            'modules = ["graph.py", "engine.py"]\nnotebook = "lab0.ipynb"',
        )
        (mini.lab.reference / "lab0.py").write_text(SOURCE, encoding="utf-8")
        write_labs(load_course(self.root))
        self._built = (mini.lab.skeleton / "lab0.ipynb").read_text(encoding="utf-8")

    def notebook(self) -> dict[str, Any]:
        """The notebook as students get it, to be changed."""
        built: dict[str, Any] = json.loads(self._built)
        return built

    def answered(self, language: str = "", **answers: str) -> dict[str, Any]:
        """The notebook as a student hands it in; `_` in an id stands for `-`."""
        path = self.mini.lab.skeleton / language / "lab0.ipynb"
        made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        texts = {id.replace("_", "-"): text for id, text in answers.items()}
        for one in made["cells"]:
            one["source"] = texts.get(one["id"], one["source"])
        return made

    said = ""  # what the first push said

    def edit_course(self, old: str, new: str) -> None:
        self.mini.edit("course.toml", old, new)

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

    def type(self, *arguments: str) -> None:
        """`autograder ARGUMENTS` in this process, where nbgrader is loaded once. Raises: CourseError."""
        with contextlib.chdir(self.root):
            cli.main([*arguments], standalone_mode=False)

    def scores(self) -> dict[str, dict[str, str]]:
        """What the CSV says of each student."""
        text = (self.book / "lab0.csv").read_text(encoding="utf-8-sig")
        return {row["student"]: row for row in csv.DictReader(text.splitlines())}

    def grade_by_hand(self, student: str, score: float, comment: str = "", cell: str = QUESTION) -> None:
        """What formgrader does when a TA enters these for a cell, the question if not another."""
        with contextlib.closing(sqlite3.connect(self.book / "gradebook.db")) as database, database:
            of_question = """(SELECT submitted_notebook.id FROM submitted_notebook JOIN submitted_assignment
                ON submitted_notebook.assignment_id = submitted_assignment.id WHERE student_id = ?)"""
            changes: list[tuple[str, float | str]] = [
                ("grade SET manual_score = ?, needs_manual_grade = 0", score)
            ]
            changes += [("comment SET manual_comment = ?", comment)] if comment else []
            for change, value in changes:
                changed = database.execute(
                    f"""UPDATE {change} WHERE notebook_id IN {of_question}
                    AND cell_id IN (SELECT id FROM base_cell WHERE name = ?)""",
                    (value, student, cell),
                )
                assert changed.rowcount == 1

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
        """The cells of the rebuilt notebook by their own ids, in order."""
        path = self.book / "autograded" / student / "lab0" / "lab0.ipynb"
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return {one["id"]: one | {"source": "".join(one["source"])} for one in cells}


@pytest.fixture(scope="module")
def course(
    mini_course: Callable[[Path], "MiniCourse"], tmp_path_factory: pytest.TempPathFactory
) -> BookCourse:
    return BookCourse(mini_course(tmp_path_factory.mktemp("book") / "course"))
