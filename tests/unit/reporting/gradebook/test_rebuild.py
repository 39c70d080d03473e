"""Rebuilt notebooks: whatever a student did to the notebook, it is ours with their text."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from autograder.reporting.gradebook.rebuild import LONGEST, definitions, rebuilt, unanswered
from autograder.reporting.gradebook.report import folded
from labkit.messages import Message

if TYPE_CHECKING:
    from autograder.course import Lab
    from tests.conftest import MiniCourse


def cell(kind: str, id: str, source: str, **mark: Any) -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": id, **mark}} if mark else {}
    made = {"cell_type": kind, "id": id, "metadata": metadata, "source": source}
    return made | ({"outputs": ["old"], "execution_count": 7} if kind == "code" else {})


RELEASE = {
    "cells": [
        cell("code", "guess", "raise NotImplementedError()", solution=True),
        cell("code", "square", "check('square')", grade=True),
        cell("markdown", "why", "Why?", grade=True, solution=True),
    ],
    "metadata": {},
}


@pytest.fixture(scope="module")
def lab(mini_course: Callable[[Path], "MiniCourse"], tmp_path_factory: pytest.TempPathFactory) -> "Lab":
    return mini_course(tmp_path_factory.mktemp("rebuild") / "course").lab


def made(lab: "Lab", answers: dict[str, str], files: dict[str, str] | None = None) -> dict[str, Any]:
    problems = {"engine.py": Message("intake.missing", {"file": "engine.py"})}
    notebook = rebuilt(lab, RELEASE, answers, files or {}, problems, {"square": "report"}, "en", "page.html")
    return {one["id"]: one for one in notebook["cells"]}


def test_only_solution_cells_take_what_a_student_wrote(lab: "Lab") -> None:
    cells = made(lab, {"guess": "1", "square": "full_marks()", "why": "So.", "other": "x"})
    assert [cells[id]["source"] for id in ("guess", "square", "why")] == ["1", "check('square')", "So."]
    assert "other" not in cells
    assert cells["guess"]["outputs"] == []
    assert cells["guess"]["execution_count"] is None
    assert cells["square"]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "report"}]


def test_the_release_is_not_changed_by_it(lab: "Lab") -> None:
    made(lab, {"guess": "1"})
    assert RELEASE["cells"][0]["source"] == "raise NotImplementedError()"
    assert RELEASE["cells"][0]["outputs"] == ["old"]


def test_a_task_s_code_stands_before_its_test_and_whole_modules_at_the_end(lab: "Lab") -> None:
    module = "import math\n\n\n@cache\ndef square(x):\n    return x * x\n"
    cells = made(lab, {}, {"graph.py": module, "helper.py": "h = 1\n"})
    assert list(cells) == [
        "report",
        "guess",
        "about-square-graph",
        "code-square-graph",
        "square",
        "why",
        "about-module-0",
        "about-module-1",
        "about-module-2",
    ]
    assert cells["code-square-graph"]["source"] == "@cache\ndef square(x):\n    return x * x"
    assert f"```\n{module}\n```" in cells["about-module-0"]["source"]
    assert "engine.py is missing" in cells["about-module-1"]["source"]


def test_control_characters_move_nothing_and_too_long_answers_are_said_to_be(lab: "Lab") -> None:
    cells = made(lab, {"guess": "a\x1b[31m\u202eb\tc\n", "why": "x" * (LONGEST + 1)})
    assert cells["guess"]["source"] == "a\ufffd[31m\ufffdb\tc\n"
    assert cells["why"]["source"] == f"(too long to be shown: {LONGEST + 1} characters)"


def test_no_answer_is_an_absent_empty_or_untouched_one_in_any_language() -> None:
    english = {"cells": [cell("markdown", "why", "Your answer.", grade=True, solution=True)]}
    for answers in ({}, {"why": " \n"}, {"why": "Why? \n"}, {"why": "Your answer."}):
        assert unanswered([RELEASE, english], answers) == {"why"}
    assert unanswered([RELEASE, english], {"why": "Why? So."}) == set()


def test_definitions_are_found_by_name_in_classes_too_and_a_syntax_error_has_none() -> None:
    text = "class Node:\n    def __rsub__(self, o):\n        return o\n\n    x = 1\n\ndef f(): pass\n"
    assert definitions(text, ["Node.__rsub__", "f", "g"]) == [
        "    def __rsub__(self, o):\n        return o",
        "def f(): pass",
    ]
    assert definitions("def f(:\n", ["f"]) == []


def test_code_that_serves_two_tasks_is_shown_once(lab: "Lab") -> None:
    again = msgspec.structs.replace(lab.tasks[0], id="again")
    both = msgspec.structs.replace(lab, tasks=(*lab.tasks, again))
    release = {**RELEASE, "cells": [*RELEASE["cells"], cell("code", "again", "check()", grade=True)]}
    said = {"square": "", "again": ""}
    made = rebuilt(both, release, {}, {"graph.py": "def square(x): ..."}, {}, said, "en", "page.html")
    cells = {one["id"]: one for one in made["cells"]}
    assert "code-square-graph" in cells
    assert "code-again-graph" not in cells
    assert "stands above" in cells["about-again-graph"]["source"]


def test_long_lines_of_a_report_are_folded_by_width_and_keep_their_indent() -> None:
    assert folded("a\n\n  " + "字" * 60 + "\n") == "a\n\n  " + "字" * 54 + "\n  " + "字" * 6 + "\n"
