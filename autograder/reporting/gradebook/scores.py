"""Scores for spreadsheets: quoted as CSV asks, no cell a formula, a TA's scores and comments in it."""

import csv
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autograder.course import Lab
from autograder.reporting.export import cell

from .register import graded_cells
from .roster import Person

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


def scores_csv(
    lab: Lab, release: Mapping[str, Any], roster: Mapping[str, Person], gradebook: "Gradebook"
) -> str:
    """A line a student: sum after the late penalty, whether a TA is still to look, then every cell's points.

    Who is on the roster and handed nothing in has a line of zeros.
    """
    columns = [mark["grade_id"] for _, mark in graded_cells(release) if mark.get("grade") or mark.get("task")]
    most = sum(mark["points"] for _, mark in graded_cells(release) if mark.get("grade") or mark.get("task"))
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["student", "name", "points", "max", "to grade", "late penalty", *columns, "comments"])
    submissions = {one.student_id: one for one in gradebook.find_assignment(lab.id).submissions}
    for student in sorted(submissions.keys() | roster.keys()):
        name = roster[student].name if student in roster else ""
        values = _values(submissions[student], columns) if student in submissions else _nothing(columns)
        writer.writerow([cell(value) for value in (student, name, values[0], f"{most:g}", *values[1:])])
    return out.getvalue()


def _values(submission: Any, columns: list[str]) -> list[str]:
    """Points, questions to be graded, penalty, points of every cell, a TA's comments."""
    (notebook,) = submission.notebooks
    penalty = notebook.late_submission_penalty or 0.0
    grades = {grade.cell.name: grade for grade in notebook.grades}
    scores = {name: grade.score for name, grade in grades.items()}
    left = sum(grade.needs_manual_grade for grade in grades.values())
    said = [(one.cell.name, one.manual_comment) for one in notebook.comments if one.manual_comment]
    total = max(0.0, sum(scores.values()) - penalty)
    return [
        f"{total:g}",
        str(left),
        f"{penalty:g}",
        *("?" if _undecided(grades[name]) else f"{scores[name]:g}" for name in columns),
        "; ".join(f"{name}: {' '.join(text.split())}" for name, text in sorted(said)),
    ]


def _undecided(grade: Any) -> bool:
    return grade.auto_score is None and grade.manual_score is None


def _nothing(columns: list[str]) -> list[str]:
    return ["0", "0", "0", *["0"] * len(columns), ""]
