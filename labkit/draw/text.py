"""A graph as lines of text: one node a line, the marked one with an arrow in front."""

import unicodedata
from collections.abc import Sequence

from .item import Item, printable

MARK, NO_MARK = "→ ", "  "
_WIDE = ("W", "F")  # letters that take two columns


def as_text(items: Sequence[Item]) -> str:
    """Lines in the order of the items, columns aligned."""
    rows = [(item.label, item.value, ", ".join(item.note.split("\n"))) for item in items]
    rows = [(printable(label), printable(value), printable(note)) for label, value, note in rows]
    widths = [max(map(_columns, column), default=0) for column in zip(*rows, strict=True)]
    lines = []
    for item, row in zip(items, rows, strict=True):
        cells = [cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True)]
        lines.append((MARK if item.marked else NO_MARK) + "   ".join(cells).rstrip())
    return "\n".join(lines)


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in _WIDE else 1 for letter in text)
