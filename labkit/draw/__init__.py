"""Computation graphs drawn: `Item`s as lines of text, or as one self-contained SVG."""

from .item import Item
from .svg import as_svg
from .text import as_text

__all__ = ["Item", "as_svg", "as_text"]
