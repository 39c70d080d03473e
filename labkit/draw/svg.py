"""A graph as an SVG that needs nothing from outside and follows the page's light or dark.

A page may set --graph-ink, --graph-paper, --graph-mark and --graph-mark-paper; elsewhere the text's own
colour is used. Marked and folded nodes differ by shape, border and sign as well: colour alone says nothing.
"""

import html
import itertools
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from labkit.width import columns

from .item import Item, printable, typeset
from .layers import Spot, arrange

LETTER, LINE, PAD = 7.3, 16, 9  # px
GAP_ACROSS, GAP_DOWN = 18, 34  # px between boxes
LONGEST = 40  # letters of a line
BESIDE = 14  # px between edges that join the same two nodes
MARGIN = 4  # px
LEAST = 0.7  # how small a narrow page may make it; a narrower one scrolls, at full size
Point = tuple[float, float]


@dataclass(frozen=True)
class Shown:
    """A line in a box from one step of an animation up to another; the last one stays."""

    text: str
    start: int
    stop: int | None = None


@dataclass(frozen=True)
class Animation:
    """What a player turns on and off: a last line of each node, and steps in which nodes and edges are lit.

    An edge is (input, user, how many edges of the two came before).
    """

    lines: Sequence[Sequence[Shown]] = ()
    nodes: Mapping[int, Sequence[int]] = field(default_factory=dict)
    edges: Mapping[tuple[int, int, int], Sequence[int]] = field(default_factory=dict)


STILL = Animation()


@dataclass(frozen=True)
class _Box:
    width: float
    height: float


def as_svg(items: Sequence[Item], title: str, animation: Animation = STILL) -> str:
    """An `<svg>` element with a title and a description for those who can't see it; text is escaped.

    Raises: NoIgraph.
    """
    layout = arrange([item.inputs for item in items])
    lines = [_lines(item) for item in items]
    moving = animation.lines or [()] * len(items)
    texts = [*itertools.chain(*lines), *(one.text for own in moving for one in own)]
    rows = max((len(own) + bool(more) for own, more in zip(lines, moving, strict=True)), default=1)
    box = _Box(max(map(_letters, texts), default=1) * LETTER + 2 * PAD, rows * LINE + 2 * PAD)
    spots = [*layout.spots, *(spot for edge in layout.edges.values() for spot in edge)]
    leftmost = min((spot.x for spot in spots), default=0.0)

    def middle(spot: Spot) -> Point:
        across = (spot.x - leftmost) * (box.width + GAP_ACROSS) + box.width / 2 + MARGIN
        return across, spot.layer * (box.height + GAP_DOWN) + box.height / 2 + MARGIN

    places = list(map(middle, spots))
    width = max((x for x, _ in places), default=0.0) + box.width / 2 + MARGIN
    height = max((y for _, y in places), default=0.0) + box.height / 2 + MARGIN
    description = "; ".join(" ".join(own) for own in lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="graph" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" style="height:auto;'
        f'max-width:clamp(100%,({LEAST * width:.0f}px - 100%)*9999,{width:.0f}px)" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">',
        f"<title>{_escape(title)}</title><desc>{_escape(description)}</desc>",
    ]
    for (i, user), edge in layout.edges.items():
        count = items[user].inputs.count(i)
        for number in range(count):
            aside = (number - (count - 1) / 2) * BESIDE
            steps = animation.edges.get((i, user, number), ())
            parts.append(_edge([(x + aside, y) for x, y in map(middle, edge)], box, _on(steps)))
    for place, item in enumerate(items):
        steps = animation.nodes.get(place, ())
        words = _texts(lines[place], moving[place], middle(layout.spots[place]))
        kind = "marked" if item.marked else "folded" if item.folded else "node"
        shape = _shape(item, middle(layout.spots[place]), box)
        parts.append(f'<g class="{kind}"{_on(steps)}>{shape}{words}</g>')
    return "".join([*parts, "</svg>"])


def _lines(item: Item) -> list[str]:
    lines = [_cut(text) for text in (item.label, item.value, *item.note.split("\n")) if text] or [""]
    return [f"→ {lines[0]}", *lines[1:]] if item.marked else lines


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _on(steps: Sequence[int]) -> str:
    return f' data-on="{" ".join(map(str, steps))}"' if steps else ""


def _edge(points: list[Point], box: _Box, on: str) -> str:
    """A curve from below the input to above its user, with a tip there; straight past the boxes between."""
    (x, y), *rest = points
    y += box.height / 2
    path = [f"M{x:.1f} {y:.1f}"]
    for number, (next_x, middle) in enumerate(rest, 1):
        is_end = number == len(rest)
        next_y = middle - box.height / 2 - 5 * is_end
        bend = (y + next_y) / 2
        path.append(f"C{x:.1f} {bend:.1f} {next_x:.1f} {bend:.1f} {next_x:.1f} {next_y:.1f}")
        x, y = next_x, next_y
        if not is_end:
            y = middle + box.height / 2
            path.append(f"V{y:.1f}")
    ink = 'style="stroke:var(--graph-ink,currentColor)"'
    tip = f'<path d="M{x - 4:.1f} {y:.1f}h8l-4 6z" style="fill:var(--graph-ink,currentColor)"/>'
    line = f'<path d="{"".join(path)}" fill="none" stroke-width="1.2" {ink}/>'
    return f'<g class="edge"{on}>{line}{tip}</g>'


def _shape(item: Item, middle: Point, box: _Box) -> str:
    left, top = middle[0] - box.width / 2, middle[1] - box.height / 2
    if item.marked:  # a plate with cut corners
        cut = 9
        across, down = box.width - 2 * cut, box.height - 2 * cut
        return (
            f'<path d="M{left + cut:.1f} {top:.1f}h{across:.1f}l{cut} {cut}v{down:.1f}'
            f'l-{cut} {cut}h-{across:.1f}l-{cut} -{cut}v-{down:.1f}z" stroke-width="3" '
            'style="fill:var(--graph-mark-paper,none);stroke:var(--graph-mark,currentColor)"/>'
        )
    radius = 4 if item.inputs or item.folded else 18
    dashes = 'stroke-dasharray="5 4" ' if item.folded else ""
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius}" '
        f'stroke-width="1.2" {dashes}'
        'style="fill:var(--graph-paper,none);stroke:var(--graph-ink,currentColor)"/>'
    )


def _texts(lines: list[str], moving: Sequence[Shown], middle: Point) -> str:
    rows = len(lines) + bool(moving)
    top = middle[1] - (rows - 1) * LINE / 2 + 4
    texts = []
    for number, line in enumerate(lines):
        look = 'font-weight="700"' if number == 0 else 'opacity=".85"'
        texts.append(_text(line, (middle[0], top + number * LINE), look))
    for one in moving:  # without a player only what stays to the end is seen
        hidden = "" if one.stop is None else f' data-to="{one.stop}" visibility="hidden"'
        place = (middle[0], top + len(lines) * LINE)
        texts.append(_text(one.text, place, f'class="moving" data-from="{one.start}"{hidden}'))
    return "".join(texts)


def _text(line: str, place: Point, look: str) -> str:
    where = f'x="{place[0]:.1f}" y="{place[1]:.1f}" text-anchor="middle"'
    return f'<text {where} {look} style="fill:currentColor">{_escape(line)}</text>'


def _letters(text: str) -> float:
    """The width in letters; a fixed-width font makes Chinese a little narrower than two of them."""
    wide = sum(unicodedata.east_asian_width(letter) in ("W", "F") for letter in text)
    return columns(text) - 0.3 * wide


def _escape(text: str) -> str:
    return html.escape(typeset(text))
