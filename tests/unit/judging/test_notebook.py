"""Notebooks in grading: each cell its own, with our setup cells, judged by the student's own numbers."""

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.batch.replay import replay
from autograder.sandbox.client import Level
from labkit import predict
from tests.conftest import COURSES, Graded, MiniCourse


class Book(MiniCourse):
    """The course with a notebook."""

    def cells(self, student: str) -> dict[str, str]:
        """Right answers of a student, whose numbers they need not know."""
        return {
            "student": f'# cell: student\nstudent = "{student}"\n',
            "predict-square": "# cell: predict-square\nslope = 2 * x\n",
            "use-square": "# cell: use-square\nfourth = square(square(x))\n",
        }

    def hand_in_book(self, name: str, /, content: bytes | None = None, **changed: str) -> None:
        """Right work; `changed`: cells by id, with _ for -. `content`: these bytes as the notebook."""
        folder = self.hand_in(name)
        cells = self.cells(name) | {id.replace("_", "-"): text for id, text in changed.items()}
        content = notebook(cells) if content is None else content
        (folder / "lab0.ipynb").write_bytes(content)


def notebook(cells: dict[str, str]) -> bytes:
    written = [
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": id}}, "source": text.splitlines(True)}
        for id, text in cells.items()
    ]
    return json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


PREDICT, USE = "test_book.py::test_slope", "test_book.py::test_fourth"
CASES: dict[str, dict[str, Any]] = {
    "right": {},
    "blank": {"predict_square": "# cell: predict-square\nraise NotImplementedError\n"},
    "wrong": {"predict_square": "slope = 1.0\n"},
    "raises": {"predict_square": "# cell: predict-square\n\nslope = 1 / 0\n"},
    "syntax": {"predict_square": "# cell: predict-square\nslope = = 1\n"},
    "nothing": {"predict_square": ""},
    "loops": {"use_square": "while True:\n    pass\n"},
    "exits": {"use_square": "import os\nos._exit(1)\n"},
    "asks": {"use_square": "fourth = float(input('n?'))\n"},
    "debugs": {"use_square": "breakpoint()\nfourth = 1.0\n"},
    "shows": {
        "predict_square": "%matplotlib inline\n!ls\nimport matplotlib.pyplot as plt\nplt.plot([1])\n"
        "from IPython.display import display as show\nfrom tqdm import tqdm\ndisplay(show(list(tqdm([1]))))\n"
        "get_ipython().run_line_magic('time', '')\nslope = 2 * x\nreveal('predict-square')\n"
    },
    "hides": {
        "predict_square": "get_ipython().showtraceback = lambda *given: None\n"
        "import sys\nsys.excepthook = print\nslope = 1 / 0\n"
    },
    "relies": {"predict_square": "y = 2 * x\n", "use_square": "fourth = (y / 2) ** 4\n"},
    "truncated": {"content": b'{"cells": [{"cell_type": "co'},
    "somebody": {"student": 'student = "right"\n'},
}


@pytest.fixture(scope="module")
def graded(level: Level, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    course = Book(tmp_path_factory.mktemp("book") / "用户 é" / "实验 一", level, COURSES / "book")
    for student, case in CASES.items():
        course.hand_in_book(student, **case)
    course.hand_in("no-notebook")
    course.hand_in_book("no-module")
    (course.submitted / "no-module" / "lab0" / "square.py").unlink()
    untouched = course.hand_in("untouched", square=course.skeleton["square.py"])
    (untouched / "lab0.ipynb").write_bytes((course.lab.skeleton / "lab0.ipynb").read_bytes())
    solved = course.hand_in("as-built")
    (solved / "lab0.ipynb").write_bytes((course.root / "build/solved/lab0/lab0.ipynb").read_bytes())
    return course.grade()


@pytest.mark.parametrize(
    "student, outcomes",
    [
        ("right", ["passed", "passed", "passed"]),
        ("as-built", ["passed", "passed", "passed"]),
        ("shows", ["passed", "passed", "passed"]),
        ("somebody", ["passed", "passed", "passed"]),
        ("blank", ["passed", "not-attempted", "passed"]),
        ("untouched", ["not-attempted", "not-attempted", "not-attempted"]),
        ("wrong", ["passed", "wrong", "passed"]),
        ("nothing", ["passed", "wrong", "passed"]),
        ("raises", ["passed", "crashed", "passed"]),
        ("syntax", ["passed", "crashed", "passed"]),
        ("loops", ["passed", "passed", "timed-out"]),
        ("exits", ["passed", "passed", "exited-early"]),
        ("asks", ["passed", "passed", "crashed"]),
        ("debugs", ["passed", "passed", "crashed"]),
        ("hides", ["passed", "crashed", "passed"]),
        ("relies", ["passed", "wrong", "crashed"]),
        ("truncated", ["passed", "crashed", "crashed"]),
        ("no-notebook", ["passed", "crashed", "crashed"]),
        ("no-module", ["crashed", "passed", "crashed"]),
    ],
)
def test_each_cell_has_an_outcome_of_its_own(graded: Graded, student: str, outcomes: list[str]) -> None:
    messages = [graded.message(student, check) for check in (PREDICT, USE)]
    assert graded.outcomes(student) == outcomes, messages


@pytest.mark.parametrize(
    "student, check, words",
    [
        ("raises", PREDICT, ["ZeroDivisionError", "lab0.ipynb [predict-square]", "line 3", "slope = 1 / 0"]),
        ("syntax", PREDICT, ["lab0.ipynb [predict-square]", "line 2", "slope = = 1"]),
        ("blank", PREDICT, ["predict-square is not written yet"]),
        ("relies", USE, ["NameError", "'y'"]),
        ("asks", USE, ["input"]),
        ("no-module", USE, ["square"]),
        ("no-notebook", USE, ["lab0.ipynb is missing"]),
        ("truncated", USE, ["lab0.ipynb", "no whole notebook"]),
    ],
)
def test_a_message_names_the_cell_and_its_line(
    graded: Graded, student: str, check: str, words: list[str]
) -> None:
    message = graded.message(student, check)
    assert all(word in message for word in words), message
    assert "setup" not in message and "cells.py" not in message


def test_N03_folders_may_have_names_in_any_script(graded: Graded) -> None:
    assert graded.out.parts[-3:] == ("用户 é", "实验 一", "graded")
    assert graded.points("right") == [7, 2, 3, 2]


def test_N09_an_exception_a_time_out_and_a_dead_process_are_three_outcomes(graded: Graded) -> None:
    assert [graded.outcomes(id)[place] for id, place in (("raises", 1), ("loops", 2), ("exits", 2))] == [
        "crashed",
        "timed-out",
        "exited-early",
    ]


def test_N13_input_and_breakpoints_end_at_once(graded: Graded) -> None:
    assert [graded.outcomes(id)[2] for id in ("asks", "debugs")] == ["crashed", "crashed"]


def test_G09_hiding_tracebacks_makes_no_cell_pass(graded: Graded) -> None:
    assert "ZeroDivisionError" in graded.message("hides", PREDICT)
    assert graded.outcomes("hides")[1] == "crashed"


def test_students_of_different_numbers_are_judged_by_different_truths(level: Level, tmp_path: Path) -> None:
    course = Book(tmp_path / "course", level, COURSES / "book")
    ann, ben = "ann", next(id for id in ("ben", "bob", "cat") if predict.number(id) != predict.number("ann"))
    of_ann, of_ben = (f"slope = {2 * (1.5 + predict.number(id))}\n" for id in (ann, ben))
    course.hand_in_book(ann, predict_square=of_ann)
    course.hand_in_book(ben, predict_square=of_ben)
    course.hand_in_book(
        "copies", predict_square=of_ann if predict.number("copies") != predict.number(ann) else of_ben
    )
    course.hand_in_book("borrows", student=f'student = "{ann}"\n', predict_square=of_ann)
    graded = course.grade()
    assert [graded.outcomes(id)[1] for id in (ann, ben, "copies", "borrows")] == [
        "passed",
        "passed",
        "wrong",
        "passed",
    ]
    notes = {id: [note.id for note in graded.results[id].notes] for id in (ann, "borrows")}
    assert notes == {ann: [], "borrows": ["judging.note-other-id"]}


def test_replay_has_the_numbers_of_the_id_that_was_typed(level: Level, tmp_path: Path) -> None:
    course = Book(tmp_path / "course", level, COURSES / "book")
    typed = next(id for id in ("ben", "bob", "cat") if predict.number(id) != predict.number("ann"))
    slope = f"slope = {2 * (1.5 + predict.number(typed))}\n"
    course.hand_in_book("ann", student=f'student = "{typed}"\n', predict_square=slope)
    replayed, _ = replay(course.lab, course.submitted, course.out, "ann", PREDICT, lambda: level)
    assert replayed.verdict.outcome == "passed"
    assert replayed.cases[0].calls[0].inputs["number"] == str(predict.number(typed))
