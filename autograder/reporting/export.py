"""Grades for other programs: grades.csv for spreadsheets, one JSON object for scripts."""

import csv
import io
from typing import Any

from autograder.batch.grade import ClassResult

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: object) -> str:
    """A cell's text; what a spreadsheet would take for a formula gets an apostrophe in front."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def grades_csv(graded: ClassResult) -> str:
    """A line a student: points, maximum, whether complete, then points and outcome of every task."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    tasks = [task.id for task in graded.lab.tasks]
    columns = [name for task in tasks for name in (task, f"{task} outcome")]
    writer.writerow(["student", "points", "max", "complete", *columns])
    for result in graded.results:
        values = [value for task in result.tasks for value in (task.points, task.outcome)]
        row = [result.student, result.points, result.max, "yes" if result.complete else "no", *values]
        writer.writerow([cell(value) for value in row])
    return out.getvalue()


def summary(graded: ClassResult) -> dict[str, Any]:
    """What `grade --json` prints."""
    return {
        "schema": 1,
        "lab": graded.lab.id,
        "level": graded.level,
        "complete": graded.complete,
        "students": {
            result.student: {
                "points": result.points,
                "max": result.max,
                "complete": result.complete,
                "error": result.error.text("en") if result.error else None,
                "tasks": {
                    task.id: {"points": task.points, "max": task.max, "outcome": task.outcome}
                    for task in result.tasks
                },
            }
            for result in graded.results
        },
    }
