"""A lab's notebook in grading: the reference's cells, where cells lie in a sandbox, whose numbers count."""

import re

from autograder.course import Lab
from autograder.intake import Submission
from autograder.sandbox.client import NO_NOTEBOOK, Notebook
from autograder.worker.cells import file_of
from labkit import predict
from labkit.messages import Message

from .explain import clean

STUDENT = "student"  # the cell in which a student writes the id
_HEAD = re.compile(r"^# %%(.*)$", re.MULTILINE)
_MARK = re.compile(r'\b(setup|solution)="([^"]*)"')
_TYPED = re.compile(r"""^student\s*=\s*(["'])([^"'\n]{1,64})\1""", re.MULTILINE)


def reference(lab: Lab) -> tuple[Notebook, dict[str, str]]:
    """The setup cells and the solved cells by id, from the source of the notebook.

    Raises: OSError, UnicodeDecodeError.
    """
    if not lab.graded_notebook:
        return NO_NOTEBOOK, {}
    parts = _HEAD.split((lab.reference / lab.notebook_source).read_text("utf-8"))
    setup: list[str] = []
    solved: dict[str, str] = {}
    for head, text in zip(parts[1::2], parts[2::2], strict=True):
        for role, id in _MARK.findall(head):
            if role == "setup":
                setup.append(text.lstrip("\n"))
            else:
                solved[id] = text.lstrip("\n")
    return Notebook(lab.graded_notebook, tuple(setup)), solved


def with_cells(lab: Lab, submission: Submission) -> dict[str, str]:
    """The files of a sandbox: modules, and each cell as a file of its own."""
    cells = {file_of(lab.graded_notebook, id): text for id, text in submission.cells.items()}
    return submission.files | (cells if lab.graded_notebook else {})


def number_of(submission: Submission) -> tuple[int, list[Message]]:
    """The number, 0 to 15, from which what is personal follows, and a note if it is not the student's own.

    It belongs to the id typed in the notebook, which made the questions; without one to the folder's.
    """
    typed = _TYPED.search(submission.cells.get(STUDENT, ""))
    id = typed[2].strip() if typed else submission.student
    if id.casefold() == submission.student.casefold():
        return predict.number(id), []
    arguments = {"id": clean(id), "student": submission.student}
    return predict.number(id), [Message("judging.note-other-id", arguments)]
