"""Computation graphs drawn, of any lab: `graph` and, node by node, `sweep`.

What is drawn are `Item`s: lines of text, or one self-contained SVG.
"""

from .drawing import Drawing, graph
from .item import Item
from .svg import as_svg
from .sweeping import Sweep, sweep
from .text import as_text

__all__ = ["Drawing", "Item", "Sweep", "as_svg", "as_text", "graph", "sweep"]
