"""Cells of lab 1's notebook that would rather change the judge than answer: answers alone earn."""

import json
from pathlib import Path

import pytest

from autograder.authoring.mutants import notebook, solved_modules
from autograder.batch.grade import grade
from autograder.course import load_course

ROOT = Path(__file__).parents[2]
CELLS = {
    # the examiner says yes to everything
    "patched-examiner": """
from labkit import break_it
class Yes:
    exposed = smallest = accounted = True
    nodes, right, found, missing = 2, 1.0, 0.0, 1.0
break_it.examine = lambda *given: Yes
overwrite = (variable(1.0), None, [])
""",
    # the program that hands the graph over is replaced
    "patched-program": """
import sys
frame = sys._getframe()
while frame:
    if "graph_as_text" in frame.f_globals:
        frame.f_globals["graph_as_text"] = lambda *given: '[[["", [], 1.0], ["sin", [0], 5.0]], 0, [1, 0]]'
    frame = frame.f_back
overwrite = (variable(1.0), None, [])
""",
    # a node whose operation lies about its derivative
    "lying-operation": """
class Lie:
    name = "sin"
    def partials(self, values, value):
        return (1.0, 2.0)
x = variable(1.0)
y = sin(x)
y.op = Lie()
y.inputs = (x, x)
overwrite = (y, x, [y, x])
""",
    "endless-graph": """
class Node:
    def __getattr__(self, name):
        return (Node(),) if name == "inputs" else 1.0
overwrite = (Node(), Node(), [])
""",
    "no-graph": "overwrite = 'x * x'",
}


@pytest.fixture(scope="module")
def results(level, tmp_path_factory):
    """Every student's result; all but one cell of each is right."""
    lab = load_course(ROOT).lab("lab1")
    work = tmp_path_factory.mktemp("cells")
    right = notebook(lab, cut=False)["lab1.ipynb"]
    for student, text in {"right": None, **CELLS}.items():
        folder = work / "submitted" / student / "lab1"
        folder.mkdir(parents=True)
        written = json.loads(right)
        for cell in written["cells"]:
            if cell["id"] == "overwrite" and text is not None:
                cell["source"] = f"# cell: overwrite\n{text}"
        (folder / "lab1.ipynb").write_text(json.dumps(written), encoding="utf-8")
        for name, content in solved_modules(lab).items():
            (folder / name).write_text(content, encoding="utf-8")
    graded, _ = grade(lab, work / "submitted", work / "out", lambda: level, 2, lambda _: None, lambda _: None)
    return {result.student: result for result in graded.results}


def test_who_answers_earns_all(results):
    assert results["right"].points == results["right"].max


@pytest.mark.parametrize("student", CELLS)
def test_who_does_not_loses_break_it_and_nothing_else(results, student):
    points = {task.id: task.points - task.max for task in results[student].tasks}
    assert points.pop("break-it") == -5
    assert set(points.values()) == {0}
    (task,) = (task for task in results[student].tasks if task.id == "break-it")
    assert task.outcome == "timed-out" if student == "endless-graph" else task.outcome in ("wrong", "crashed")
