"""How the demo's pictures look: SVG on a white card, so dark pages can show them; no Chinese letters inside.

Colours are Okabe and Ito's, which colour-blind people can tell apart; markers and dashes differ as well.
"""

import base64
import html
import io
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, RED, GREEN, ORANGE, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#AA4499", "#555555"
STYLE: Any = {
    "font.size": 12.0,
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "svg.fonttype": "path",
    "svg.hashsalt": "four ways",  # the same picture has the same bytes
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 11.0,
    "legend.columnspacing": 1.0,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.0,
}
SIZE = (5.2, 3.9)  # inches: a third of a wide page, all of a telephone's


@dataclass(frozen=True)
class Line:
    """A curve: where, how high, its label, and how it looks."""

    x: Any
    y: Any
    label: str
    colour: str = BLUE
    marker: str = "o"
    dashes: str = "-"


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, and words for those who can't see it."""

    svg: str
    words: str

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.svg.encode()).decode()
        look = "flex:1 1 20rem;min-width:0;max-width:34rem;width:100%;border-radius:6px"
        words = html.escape(self.words)
        return f'<img style="{look}" alt="{words}" src="data:image/svg+xml;base64,{data}">'


@dataclass(frozen=True)
class Row:
    """Pictures side by side where there is room, else one under the other."""

    pictures: tuple[Any, ...]

    def _repr_html_(self) -> str:
        shown = "".join(picture._repr_html_() for picture in self.pictures)
        return f'<div style="display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start">{shown}</div>'


def side_by_side(*pictures: Any) -> Row:
    """A row of whatever has an HTML form."""
    return Row(pictures)


def canvas(x: str = "", y: str = "", size: tuple[float, float] = SIZE) -> tuple[Figure, Axes]:
    """An empty figure with labelled axes."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        axes = figure.add_subplot()
        axes.set_xlabel(x)
        axes.set_ylabel(y)
    return figure, axes


def finished(figure: Figure, words: str) -> Picture:
    """The picture of a figure."""
    file = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return Picture(text[text.index("<svg") :], words)


def lines(x: str, y: str, curves: list[Line], words: str, log: str = "y") -> Picture:
    """Curves over common axes; log: which of them are logarithmic, "", "x", "y" or "xy"."""
    figure, axes = canvas(x, y)
    draw(axes, curves, log)
    return finished(figure, words)


def draw(axes: Axes, curves: list[Line], log: str, columns: int = 2) -> None:
    """Curves on axes that a figure of its own has; above them, where no curve runs, the legend."""
    with matplotlib.rc_context(STYLE):
        for curve in curves:
            axes.plot(
                curve.x, curve.y, curve.dashes, color=curve.colour, marker=curve.marker, label=curve.label
            )
        axes.set_xscale("log" if "x" in log else "linear")
        axes.set_yscale("log" if "y" in log else "linear")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns)
