"""Where a submission's run of a program parts from the reference's: the first wrong node of its graph.

What a lab's `trace` program told of both runs is compared: first how the graph is built, then values, then
local derivatives, then tangents from the inputs on or adjoints from the output back. The submission's telling
is as little to be trusted as any reply: it explains a verdict and never makes one.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Literal, Self

import msgspec
from msgspec import Meta

LONGEST = 200  # nodes of a telling
NEAR = 1e-9  # relative: a difference that a person can see
NOISE = 1e-12  # of the largest number of the pass

Names = Annotated[list[Annotated[str, Meta(max_length=40)]], Meta(max_length=LONGEST)]
Places = Annotated[list[Annotated[int, Meta(ge=0, lt=LONGEST)]], Meta(max_length=2 * LONGEST)]
Number = float | None
Numbers = Annotated[list[Number], Meta(max_length=2 * LONGEST)]


class Trace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One pass, node by node in order of creation; `inputs` and `partials` run through all nodes' slots.

    `names` are operations, "variable", "table", or "" for a constant. `numbers` are adjoints, tangents, or
    places in an order (-1: missing, -n: there n times). None stands for what is no number.
    """

    kind: Literal["graph", "order", "forward_mode", "reverse_mode"]
    names: Names
    counts: Places
    inputs: Places
    outputs: Places
    values: Numbers
    partials: Numbers
    numbers: Numbers

    @classmethod
    def told(cls, value: object) -> Self:
        """A pass as it crossed the wire. Raises: ValueError."""
        trace = msgspec.convert(value, cls)
        size = len(trace.names)
        whole = len(trace.counts) == len(trace.values) == size and len(trace.numbers) in (0, size)
        if not whole or sum(trace.counts) != len(trace.inputs) or len(trace.inputs) != len(trace.partials):
            raise ValueError("the lists of a pass do not fit together")
        if any(i >= node for node in range(size) for i, _ in trace.slots(node)) or any(
            i >= size for i in trace.outputs
        ):
            raise ValueError("an input is no earlier node")
        return trace

    def slots(self, node: int) -> list[tuple[int, Number]]:
        """Input and local derivative of every slot of a node."""
        start = sum(self.counts[:node])
        stop = start + self.counts[node]
        return list(zip(self.inputs[start:stop], self.partials[start:stop], strict=True))

    def uses(self, node: int) -> Iterator[tuple[int, Number]]:
        """User and local derivative of every slot that a node fills."""
        for user in range(len(self.names)):
            for i, partial in self.slots(user):
                if i == node:
                    yield user, partial

    def number(self, node: int) -> Number:
        """The adjoint, tangent or place of a node."""
        return self.numbers[node] if self.numbers else None

    def is_constant(self, node: int) -> bool:
        """Whether a node stands for a number of the formula."""
        return not self.names[node]


class Parting(msgspec.Struct, frozen=True):
    """The first node that is not as it should be. `other` is a second node: a slot's input, a user.

    `parts` are what the node's number is the sum of, as (node, local derivative, that node's number).
    `mistake` names what the wrong number looks like, "" if it looks like nothing known.
    """

    kind: Literal["structure", "value", "partial", "tangent", "adjoint", "order"]
    node: int
    expected: Number = None
    got: Number = None
    other: int | None = None
    parts: list[tuple[int, Number, Number]] = []
    mistake: str = ""


def first_parting(own: Trace, right: Trace) -> Parting | None:
    """Where `own` parts from `right`; None where no node says so."""
    if own.kind != right.kind:
        return None
    if (node := _structure(own, right)) is not None:
        # Another graph of the same value is another right way to write it.
        wrong = [_far(_values(own), _values(right))] if len(own.outputs) == len(right.outputs) else [True]
        return Parting("structure", node) if any(wrong) else None
    return _value(own, right) or _partial(own, right) or _number(own, right)


def _values(trace: Trace) -> list[Number]:
    return [trace.values[node] for node in trace.outputs]


def _structure(own: Trace, right: Trace) -> int | None:
    """The first node that is built in another way; the last one of both if a graph merely ends."""
    for node in range(min(len(own.names), len(right.names))):
        ours, theirs = ((trace.names[node], [i for i, _ in trace.slots(node)]) for trace in (own, right))
        if ours != theirs:
            return node
    if len(own.names) != len(right.names) or own.outputs != right.outputs:
        return min(len(own.names), len(right.names)) - 1
    return None


def _value(own: Trace, right: Trace) -> Parting | None:
    for node, (got, expected) in enumerate(zip(own.values, right.values, strict=True)):
        if _differ(got, expected, 0.0):
            return Parting("value", node, expected, got)
    return None


def _partial(own: Trace, right: Trace) -> Parting | None:
    for node in range(len(right.names)):
        slots = right.slots(node)
        for place, ((other, expected), (_, got)) in enumerate(zip(slots, own.slots(node), strict=True)):
            if right.is_constant(other) or not _differ(got, expected, 0.0):
                continue
            rest = [partial for i, (_, partial) in enumerate(slots) if i != place]
            mistake = "swapped" if any(not _differ(got, one, 0.0) for one in rest) else _sign(got, expected)
            return Parting("partial", node, expected, got, other, mistake=mistake)
    return None


def _number(own: Trace, right: Trace) -> Parting | None:
    if right.kind == "order":
        return _order(own)
    scale = max((abs(one) for one in right.numbers if one is not None and math.isfinite(one)), default=0.0)
    nodes = range(len(right.names))
    backwards = right.kind == "reverse_mode"
    for node in reversed(nodes) if backwards else nodes:
        got, expected = own.number(node), right.number(node)
        if right.is_constant(node) or not _differ(got, expected, scale):
            continue
        around = right.uses(node) if backwards else iter(right.slots(node))
        parts = [(other, partial, right.number(other)) for other, partial in around]
        parts = [part for part in parts if backwards or not right.is_constant(part[0])]
        mistake = _mistake(got, expected, parts, scale, is_start=backwards and node in right.outputs)
        kind: Literal["adjoint", "tangent"] = "adjoint" if backwards else "tangent"
        return Parting(kind, node, expected, got, parts=parts, mistake=mistake)
    return None


def _order(own: Trace) -> Parting | None:
    """An order breaks a law by itself: nothing to compare with."""
    places = [place or 0.0 for place in own.numbers]
    for node, place in enumerate(places):
        if place < 0:
            return Parting("order", node, 1.0, 0.0 if place == -1 else -place)
        for i, _ in own.slots(node):
            if places[i] > place:
                return Parting("order", node, other=i)
    return None


def _mistake(
    got: Number, expected: Number, parts: list[tuple[int, Number, Number]], scale: float, is_start: bool
) -> str:
    """What a wrong number looks like."""
    if got is None:
        return "missing"
    if is_start and not _differ(got, 1.0, 0.0):
        return "seed"
    known = [(partial, number) for _, partial, number in parts if partial is not None and number is not None]
    if len(known) > 1 and any(not _differ(got, partial * number, scale) for partial, number in known):
        return "one-path"
    if known and not _differ(got, sum(partial for partial, _ in known), scale):
        return "chain"
    return _sign(got, expected)


def _sign(got: Number, expected: Number) -> str:
    return "sign" if got and not _differ(-got, expected, 0.0) else ""


def _far(got: list[Number], expected: list[Number]) -> bool:
    return any(_differ(one, other, 0.0) for one, other in zip(got, expected, strict=True))


def _differ(got: Number, expected: Number, scale: float) -> bool:
    """Whether two numbers are told apart; NaN and infinities are like themselves."""
    if got is None or expected is None:
        return got is not expected
    if math.isnan(got) or math.isnan(expected):
        return math.isnan(got) != math.isnan(expected)
    if math.isinf(got) or math.isinf(expected):
        return got != expected
    return abs(got - expected) > NEAR * abs(expected) + NOISE * scale
