"""Where the nodes of a graph go: in layers, inputs above their users, edges as straight as they get.

igraph orders and places every layer. An edge that passes layers leaves a bend in each; edges that come from
one input share their bends, and columns in which only bends stand are made narrow.
Source: Sugiyama, Tagawa & Toda, Methods for visual understanding of hierarchical system structures,
IEEE Trans. SMC 11(2), 1981.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

BEND = 0.35  # the width that a passing edge keeps free, in widths of a node
LEAST = 0.35  # how far columns without neighbours may come together


class NoIgraph(ImportError):
    """igraph isn't there: no places, so no picture."""


@dataclass
class Spot:
    """A place in a layer: of a node, or of a bend. x is in widths of a node."""

    layer: int
    width: float
    x: float = 0.0


@dataclass(frozen=True)
class Layout:
    """A spot for every node, and for every (input, user) the spots that its edge passes."""

    spots: list[Spot]
    edges: dict[tuple[int, int], list[Spot]]


def arrange(inputs: Sequence[Sequence[int]]) -> Layout:
    """Places for nodes whose inputs are earlier nodes; an input that is used twice has one edge.

    Raises: NoIgraph.
    """
    spots = [Spot(layer, 1.0) for layer in _layers(inputs)]
    nodes = list(spots)
    links: list[tuple[int, int]] = []
    bends: dict[int, list[int]] = {}  # of an input: its bends from its own layer down
    edges = {}
    for user, own in enumerate(inputs):
        for i in dict.fromkeys(own):
            way = bends.setdefault(i, [i])
            while spots[way[-1]].layer < nodes[user].layer - 1:
                spots.append(Spot(spots[way[-1]].layer + 1, BEND))
                links.append((way[-1], len(spots) - 1))
                way.append(len(spots) - 1)
            passed = way[: nodes[user].layer - nodes[i].layer]
            links.append((passed[-1], user))
            edges[i, user] = [*(spots[place] for place in passed), nodes[user]]
    _place(spots, links)
    return Layout(nodes, edges)


def _layers(inputs: Sequence[Sequence[int]]) -> list[int]:
    """Longest paths from above; what has no inputs stands just above the first that uses it."""
    layers: list[int] = []
    for own in inputs:
        layers.append(1 + max((layers[i] for i in own), default=-1))
    first_use: dict[int, int] = {}
    for user, own in enumerate(inputs):
        for i in own:
            first_use[i] = min(first_use.get(i, layers[user]), layers[user])
    return [
        layer if inputs[node] else first_use.get(node, layer + 1) - 1 for node, layer in enumerate(layers)
    ]


def _place(spots: list[Spot], links: list[tuple[int, int]]) -> None:
    if not spots:
        return
    try:
        import igraph  # half a second: only where something is drawn
    except ImportError as error:
        raise NoIgraph(*error.args) from error
    graph = igraph.Graph(len(spots), links, directed=True)
    layout = graph.layout_sugiyama(layers=[spot.layer for spot in spots])
    for spot, (x, _) in zip(spots, layout.coords, strict=True):
        spot.x = round(x, 6)
    rows = [list(row) for _, row in itertools.groupby(sorted(spots, key=_reading), lambda spot: spot.layer)]
    for left, right in itertools.chain(*map(itertools.pairwise, rows)):
        right.x = max(right.x, left.x + 1)  # igraph sometimes puts two into one place
    _narrow(spots, rows)


def _reading(spot: Spot) -> tuple[int, float]:
    return spot.layer, spot.x


def _narrow(spots: list[Spot], rows: list[list[Spot]]) -> None:
    """Bring columns together as far as the widths of neighbours allow; what was in line stays in line.

    Between two columns distances shrink by one factor, the largest that any pair of neighbours around them
    asks for; so every pair keeps at least what it needs.
    """
    columns = sorted({spot.x for spot in spots})
    place = {x: number for number, x in enumerate(columns)}
    factors = [LEAST] * (len(columns) - 1)
    for left, right in itertools.chain(*map(itertools.pairwise, rows)):
        factor = (left.width + right.width) / 2 / (right.x - left.x)
        for step in range(place[left.x], place[right.x]):
            factors[step] = max(factors[step], factor)
    widths = [(b - a) * factor for (a, b), factor in zip(itertools.pairwise(columns), factors, strict=True)]
    narrowed = dict(zip(columns, itertools.accumulate(widths, initial=0.0), strict=True))
    for spot in spots:
        spot.x = narrowed[spot.x]
