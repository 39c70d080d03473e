"""Find the node at which a computation graph's derivatives go wrong, without a right engine to compare with.

    node_to_grad = reverse_mode(y)
    finding = locate(y, node_to_grad)          # None where all is right
    print(finding.place, finding.kind, finding.lines)

It needs a graph of nodes with .value .op .inputs, and .compute(*values) and .partials(values, value) of their
operations; no other code of the lab. What is right comes from difference quotients: of an operation's own
`compute` for a local derivative, of everything that follows a node for its adjoint.
Cost: quadratic in the size of the graph; meant for graphs of at most some hundred nodes.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labkit.differences import Difference, derivative

Node = Any  # of the student's own class
Expected = Difference | dict[Any, Any] | None  # a table's is a dictionary of these


@dataclass(frozen=True)
class Line:
    """One node of a drawn graph; `expected` is None where differences do not settle: at singular points."""

    name: str
    formula: str
    value: object
    got: object
    expected: object
    wrong: bool


@dataclass(frozen=True)
class Finding:
    """Where it goes wrong first.

    quantity: "adjoint" or "tangent", which the lines show.
    kind: "partials" (an operation's local derivative), "shape" (partials gives no tuple of the right
    length), "seed" (the output's own adjoint), "missing" (a node has no adjoint), "one-path" (an adjoint is
    the part from one user alone), "adjoint", "tangent".
    place: the node, as in `lines`. by: the operand of a local derivative, or the user of "one-path".
    """

    quantity: str
    kind: str
    place: str
    by: str
    got: object
    expected: object
    lines: tuple[Line, ...]


def locate(output: Node, node_to_grad: Mapping[Node, Any], seed: Any = 1.0) -> Finding | None:
    """The first thing wrong with the adjoints of a graph, or None.

    Local derivatives first, since wrong ones spoil every adjoint below. Then the node nearest to the output
    whose adjoint is wrong while those of its users are right.
    """
    walk = _Walk([output])
    expected = walk.adjoints(output, seed)
    wrong = {node for node in walk.order if not agree(node_to_grad.get(node), expected[node])}
    lines = walk.lines(node_to_grad, expected, wrong)
    fault = walk.local_fault("adjoint", lines)
    if fault is not None:
        return fault
    for node in reversed(walk.order):
        if node in wrong:
            place, got, want = walk.names[node], node_to_grad.get(node), shown(expected[node])
            user = walk.lone_user(node, got, expected)
            kind = "missing" if got is None else "one-path" if user else "adjoint"
            return Finding("adjoint", "seed" if node is output else kind, place, user, got, want, lines)
    return None


def locate_tangent(
    nodes: Sequence[Node], tangents: Sequence[Any], inputs: Sequence[Node], direction: Sequence[float]
) -> Finding | None:
    """The first thing wrong with the tangents of nodes, or None.

    nodes: all nodes of a graph that move. A wrong one is named where the tangents of its inputs are right.
    """
    walk = _Walk(nodes)
    got = dict(zip(nodes, tangents, strict=True))
    expected = dict(zip(nodes, _along(nodes, inputs, direction), strict=True))
    wrong = {node for node in nodes if not agree(got[node], expected[node])}
    lines = walk.lines(got, expected, wrong)
    fault = walk.local_fault("tangent", lines)
    if fault is not None:
        return fault
    for node in walk.order:
        if node in wrong:
            return Finding(
                "tangent", "tangent", walk.names[node], "", got[node], shown(expected[node]), lines
            )
    return None


def _along(nodes: Sequence[Node], inputs: Sequence[Node], direction: Sequence[float]) -> list[Expected]:
    """The derivative of each node's value as the inputs move in the direction."""

    def of(node: Node) -> Callable[[float], float]:
        def value(t: float) -> float:
            moved = {one: one.value + t * d for one, d in zip(inputs, direction, strict=True)}
            return float(replayed([node], moved)[0])

        return value

    return [derivative(of(node), 0.0) for node in nodes]


def numbered(outputs: Sequence[Node]) -> dict[Node, str]:
    """v1, v2, … for every node below the outputs: leaves first, then by levels, as the lecture counts."""
    levels: dict[Node, int] = {}
    stack: list[Node] = list(reversed(outputs))
    while stack:
        node = stack[-1]
        waiting = [operand for operand in node.inputs if operand not in levels]
        if waiting:
            stack += reversed(waiting)
            continue
        stack.pop()
        levels.setdefault(node, 1 + max((levels[operand] for operand in node.inputs), default=-1))
    return {node: f"v{i}" for i, node in enumerate(sorted(levels, key=levels.__getitem__), start=1)}


def replayed(outputs: Sequence[Node], changed: Mapping[Node, Any]) -> list[Any]:
    """The values of the outputs if some nodes had other values; nothing in the graph is touched."""
    values: dict[Node, Any] = dict(changed)
    for node in numbered(outputs):
        if node in values:
            continue
        if any(operand in values for operand in node.inputs):
            values[node] = node.op.compute(*(values.get(operand, operand.value) for operand in node.inputs))
    return [values.get(node, node.value) for node in outputs]


def partials_fault(node: Node) -> tuple[int | None, object, object] | None:
    """What is wrong with a node's local derivatives: (slot, got, expected); slot None for their number."""
    values = [operand.value for operand in node.inputs]
    got = node.op.partials(tuple(values), node.value)
    if not isinstance(got, tuple) or len(got) != len(values):
        return None, got, len(values)
    for slot, value in enumerate(values):

        def compute(moved: Any, slot: int = slot) -> float:
            return float(node.op.compute(*values[:slot], moved, *values[slot + 1 :]))

        expected = _by_differences(compute, value)
        if not agree(got[slot], expected):
            return slot, got[slot], shown(expected)
    return None


def agree(got: Any, expected: Expected) -> bool:
    """Whether a number, or a table's dictionary, is what differences say; where they say nothing, all is."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or not got.keys() <= expected.keys():
            return False
        return all(agree(got.get(key, 0.0), one) for key, one in expected.items())
    return expected is None or expected.allows(got)


def shown(expected: Expected) -> object:
    """What differences say, as a number or a dictionary; None where they say nothing."""
    if isinstance(expected, dict):
        return {key: shown(one) for key, one in expected.items()}
    return expected and expected.value


class _Walk:
    """One graph, numbered, with its users."""

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.names = numbered(outputs)
        self.order = list(self.names)

    def adjoints(self, output: Node, seed: Any) -> dict[Node, Expected]:
        """The adjoint of every node by perturbing it and running what follows."""
        return {node: _by_differences(self._followed(node, output, seed), node.value) for node in self.order}

    def _followed(self, node: Node, output: Node, seed: Any) -> Callable[[Any], float]:
        followers = self._followers(node)

        def run(value: Any) -> float:
            values = {node: value}
            for one in followers:
                values[one] = one.op.compute(*(values.get(operand, operand.value) for operand in one.inputs))
            result = values[output]
            if isinstance(result, dict):
                return math.fsum(seed.get(key, 0.0) * number for key, number in result.items())
            return float(seed) * float(result)

        return run

    def _followers(self, node: Node) -> list[Node]:
        """Everything that depends on a node, inputs first."""
        reached = {node}
        for one in self.order:
            if any(operand in reached for operand in one.inputs):
                reached.add(one)
        return [one for one in self.order if one in reached and one is not node]

    def local_fault(self, quantity: str, lines: tuple[Line, ...]) -> Finding | None:
        """A wrong local derivative, the one nearest to the output."""
        for node in reversed(self.order):
            fault = partials_fault(node) if node.inputs else None
            if fault is not None:
                slot, got, want = fault
                by = "" if slot is None else self.names[node.inputs[slot]]
                kind = "shape" if slot is None else "partials"
                return Finding(quantity, kind, self.names[node], by, got, want, lines)
        return None

    def lone_user(self, node: Node, got: Any, expected: Mapping[Node, Any]) -> str:
        """The user from which alone a wrong adjoint comes, if it does; "" otherwise."""
        for user, slot in self._uses(node):
            adjoint = shown(expected[user])
            partial = user.op.partials(tuple(operand.value for operand in user.inputs), user.value)[slot]
            if not isinstance(adjoint, float):
                continue
            if agree(got, _part(partial, adjoint)):
                return self.names[user]
        return ""

    def _uses(self, node: Node) -> Iterator[tuple[Node, int]]:
        for user in self.order:
            for slot, operand in enumerate(user.inputs):
                if operand is node:
                    yield user, slot

    def lines(
        self, got: Mapping[Node, Any], expected: Mapping[Node, Expected], wrong: set[Node]
    ) -> tuple[Line, ...]:
        """The whole graph, drawn."""
        return tuple(
            Line(
                name, self._formula(node), node.value, got.get(node), shown(expected.get(node)), node in wrong
            )
            for node, name in self.names.items()
        )

    def _formula(self, node: Node) -> str:
        if not node.inputs:
            return str(node.name or "")
        operands = [self.names[operand] for operand in node.inputs]
        if hasattr(node.op, "key"):
            return f"{operands[0]}[{node.op.key!r}]"
        if len(operands) == 2:
            return f"{operands[0]} {node.op.name} {operands[1]}"
        return f"{node.op.name}({', '.join(operands)})"


def _part(partial: Any, adjoint: float) -> Expected:
    """What one user passes on to a node."""
    if isinstance(partial, dict):
        return {key: Difference(number * adjoint, 0.0) for key, number in partial.items()}
    return Difference(partial * adjoint, 0.0)


def _by_differences(function: Callable[[Any], float], value: Any) -> Expected:
    """The derivative of a function of one node's value: by its number, or by each entry of a table."""
    if not isinstance(value, dict):
        return derivative(function, value)

    def of_entry(key: Any) -> Callable[[float], float]:
        return lambda number: function({**value, key: number})

    return {key: derivative(of_entry(key), number) for key, number in value.items()}
