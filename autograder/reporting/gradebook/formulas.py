"""Formulas that students wrote, as MathML: no script from the web comes into a TA's session."""

import html
import re
from xml.etree import ElementTree

from autograder.reporting.mathml import mathml

_SPACE = "{http://www.w3.org/1998/Math/MathML}"
_ELEMENTS = set(
    "math mrow mi mn mo ms mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot "
    "mtable mtr mtd mstyle mpadded mphantom".split()
)
_ATTRIBUTES = set(
    "display displaystyle scriptlevel stretchy fence form separator accent accentunder movablelimits "
    "mathvariant columnalign".split()
)
_LENGTHS = {"width", "lspace", "rspace", "minsize", "maxsize", "linethickness"}
_SMALL = re.compile(r"-?[0-3]?(\.\d{1,3})?(em)?")


def drawn(formula: str, display: str) -> str | None:
    """HTML of a formula of LaTeX, None for one that can't be drawn; `display` is "inline" or "block".

    What the converter makes is taken over name by name: `\\text{<b>}` comes out of it as an element.
    """
    try:
        return _safe(ElementTree.fromstring(mathml(formula, display)))
    except (ValueError, ElementTree.ParseError, RecursionError):
        return None


def _safe(element: ElementTree.Element) -> str:
    """The element written anew. Raises: ValueError for one that is no formula's."""
    name = element.tag.removeprefix(_SPACE)
    if name not in _ELEMENTS:
        raise ValueError(name)
    attributes = "".join(
        f' {key}="{html.escape(value)}"' for key, value in element.items() if _kept(key, value)
    )
    inside = html.escape(element.text or "") + "".join(
        _safe(child) + html.escape(child.tail or "") for child in element
    )
    return f"<{name}{attributes}>{inside}</{name}>"


def _kept(key: str, value: str) -> bool:
    """A link or a colour is not; a space or a stroke as wide as the page isn't either."""
    return key in _ATTRIBUTES or (key in _LENGTHS and _SMALL.fullmatch(value) is not None)
