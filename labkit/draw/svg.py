"""A graph as an SVG that needs nothing from outside and follows the page's light or dark.

A page may set --graph-ink, --graph-paper, --graph-mark and --graph-mark-paper; elsewhere the text's own
colour is used. The marked node differs by shape, border and sign as well: colour alone says nothing.
"""

import html
import unicodedata
from collections.abc import Sequence

from .item import Item, printable
from .layers import Spot, arrange

LETTER, LINE, PAD = 7.3, 16, 9  # px
GAP_ACROSS, GAP_DOWN = 18, 34  # px between boxes
LONGEST = 40  # letters of a line


def as_svg(items: Sequence[Item], title: str) -> str:
    """An `<svg>` element with a title and a description for those who can't see it; text is escaped."""
    layout = arrange([item.inputs for item in items])
    lines = [_lines(item) for item in items]
    width = max((_columns(line) for own in lines for line in own), default=1) * LETTER + 2 * PAD
    height = max((len(own) for own in lines), default=1) * LINE + 2 * PAD
    spots = layout.spots + [spot for edge in layout.edges for spot in edge]
    leftmost = min((spot.x for spot in spots), default=0.0)
    across, down = width + GAP_ACROSS, height + GAP_DOWN

    def middle(spot: Spot) -> tuple[float, float]:
        return (spot.x - leftmost) * across + width / 2 + 4, spot.layer * down + height / 2 + 4

    def box(item: Item, own: list[str], spot: Spot) -> str:
        return _node(item, own, *middle(spot), width, height)

    total_width = max((middle(spot)[0] for spot in spots), default=0.0) + width / 2 + 4
    total_height = max((middle(spot)[1] for spot in spots), default=0.0) + height / 2 + 4
    description = "; ".join(" ".join(own) for own in lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="graph" '
        f'viewBox="0 0 {total_width:.0f} {total_height:.0f}" width="{total_width:.0f}" '
        f'height="{total_height:.0f}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">',
        f"<title>{_escape(title)}</title><desc>{_escape(description)}</desc>",
        *(_edge([middle(spot) for spot in edge], height) for edge in layout.edges),
        *(
            _node(item, own, *middle(spot), width, height)
            for item, own, spot in zip(items, lines, layout.spots, strict=True)
        ),
        "</svg>",
    ]
    return "".join(parts)


def _lines(item: Item) -> list[str]:
    lines = [printable(text) for text in (item.label, item.value, *item.note.split("\n")) if text]
    lines = [line if len(line) <= LONGEST else line[: LONGEST - 1] + "…" for line in lines] or [""]
    return [f"→ {lines[0]}", *lines[1:]] if item.marked else lines


def _edge(points: list[tuple[float, float]], height: float) -> str:
    """A curve from below the input to above its user, with a tip there; straight past the boxes between."""
    (x, y), *rest = points
    y += height / 2
    path = [f"M{x:.1f} {y:.1f}"]
    for number, (next_x, middle) in enumerate(rest, 1):
        is_end = number == len(rest)
        next_y = middle - height / 2 - 5 * is_end
        bend = (y + next_y) / 2
        path.append(f"C{x:.1f} {bend:.1f} {next_x:.1f} {bend:.1f} {next_x:.1f} {next_y:.1f}")
        x, y = next_x, next_y
        if not is_end:
            y = middle + height / 2
            path.append(f"V{y:.1f}")
    ink = 'style="stroke:var(--graph-ink,currentColor)"'
    tip = f'<path d="M{x - 4:.1f} {y:.1f}h8l-4 6z" style="fill:var(--graph-ink,currentColor)"/>'
    return f'<path d="{"".join(path)}" fill="none" stroke-width="1.2" opacity=".55" {ink}/>{tip}'


def _node(item: Item, lines: list[str], x: float, y: float, width: float, height: float) -> str:
    left, top = x - width / 2, y - height / 2
    if item.marked:  # a plate with cut corners
        cut = 9
        shape = (
            f'<path d="M{left + cut:.1f} {top:.1f}h{width - 2 * cut:.1f}l{cut} {cut}v{height - 2 * cut:.1f}'
            f'l-{cut} {cut}h-{width - 2 * cut:.1f}l-{cut} -{cut}v-{height - 2 * cut:.1f}z" stroke-width="3" '
            'style="fill:var(--graph-mark-paper,none);stroke:var(--graph-mark,currentColor)"/>'
        )
    else:
        radius = 4 if item.inputs else 18
        shape = (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:.0f}" '
            'stroke-width="1.2" style="fill:var(--graph-paper,none);stroke:var(--graph-ink,currentColor)"/>'
        )
    top_line = y - (len(lines) - 1) * LINE / 2 + 4
    texts = []
    for number, line in enumerate(lines):
        look = 'font-weight="700"' if number == 0 else 'opacity=".85"'
        place = f'x="{x:.1f}" y="{top_line + number * LINE:.1f}" text-anchor="middle"'
        texts.append(f'<text {place} {look} style="fill:currentColor">{_escape(line)}</text>')
    kind = "marked" if item.marked else "node"
    return f'<g class="{kind}">{shape}{"".join(texts)}</g>'


def _columns(text: str) -> float:
    return sum(1.7 if unicodedata.east_asian_width(letter) in ("W", "F") else 1 for letter in text)


def _escape(text: str) -> str:
    return html.escape(printable(text))
