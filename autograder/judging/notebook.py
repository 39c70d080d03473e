"""The notebook of a lab in grading: what the course wrote in it, and whose numbers a student's has."""

import ast
import re

from autograder.course import STUDENT_CELL, Lab
from autograder.intake import Submission
from labkit.messages import Message
from labkit.predict import number

_HEAD = re.compile(r"^# %%(?P<marks>[^\n]*)\n", re.MULTILINE)
_MARK = re.compile(r'\b(setup|solution)="([\w-]+)"')


def cells_of(source: str) -> tuple[dict[str, str], dict[str, str]]:
    """Of a notebook's source in py:percent form: solved cells, and set-up cells, each by grade id.

    The builder has checked the source: see authoring.notebooks.source.
    """
    solved: dict[str, str] = {}
    setup: dict[str, str] = {}
    _, *parts = _HEAD.split(source)
    for marks, text in zip(parts[::2], parts[1::2], strict=True):
        mark = _MARK.search(marks)
        if mark and mark[1] == "solution":
            solved[mark[2]] = text
        elif mark:
            setup[f"setup-{len(setup) + 1}" if setup else "setup"] = text
    return solved, setup


def number_of(lab: Lab, submission: Submission) -> int:
    """The number of the student's questions: by the id typed in the notebook, else by whose work it is."""
    return number(typed_id(lab, submission) or submission.student)


def typed_id(lab: Lab, submission: Submission) -> str:
    """The id that a student typed, "" without one. No code is run for it."""
    answers = lab.answers
    text = submission.files.get(answers.file(STUDENT_CELL), "") if answers else ""
    found = re.findall(rf"^{STUDENT_CELL}\s*=\s*(.+)$", text, re.MULTILINE)
    try:
        value = ast.literal_eval(found[-1]) if found and len(found[-1]) < 200 else ""
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return ""
    return str(value).strip() if isinstance(value, str | int) else ""


def notes(lab: Lab, submission: Submission) -> list[Message]:
    """That the numbers are those of another id than the work's, which a person should know."""
    typed = typed_id(lab, submission)
    if typed and typed.casefold() != submission.student.casefold():
        return [Message("judging.other-id", {"id": typed[:64], "student": submission.student})]
    return []
