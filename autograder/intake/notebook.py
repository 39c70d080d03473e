"""The cells of a student's notebook as text: bounded JSON, cells by grade id, whatever else is in it.

nbformat and nbgrader are not used: both refuse notebooks that hold every answer, for a byte order mark, a
version, or a note of nbgrader's that is gone.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.intake.entries import MEGABYTE, Unusable, listed, shown
from autograder.intake.text import decoded
from labkit.messages import Argument, Message

NOTEBOOK_BYTES = 20 * MEGABYTE  # outputs are pictures
CELL_CHARACTERS = 50_000
_MARK = re.compile(r"# cell: ([\w-]{1,64})")  # the first line of a cell that has lost what nbgrader noted
_CONFLICT = re.compile(r"^\W*(?:<{7}|>{7})", re.MULTILINE)
_MAGIC = re.compile(r"[%!?]|[\w.]+\s*=\s*[%!]")
_BODY_IS_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")
_BLANK = "# cell: {id}\nraise NotImplementedError\n"


@dataclass(frozen=True)
class Notebook:
    """What a notebook holds: cells by grade id, and what is to be said about them."""

    cells: dict[str, str] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()


def read_notebook(data: bytes, name: str, wanted: Sequence[str]) -> Notebook:
    """All cells of a notebook that have an id, the first of each; of `wanted` ones, Python alone.

    A wanted cell that is not there stands as its blank.
    Raises: Unusable if nothing can be read.
    """
    found, twice, by_mark = _by_id(_content(data, name))
    notes = _Notes(name)
    notes.add("intake.cell-twice", [id for id in twice if id in wanted])
    notes.add("intake.cell-by-mark", [id for id in by_mark if id in wanted])
    notes.add("intake.cell-missing", [id for id in wanted if id not in found])
    notes.add("intake.cell-large", [id for id in wanted if len(found.get(id, "")) > CELL_CHARACTERS])
    magic: list[str] = []
    cells = dict(found)
    for id in wanted:
        text = found.get(id, "")
        if id not in found or len(text) > CELL_CHARACTERS:
            cells[id] = _BLANK.format(id=id)
        elif not _is_python(text):
            cells[id] = _without_magic(text)
            magic += [id] if cells[id] != text else []
    notes.add("intake.cell-magic", magic)
    return Notebook(cells, tuple(notes.messages))


class _Notes:
    def __init__(self, name: str) -> None:
        self._name = name
        self.messages: list[Message] = []

    def add(self, id: str, cells: list[str]) -> None:
        if cells:
            self.messages.append(Message(id, {"file": self._name, "cells": listed(cells)}))


def _content(data: bytes, name: str) -> Any:
    """What the JSON says. Raises: Unusable."""
    text = decoded(data, name)
    try:
        return json.loads(text)
    except RecursionError:
        raise _unusable("notebook-damaged", name, line=1) from None
    except json.JSONDecodeError as error:
        conflict = _CONFLICT.search(text)
        if conflict:
            line = text.count("\n", 0, conflict.start()) + 1
            raise _unusable("notebook-conflict", name, line=line) from None
        if not text.strip():
            raise _unusable("notebook-empty", name) from None
        raise _unusable("notebook-damaged", name, line=error.lineno) from None
    except ValueError:  # a number of more digits than Python reads
        raise _unusable("notebook-damaged", name, line=1) from None


def _unusable(id: str, name: str, **more: Argument) -> Unusable:
    return Unusable(Message(f"intake.{id}", {"file": shown(name), **more}))


def _by_id(content: Any) -> tuple[dict[str, str], list[str], list[str]]:
    """Cells by grade id; which ids stand there more than once, and which were found by their mark alone."""
    noted: dict[str, str] = {}
    marked: dict[str, str] = {}
    twice: list[str] = []
    for cell in _cells(content):
        text = _source(cell)
        id = _dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")
        mark = _MARK.match(text)
        if isinstance(id, str):
            twice += [id] if id in noted else []
            noted.setdefault(id, text)
        elif mark:
            twice += [mark[1]] if mark[1] in marked else []
            marked.setdefault(mark[1], text)
        elif isinstance(cell.get("id"), str):  # hand-graded answers have no mark in their text
            marked.setdefault(cell["id"], text)
    return marked | noted, twice, sorted(marked.keys() - noted.keys())


def _cells(content: Any) -> Iterator[Mapping[str, Any]]:
    """Cells of version 4, and of 3, where they lie in worksheets."""
    notebook = _dict(content)
    for holder in (notebook, *map(_dict, _list(notebook.get("worksheets")))):
        yield from map(_dict, _list(holder.get("cells")))


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", cell.get("input"))
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    text = text.encode("utf-8", "replace").decode()  # half a character, as JSON can have it, is none
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_python(text: str) -> bool:
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(text, "cell", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return False
    return True


def _without_magic(text: str) -> str:
    """The cell without lines for IPython and the shell; each line keeps its number."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(_BODY_IS_PYTHON):
        return "\n".join(f"# {line}" for line in lines) + "\nraise NotImplementedError\n"
    return "\n".join(map(_plain, lines))


def _plain(line: str) -> str:
    """The line, or one that does nothing where it was for IPython."""
    words = line.strip()
    if not (_MAGIC.match(words) or (words.endswith("?") and not words.startswith("#"))):
        return line
    return f"{line[: len(line) - len(line.lstrip())]}pass  # {words}"


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
