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
    """One node of a drawn graph. `expected` is None where differences do not settle, as at a singular point."""

    name: str
    formula: str
    value: object
    got: object
    expected: object
    wrong: bool


@dataclass(frozen=True)
class Finding:
    """Where it goes wrong first, seen from the output.

    kind: "partials" (an operation's local derivative), "shape" (partials gives no tuple of one number for each
    input), "missing" (a node has no adjoint), "adjoint", or "one-path": an adjoint that is the part from one user alone.
    place: the node, as in `lines`. by: the operand that a local derivative is for, or the user of "one-path".
    """

    kind: str
    place: str
    by: str
    got: object
    expected: object
    lines: tuple[Line, ...]


def locate(output: Node, node_to_grad: Mapping[Node, Any], seed: Any = 1.0) -> Finding | None:
    """The first thing wrong with the adjoints of a graph, or None.

    Local derivatives first, since wrong ones spoil every adjoint below. Then the node nearest to the output whose
    adjoint is wrong while those of its users are right.
    """
    walk = _Walk(output)
    expected = walk.adjoints(seed)
    wrong = {node for node in walk.order if not agree(node_to_grad.get(node), expected[node])}
    lines = tuple(walk.line(node, node_to_grad.get(node), expected[node], node in wrong) for node in walk.order)
    fault = walk.local_fault()
    if fault is not None:
        node, slot, got, want = fault
        if slot is None:
            return Finding("shape", walk.names[node], "", got, want, lines)
        return Finding("partials", walk.names[node], walk.names[node.inputs[slot]], got, want, lines)
    for node in reversed(walk.order):
        if node in wrong:
            place, got, want = walk.names[node], node_to_grad.get(node), shown(expected[node])
            if got is None:
                return Finding("missing", place, "", None, want, lines)
            user = walk.lone_user(node, got, expected)
            return Finding("one-path" if user else "adjoint", place, user, got, want, lines)
    return None


def draw(output: Node) -> tuple[Line, ...]:
    """The lines of a graph, without derivatives."""
    walk = _Walk(output)
    return tuple(walk.line(node, None, None, False) for node in walk.order)


def numbered(outputs: Sequence[Node]) -> dict[Node, str]:
    """v1, v2, … for every node below the outputs: leaves first, then level by level, as the lecture counts."""
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
    """What is wrong with a node's local derivatives: (slot, got, expected); slot None where their number is."""
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
    """Whether a number, or a table's dictionary, is what differences say; where they say nothing, anything is."""
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

    def __init__(self, output: Node) -> None:
        self.output = output
        self.names = numbered([output])
        self.order = list(self.names)

    def adjoints(self, seed: Any) -> dict[Node, Expected]:
        """The adjoint of every node by perturbing it and running what follows."""
        return {node: _by_differences(self._followed(node, seed), node.value) for node in self.order}

    def _followed(self, node: Node, seed: Any) -> Callable[[Any], float]:
        followers = self._followers(node)

        def output(value: Any) -> float:
            values = {node: value}
            for one in followers:
                values[one] = one.op.compute(*(values.get(operand, operand.value) for operand in one.inputs))
            result = values[self.output]
            if isinstance(result, dict):
                return math.fsum(seed.get(key, 0.0) * number for key, number in result.items())
            return float(seed) * float(result)

        return output

    def _followers(self, node: Node) -> list[Node]:
        """Everything that depends on a node, inputs first."""
        reached = {node}
        for one in self.order:
            if any(operand in reached for operand in one.inputs):
                reached.add(one)
        return [one for one in self.order if one in reached and one is not node]

    def local_fault(self) -> tuple[Node, int | None, object, object] | None:
        for node in reversed(self.order):
            if node.inputs:
                fault = partials_fault(node)
                if fault is not None:
                    return (node, *fault)
        return None

    def lone_user(self, node: Node, got: Any, expected: Mapping[Node, Any]) -> str:
        """The user from which alone a wrong adjoint comes, if it does; "" otherwise."""
        for user, slot in self._uses(node):
            adjoint = shown(expected[user])
            partial = user.op.partials(tuple(operand.value for operand in user.inputs), user.value)[slot]
            if not isinstance(adjoint, float):
                continue
            part = partial * adjoint
            if agree(got, _exactly(part)):
                return self.names[user]
        return ""

    def _uses(self, node: Node) -> Iterator[tuple[Node, int]]:
        for user in self.order:
            for slot, operand in enumerate(user.inputs):
                if operand is node:
                    yield user, slot

    def line(self, node: Node, got: object, expected: Expected, wrong: bool) -> Line:
        return Line(self.names[node], self._formula(node), node.value, got, shown(expected), wrong)

    def _formula(self, node: Node) -> str:
        if not node.inputs:
            return str(node.name or "")
        operands = [self.names[operand] for operand in node.inputs]
        if hasattr(node.op, "key"):
            return f"{operands[0]}[{node.op.key!r}]"
        if len(operands) == 2:
            return f"{operands[0]} {node.op.name} {operands[1]}"
        return f"{node.op.name}({', '.join(operands)})"


def _exactly(part: Any) -> Expected:
    if isinstance(part, dict):
        return {key: Difference(number, 0.0) for key, number in part.items()}
    return Difference(part, 0.0)


def _by_differences(function: Callable[[Any], float], value: Any) -> Expected:
    """The derivative of a function of one node's value: by its number, or by each entry of a table."""
    if not isinstance(value, dict):
        return derivative(function, value)

    def of_entry(key: Any) -> Callable[[float], float]:
        return lambda number: function({**value, key: number})

    return {key: derivative(of_entry(key), number) for key, number in value.items()}
