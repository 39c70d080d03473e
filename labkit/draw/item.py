"""A node as it is drawn: words only, so any graph of any lab can be drawn."""

import re
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


_NAME = re.compile(r"(?<!\w)([A-Za-z][\u0304\u0307]?)([0-9]+)(?!\w)")  # with a bar or a dot, or without
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def typeset(text: str) -> str:
    """A printable text for pictures and pages: names as the lecture writes them, v₃ for v3."""
    return _NAME.sub(lambda name: name[1] + name[2].translate(_LOW), printable(text))


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
