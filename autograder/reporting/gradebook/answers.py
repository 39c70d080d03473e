"""A student's cells by grade id, as text; nothing a student can hand in raises."""

import contextlib
import json
import os
from typing import Any

from autograder.intake import Found

MOST_BYTES = 20_000_000


def answers(found: Found, notebook: str) -> dict[str, str]:
    """Grade id -> source of the first cell that has it."""
    cells: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        with open(os.open(found.paths[0] / notebook, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8-sig")
        for cell in _list(_dict(json.loads(text)).get("cells")):
            mark = _dict(_dict(_dict(cell).get("metadata")).get("nbgrader"))
            id, source = mark.get("grade_id"), _dict(cell).get("source")
            if isinstance(id, str):
                parts = source if isinstance(source, list) else [source]
                cells.setdefault(id, "".join(part for part in parts if isinstance(part, str)))
    return cells


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
