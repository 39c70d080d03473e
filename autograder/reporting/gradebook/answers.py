"""A student's cells by grade id, as text; nothing a student can hand in raises."""

import json
import re
import stat
from collections.abc import Iterator, Mapping
from os import fstat
from typing import Any

from autograder.intake import Found
from autograder.intake.archive import archive_suffix, open_archive
from autograder.intake.entries import ARCHIVE_BYTES, Entry, Kind, Refused, Unusable, walk
from autograder.intake.folder import folder_tree, opened, read_file

MOST_BYTES = 20 << 20
_MARKER = re.compile(
    r"# cell: ([\w-]{1,64})"
)  # the first line of a cell, by which it is found without metadata


def answers(found: Found, notebook: str) -> dict[str, str]:
    """Grade id -> source of the first cell that has it; empty where no notebook can be read."""
    try:
        with opened(found.paths[0]) as descriptor:
            if stat.S_ISDIR(fstat(descriptor).st_mode):
                data = _notebook(folder_tree(descriptor), notebook)
            else:
                name = found.paths[0].name
                packed = open_archive(read_file(descriptor, name, ARCHIVE_BYTES), name)
                data = _notebook(packed.top, notebook)
        return cells_of(data)
    except (Refused, Unusable):
        return {}


def cells_of(data: bytes) -> dict[str, str]:
    """Grade id -> source, from the bytes of a notebook of whatever version, broken or not."""
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    cells: dict[str, str] = {}
    marked: dict[str, str] = {}
    for cell in _cells(content):
        source = cell.get("source", cell.get("input"))
        lines = source if isinstance(source, list) else [source]
        text = "".join(line for line in lines if isinstance(line, str)).replace("\r\n", "\n")
        text = text.encode("utf-8", "replace").decode()  # half a character, as JSON can have it, is none
        id = _dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")
        marker = _MARKER.match(text)
        if isinstance(id, str):
            cells.setdefault(id, text)
        elif marker:
            marked.setdefault(marker[1], text)
        elif isinstance(cell.get("id"), str):
            marked.setdefault(cell["id"], text)
    return marked | cells


def _notebook(top: Entry, name: str) -> bytes:
    """The notebook nearest to the top, or in the one archive that there is. Raises: Refused, Unusable."""
    entries = [entry for entry in walk(top) if entry.kind is Kind.FILE]
    for entry in entries:
        if entry.name == name:
            return entry.read(MOST_BYTES)
    archives = [entry for entry in entries if archive_suffix(entry.name)]
    if len(archives) == 1 and "/" not in archives[0].path.removeprefix(f"{top.path}/"):
        inner = open_archive(archives[0].read(ARCHIVE_BYTES), archives[0].name)
        for entry in walk(inner.top):
            if entry.name == name and entry.kind is Kind.FILE:
                return entry.read(MOST_BYTES)
    return b""


def _cells(content: Any) -> Iterator[Mapping[str, Any]]:
    """Cells of version 4, and of 3, where they lie in worksheets."""
    notebook = _dict(content)
    for holder in (notebook, *map(_dict, _list(notebook.get("worksheets")))):
        yield from map(_dict, _list(holder.get("cells")))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
