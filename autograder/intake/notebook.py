"""A student's notebook as texts of cells by id: plain JSON with bounds, of any version, broken or not."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.intake.entries import FILE_BYTES, MEGABYTE, Unusable, listed, shown
from autograder.intake.text import decoded
from labkit.messages import Message

NOTEBOOK_BYTES = 16 * MEGABYTE  # outputs and all; parsed, it may take 24 times as much memory
CELLS = 500
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z")
_MARKER = re.compile(
    r"# cell: ([a-z0-9][a-z0-9-]{0,62})[ \t]*(?:\n|\Z)"
)  # by which a cell is found without metadata
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
# Lines for IPython alone: %magic, %%magic, !shell, ?help, help?
_MAGIC = re.compile(
    r"^([ \t]*)(?:%%?[A-Za-z]|!(?!=)|\?{1,2}[\w.]|[A-Za-z_][\w.]*\?{1,2}[ \t]*$).*$", re.MULTILINE
)


@dataclass(frozen=True)
class Cells:
    """Texts by id, code and Markdown alike, and what is to be said about them."""

    texts: dict[str, str]
    notes: tuple[Message, ...]


def read_cells(data: bytes, name: str) -> Cells:
    """The cells that have an id: the metadata's grade id, else the mark in the first line, else their own.

    The first cell with an id counts. IPython's own lines are taken out of code.
    Raises: Unusable for what holds no cells at all.
    """
    found: dict[str, str] = {}
    marked: dict[str, str] = {}
    twice, magic, left_out = [], [], []
    room = FILE_BYTES
    for cell in _cells(_parsed(data, name)):
        id, is_graded, text = _identified(cell)
        place = found if is_graded else marked
        if not id:
            continue
        if id in place:
            twice.append(id)
            continue
        if len(text) > room or len(found) + len(marked) == CELLS:
            left_out.append(id)
            continue
        room -= len(text)
        if cell.get("cell_type") != "markdown":
            text, count = _MAGIC.subn(r"\1pass", text)
            magic += [id] * (count > 0)
        place[id] = text
    told = (("twice", twice), ("magic", magic), ("left-out", left_out))
    notes = [
        Message(f"intake.cells-{what}", {"file": shown(name), "cells": listed(list(dict.fromkeys(ids)))})
        for what, ids in told
        if ids
    ]
    return Cells(marked | found, tuple(notes))


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    """What the JSON says, if it is a notebook of any version. Raises: Unusable."""
    text = _text(data, name)
    if not text.strip():
        raise Unusable(Message("intake.empty-file", {"file": shown(name)}))
    if conflict := _CONFLICT.search(text):
        raise _unusable("conflict", name, text.count("\n", 0, conflict.start()) + 1)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise _unusable("json", name, error.lineno) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists
        raise _unusable("json", name, 1) from None
    if not isinstance(content, dict) or not any(True for _ in _cells(content)):
        raise Unusable(Message("intake.notebook-without-cells", {"file": shown(name)}))
    return content


def _text(data: bytes, name: str) -> str:
    """JSON may be UTF-8, UTF-16 or UTF-32, and says itself which. Raises: Unusable."""
    try:
        return data.decode(json.detect_encoding(data)).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    except UnicodeDecodeError:
        return decoded(data, name)


def _unusable(what: str, name: str, line: int) -> Unusable:
    return Unusable(Message(f"intake.notebook-{what}", {"file": shown(name), "line": line}))


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Cells of version 4, and of version 3, where they lie in worksheets."""
    for holder in (notebook, *map(_dict, _list(notebook.get("worksheets")))):
        yield from (cell for cell in _list(holder.get("cells")) if isinstance(cell, dict))


def _identified(cell: Mapping[str, Any]) -> tuple[str, bool, str]:
    """A cell's id, whether it stands in nbgrader's metadata, and the text."""
    source = cell.get("source", cell.get("input"))
    text = "".join(
        line for line in (source if isinstance(source, list) else [source]) if isinstance(line, str)
    )
    text = text.encode("utf-8", "replace").decode()  # half a character, as JSON can have it, is none
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    graded = _dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")
    if isinstance(graded, str) and _ID.match(graded):
        return graded, True, text
    if marker := _MARKER.match(text):
        return marker[1], False, text
    own = cell.get("id")
    return (own if isinstance(own, str) and _ID.match(own) else ""), False, text


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
