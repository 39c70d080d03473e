"""A node as it is drawn: words only, so any graph of any lab can be drawn."""

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """A node. `inputs` are places of earlier items in the list; `note` is a line or more below the value.

    A folded item stands for the nodes that are not drawn.
    """

    label: str
    inputs: tuple[int, ...] = ()
    value: str = ""
    note: str = ""
    marked: bool = False
    folded: bool = False


def printable(text: str) -> str:
    """A text on one line, without what moves cursors or turns lines around, and without piles of accents."""
    if text.isascii() and text.isprintable():
        return text
    kept = []
    for place, letter in enumerate(text):
        if unicodedata.combining(letter) and (place == 0 or unicodedata.combining(text[place - 1])):
            continue
        kept.append(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}")
    return "".join(kept)
