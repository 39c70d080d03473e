"""`sweep(outputs)`: forward or reverse mode node by node, computed from the operations' own rules.

Source: Baydin et al., Automatic Differentiation in Machine Learning, JMLR 18(153), 2018, sections 3.1, 3.2.
"""

import dataclasses
import functools
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from . import folding, player
from .drawing import arranged, folded_note, picture, rows_of, say
from .item import Item, printable
from .local import Local, product, total
from .nodes import Nodes, number
from .svg import Animation, Shown
from .text import aligned

DOT, BAR = "\N{COMBINING DOT ABOVE}", "\N{COMBINING MACRON}"
MOST = 60  # nodes drawn


@dataclass(frozen=True)
class Step:
    """What happens at the node called `name`: lines of text; `now` stands in the node's box from here on.

    `edges` are (input, slot) of `user`, along which it happens. Places are those of `Nodes`.
    """

    name: str
    lines: tuple[str, ...]
    place: int
    now: str
    user: int
    edges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Sweep:
    """A sweep as `.steps`, `.text`, and `.html`: a picture with buttons, shown by notebooks."""

    steps: list[Step]
    title: str
    notes: list[str]
    language: str
    nodes: Nodes = field(repr=False)
    values: list[Any] = field(repr=False)

    @property
    def text(self) -> str:
        """All steps, numbered."""
        rows = []
        for count, step in enumerate(self.steps, 1):
            head = [f"{count}.", printable(step.name)]
            for line in step.lines:
                rows.append([*head, printable(line)])
                head = ["", ""]
        return "\n".join([printable(self.title), *aligned(rows), *self.notes])

    @functools.cached_property
    def html(self) -> str:
        """A piece of a page that needs nothing else; without a script it shows the last step and a table."""
        nodes, language = self.nodes, self.language
        shown = folding.shown(nodes.inputs, nodes.outputs(), MOST)
        values = {
            place: f"= {number(self.values[place])}" for place in shown if self.values[place] is not None
        }
        items = arranged(
            nodes, shown, [Item(nodes.label(k), value=values.get(k, "")) for k in shown], language
        )
        notes = [*self.notes, *folded_note(nodes, shown, language)]
        steps = self._seen(shown)
        try:
            svg = picture(items, self.title, language, self._animation(steps, shown))
        except ImportError as error:
            svg, notes = "", [*notes, str(error)]
        rows = [player.Row(step.name, step.lines) for step in steps]
        return player.html(svg, rows, self.title, notes, language)

    def _seen(self, shown: Sequence[int]) -> list[Step]:
        """The steps at shown nodes; a run of others becomes one."""
        drawn = set(shown)
        seen: list[Step] = []
        for there, run in itertools.groupby(self.steps, lambda step: {step.place, step.user} <= drawn):
            steps = list(run)
            text = say("hidden-steps", self.language, count=len(steps))
            seen += steps if there else [Step("⋯", (text,), -1, "", -1)]
        return seen

    def _animation(self, steps: Sequence[Step], shown: Sequence[int]) -> Animation:
        rows = rows_of(self.nodes, shown)
        lines: list[list[Shown]] = [[] for _ in range(len(shown) + (len(shown) < len(self.nodes.nodes)))]
        lit: dict[int, list[int]] = {}
        edges: dict[tuple[int, int, int], list[int]] = {}
        before = self._earlier_slots(shown)
        for count, step in enumerate(steps):
            if step.place < 0:
                continue
            row = rows[step.place]
            if lines[row]:
                lines[row][-1] = dataclasses.replace(lines[row][-1], stop=count)
            lines[row].append(Shown(step.now, count))
            lit.setdefault(row, []).append(count)
            for i, slot in step.edges:
                if i in rows:
                    edge = rows[i], rows[step.user], before[step.user, slot]
                    edges.setdefault(edge, []).append(count)
        return Animation(lines, lit, edges)

    def _earlier_slots(self, shown: Sequence[int]) -> dict[tuple[int, int], int]:
        """{(user, slot): in how many slots before it the same input stands}."""
        found = {}
        for user in shown:
            seen: Counter[int] = Counter()
            for i, slot in self.nodes.uses[user]:
                found[user, slot] = seen[i]
                seen[i] += 1
        return found

    def _repr_html_(self) -> str:
        return self.html

    def __str__(self) -> str:
        return self.text


def sweep(
    outputs: Any,
    mode: Literal["forward", "reverse"],
    seed: Any = 1.0,
    inputs: Sequence[Any] | None = None,
    direction: Sequence[Any] | None = None,
    language: str = "zh",
    title: str = "",
) -> Sweep:
    """One pass over the graph of a node or of a list of nodes.

    forward: `inputs`, else all drawn leaves, move in `direction`, else the first one alone by 1.
    reverse: every output starts with `seed`, a number, or a list with one for each.
    Raises: TypeError, ValueError.
    """
    if mode not in ("forward", "reverse"):
        raise ValueError(say("bad-mode", language, mode=repr(mode)))
    nodes = Nodes(outputs, language, inputs=inputs or ())
    local = Local(nodes, language)
    if mode == "forward":
        steps = _forward(nodes, local, _tangents(nodes, inputs, direction, language), language)
    else:
        steps = _reverse(nodes, local, _seeds(nodes, seed, language), language)
    return Sweep(steps, title or say(mode, language), local.notes, language, nodes, local.values)


def _tangents(
    nodes: Nodes, inputs: Sequence[Any] | None, direction: Sequence[Any] | None, language: str
) -> dict[int, Any]:
    """{place: tangent} of the inputs that move; one with the tangent 0 is held fixed."""
    moving = [place for place, own in enumerate(nodes.uses) if not nodes.nodes[place].inputs]
    if inputs is not None:
        moving = [nodes.place[id(node)] for node in inputs]
    given = [1.0, *[0.0] * (len(moving) - 1)] if direction is None else list(direction)
    if len(given) != len(moving):
        raise ValueError(say("bad-direction", language, inputs=len(moving), numbers=len(given)))
    return {place: tangent for place, tangent in zip(moving, given, strict=False) if tangent}


def _seeds(nodes: Nodes, seed: Any, language: str) -> list[Any]:
    outputs = nodes.outputs()
    seeds = list(seed) if isinstance(seed, list | tuple) else [seed] * len(outputs)
    if len(seeds) != len(outputs):
        raise ValueError(say("bad-seed", language, outputs=len(outputs), numbers=len(seeds)))
    return seeds


def _forward(nodes: Nodes, local: Local, tangents: dict[int, Any], language: str) -> list[Step]:
    steps = []
    for place, name in enumerate(nodes.names):
        own = accented(name, DOT)
        value = f"{nodes.label(place)} = {number(local.values[place])}"
        uses = nodes.uses[place]
        terms, numbers, parts = [], [], []
        for i, slot in uses:
            partial = local.partials[place][slot]
            terms.append(f"{_derivative(nodes, place, i, slot)} · {accented(nodes.names[i], DOT)}")
            numbers.append(f"{_factor(partial)} × {_factor(tangents.get(i, 0.0))}")
            if i in tangents:  # what is held fixed adds nothing, even beside a NaN
                parts.append(product(partial, tangents[i]))
        if parts:
            tangents[place] = total(parts)
        now = f"{own} = {number(tangents.get(place, 0.0))}"
        if parts:
            line = f"{own} = {_sum(terms)} = {_sum(numbers)} = {number(tangents[place])}"
        else:
            kind = "input" if not uses and place in tangents else "unaffected"
            line = f"{now}  ({say(kind, language)})"
        steps.append(Step(name, (value, line), place, now, place, tuple(uses)))
    return steps


def _reverse(nodes: Nodes, local: Local, seeds: Sequence[Any], language: str) -> list[Step]:
    outputs = nodes.outputs()
    awaited = Counter([*outputs, *(i for own in nodes.uses for i, _ in own)])
    received: dict[int, list[Any]] = {}
    sums: dict[int, Any] = {}
    steps = []

    def arrive(place: int, part: Any, line: str, user: int, edges: tuple[tuple[int, int], ...]) -> None:
        parts = received.setdefault(place, [])
        parts.append(part)
        sums[place] = total([sums.get(place, 0.0), part])
        own = accented(nodes.names[place], BAR)
        now = f"{own} = {number(sums[place])}"
        lines = [line]
        if len(parts) < awaited[place]:
            now += " + …"
        elif len(parts) > 1:
            bypass = say("bypass", language, count=len(parts))
            lines.append(f"{bypass}: {own} = {_sum(list(map(_factor, parts)))} = {number(sums[place])}")
        steps.append(Step(nodes.names[place], tuple(lines), place, now, user, edges))

    for place, seed in zip(outputs, seeds, strict=True):
        own = accented(nodes.names[place], BAR)
        sign = "+=" if awaited[place] > 1 else "="
        arrive(place, seed, f"{own} {sign} {number(seed)}  ({say('seed', language)})", place, ())
    for user in range(len(nodes.nodes) - 1, -1, -1):
        adjoint = sums.get(user, 0.0)
        for i, slot in nodes.uses[user]:
            partial = local.partials[user][slot]
            part = product(partial, adjoint)
            line = (
                f"{accented(nodes.names[i], BAR)} += "
                f"{_derivative(nodes, user, i, slot)} · {accented(nodes.names[user], BAR)}"
                f" = {_factor(partial)} × {_factor(adjoint)} = {number(part)}"
            )
            arrive(i, part, line, user, ((i, slot),))
    return steps


def accented(name: str, accent: str) -> str:
    """v1 with a dot or a bar over its letter; a longer name in brackets behind one."""
    if re.fullmatch(r"[^\W\d_]\d*", name):
        return name[0] + accent + name[1:]
    return f"v{accent}[{name}]"


def _derivative(nodes: Nodes, user: int, i: int, slot: int) -> str:
    """∂v6/∂v3; where v3 is used in more than one slot, ∂v6/∂(2), the slots counted from 1."""
    return f"∂{nodes.names[user]}/∂{f'({slot + 1})' if i in nodes.repeated[user] else nodes.names[i]}"


def _sum(terms: Sequence[str]) -> str:
    """Terms with + between; of many, the first and the last."""
    ends = 4
    return " + ".join(terms if len(terms) <= 2 * ends else [*terms[:ends], "…", *terms[-ends:]])


def _factor(value: Any) -> str:
    """A number in a product or sum, negative ones in brackets."""
    text = number(value)
    return f"({text})" if text.startswith("-") else text
