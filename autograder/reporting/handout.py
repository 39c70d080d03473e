"""What the class page quotes of a lab's handout: common misunderstandings, by family of mistakes.

A row of a table of handouts/LANGUAGE/LAB.md is quoted if its last cell ends with the families:

    | A smaller step is a better step. | Below $h^*$ rounding wins. <!-- mistakes: differences --> |
"""

import contextlib
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

_FAMILIES = re.compile(r"\s*<!-- mistakes: ([a-z0-9-]+(?:, [a-z0-9-]+)*) -->\s*\Z")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\Z")
_PIECES = re.compile(r"(`[^`]+`|\$[^$]+\$)")


@dataclass(frozen=True)
class Quoted:
    """A row of two cells with their heads, as HTML, and the heading it stands under."""

    heading: str
    thought: tuple[str, Markup]
    fact: tuple[str, Markup]


def quoted(root: Path, lab: str, language: str) -> dict[str, list[Quoted]]:
    """The rows of a lab's handout by family, in their order; {} for a lab without a handout."""
    try:
        text = (root / "handouts" / language / f"{lab}.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # `autograder handouts` says so
        return {}
    found: dict[str, list[Quoted]] = defaultdict(list)
    heading, before, heads = "", [""], [""]
    for line in map(str.strip, text.splitlines()):
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif _RULE.match(line):
            heads = before
        before = [cell.strip() for cell in line.strip("|").split("|")]
        families = _FAMILIES.search(before[-1])
        if families and len(before) == len(heads) == 2:
            thought, fact = before[0], before[1][: families.start()]
            row = Quoted(heading, (heads[0], _inline(thought)), (heads[1], _inline(fact)))
            for family in families[1].split(", "):
                found[family].append(row)
    return dict(found)


def _inline(text: str) -> Markup:
    """Words, `code` and $formulas$."""
    from .mathml import mathml  # most classes quote nothing, and its tables take 40 ms to load

    made = Markup()
    for piece in _PIECES.split(text):
        if piece.startswith("`"):
            piece = Markup("<code>{}</code>").format(piece[1:-1])
        elif piece.startswith("$"):
            with contextlib.suppress(ValueError):  # `autograder handouts` says so
                piece = Markup(mathml(piece[1:-1], "inline"))
        made += escape(piece)  # what is HTML already stays as it is
    return made
