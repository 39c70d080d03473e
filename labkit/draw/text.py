"""A graph as lines of text: one node a line, the marked one with an arrow in front."""

from collections.abc import Sequence

from labkit.width import columns, padded

from .item import Item, printable

MARK, NO_MARK = "→ ", "  "


def as_text(items: Sequence[Item]) -> str:
    """Lines in the order of the items, columns aligned."""
    rows = [(item.label, item.value, ", ".join(item.note.split("\n"))) for item in items]
    lines = aligned([[printable(cell) for cell in row] for row in rows])
    return "\n".join(
        ((MARK if item.marked else NO_MARK) + line).rstrip() for item, line in zip(items, lines, strict=True)
    )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, columns under one another."""
    widths = [max(map(columns, column), default=0) for column in zip(*rows, strict=True)]
    return [
        "   ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
