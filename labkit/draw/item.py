"""A node as it is drawn: words only, so any graph of any lab can be drawn."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """A node. `inputs` are places of earlier items in the list; `note` is a line or more below the value."""

    label: str
    inputs: tuple[int, ...] = ()
    value: str = ""
    note: str = ""
    marked: bool = False


def printable(text: str) -> str:
    """A text on one line, without what moves cursors or turns lines around."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
