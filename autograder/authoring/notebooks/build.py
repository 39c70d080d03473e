"""The notebooks of a lab as bytes, for students and for `build/solved`.

The bytes depend on the source alone: ids come from what nbgrader calls a cell, else from what is in it.
"""

import hashlib
import json
from typing import Any

from autograder.authoring import cutter
from autograder.authoring.notebooks import source
from autograder.authoring.notebooks.source import MARK_SCHEME, Cell
from autograder.course import CourseError, Lab

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SCHEMA = 3  # of nbgrader's metadata


def for_students(text: str, lab: Lab, language: str) -> bytes:
    """The notebook with blanks, without mark schemes.

    Raises: CourseError.
    """
    return _written(_without_schemes(cells(text, lab, cut=True)), language)


def solved(text: str, lab: Lab, language: str) -> bytes:
    """The notebook as a right student would hand it in.

    Raises: CourseError.
    """
    return _written(_without_schemes(cells(text, lab, cut=False)), language)


def cells(text: str, lab: Lab, cut: bool) -> list[Cell]:
    """The cells of a lab's source, with blanks or solved.

    Raises: CourseError.
    """
    shown = source_of(lab)
    for line in source.marked_cells(text):
        raise CourseError(f'{shown}, the cell {line!r} holds a solution. Mark it: `# %% solution="its-id"`.')
    given = cutter.cut(text, shown, notebook=True) if cut else cutter.without_marks(text, shown)
    return source.read(given, shown, lab)


def source_of(lab: Lab) -> str:
    """Where the text stands, below the course's folder."""
    return f"reference/{lab.folder}/{lab.notebook_source}"


def _without_schemes(cells: list[Cell]) -> list[Cell]:
    return [
        Cell(
            cell.kind,
            MARK_SCHEME.sub("", cell.source).strip("\n"),
            cell.language,
            cell.role,
            cell.grade_id,
            cell.points,
        )
        if cell.role == "manual"
        else cell
        for cell in cells
    ]


def _written(cells: list[Cell], language: str) -> bytes:
    written: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for cell in cells:
        if cell.language in (None, language):
            id = cell.grade_id or hashlib.sha256(f"{cell.kind}\n{cell.source}".encode()).hexdigest()[:12]
            seen[id] = seen.get(id, 0) + 1
            written.append(_as_json(cell, id if seen[id] == 1 else f"{id}-{seen[id]}"))
    notebook = {"cells": written, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _as_json(cell: Cell, id: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if cell.role:
        graded = cell.role in ("test", "manual")
        metadata["nbgrader"] = {
            "grade": graded,
            "grade_id": cell.grade_id,
            "locked": cell.role in ("setup", "test"),
            "schema_version": SCHEMA,
            "solution": cell.role in ("solution", "manual"),
            "task": False,
        } | ({"points": cell.points} if graded else {})
    written: dict[str, Any] = {
        "cell_type": cell.kind,
        "id": id,
        "metadata": metadata,
        "source": cell.source.splitlines(keepends=True),
    }
    if cell.kind == "code":
        metadata["tags"] = ["raises-exception"]  # "Run all" goes on behind a blank
        written |= {"execution_count": None, "outputs": []}
    return written
