"""Where the nodes of a graph go: in layers, inputs above their users, edges as straight as they get.

Source: Sugiyama, Tagawa & Toda, Methods for visual understanding of hierarchical system structures,
IEEE Trans. SMC 11(2), 1981: longest-path layers, bends on long edges, barycentres against crossings.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

SWEEPS = 8
BEND = 0.35  # the width that a passing edge keeps free, in widths of a node


@dataclass
class Spot:
    """A place in a layer: of a node, or of a long edge's bend. x is in widths of a node."""

    layer: int
    width: float
    x: float = 0.0
    above: list["Spot"] = field(default_factory=list)
    below: list["Spot"] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """A spot for every node, and the spots that every edge passes, from the input to its user."""

    spots: list[Spot]
    edges: list[list[Spot]]


def arrange(inputs: Sequence[Sequence[int]]) -> Layout:
    """Places for nodes whose inputs are earlier nodes; an input that is used twice has one edge."""
    depths: list[int] = []
    for own in inputs:
        depths.append(1 + max((depths[i] for i in own), default=-1))
    last = max(depths, default=0)
    users: dict[int, list[int]] = {}
    for user, own in enumerate(inputs):
        for i in own:
            users.setdefault(i, []).append(user)
    for node in range(len(inputs) - 1, -1, -1):  # an input stands just above what uses it
        if not inputs[node] and node in users:
            depths[node] = min(depths[user] for user in users[node]) - 1
    spots = [Spot(depth, 1.0) for depth in depths]
    layers: list[list[Spot]] = [[] for _ in range(last + 1)]
    for spot in spots:
        layers[spot.layer].append(spot)
    edges = [
        _edge(spots[i], spots[user], layers) for user, own in enumerate(inputs) for i in dict.fromkeys(own)
    ]
    for layer in layers:
        _pack(layer, [float(place) for place in range(len(layer))])
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            _settle(layer, downwards)
    return Layout(spots, edges)


def _edge(start: Spot, end: Spot, layers: list[list[Spot]]) -> list[Spot]:
    path = [start]
    for layer in range(start.layer + 1, end.layer):
        bend = Spot(layer, BEND)
        layers[layer].append(bend)
        path.append(bend)
    path.append(end)
    for upper, lower in itertools.pairwise(path):
        upper.below.append(lower)
        lower.above.append(upper)
    return path


def _settle(layer: list[Spot], downwards: bool) -> None:
    """Order and place a layer by the middle of its neighbours."""
    wishes = {}
    for spot in layer:
        around = (spot.above if downwards else spot.below) or spot.above or spot.below
        wishes[id(spot)] = sum(one.x for one in around) / len(around) if around else spot.x
    layer.sort(key=lambda spot: (wishes[id(spot)], spot.x))
    _pack(layer, [wishes[id(spot)] for spot in layer])


def _pack(layer: list[Spot], wishes: list[float]) -> None:
    """Places without overlap, in this order, near the wishes: pushed right, pushed left, and the middle."""
    if not layer:
        return
    gaps = [(one.width + other.width) / 2 for one, other in itertools.pairwise(layer)]
    right, left = list(wishes), list(wishes)
    for place, gap in enumerate(gaps):
        right[place + 1] = max(right[place + 1], right[place] + gap)
    for place in range(len(gaps) - 1, -1, -1):
        left[place] = min(left[place], left[place + 1] - gaps[place])
    for spot, high, low in zip(layer, right, left, strict=True):
        spot.x = (high + low) / 2
