"""Graphs run by `compute` alone, and what differences say about them: nothing here needs an engine."""

from types import SimpleNamespace

import numpy as np
import pytest

from labkit.localise import numbered

STEP = 2e-3
NEAR = 1e-7  # of differences with two steps: their error is STEP**4, and rounding 1e-13

# The operations whose rules you write: a rule of another blank is not asked about here.
BLANKS = {"BroadcastTo", "Sum", "Transpose", "MatMul", "Relu", "Gather", "LogSumExp"}


def follow(nodes, arrays):
    """The array of every node, by `compute`; what `arrays` holds already stays."""
    arrays = dict(arrays)
    with np.errstate(all="ignore"):
        for node in nodes:
            if node not in arrays:
                known = node.op is None
                operands = () if known else [arrays[one] for one in node.inputs]
                arrays[node] = node.value if known else node.op.compute(*operands)
    return arrays


def values(nodes, feeds):
    """The arrays of nodes, given those of variables."""
    arrays = follow(numbered(nodes), feeds)
    return [np.array(arrays[node]) for node in nodes]


def slopes(function, array):
    """The derivative of a number by each entry of an array: central differences with two steps."""
    found = np.zeros(array.shape)
    for place in np.ndindex(array.shape):

        def at(step, place=place):
            moved = np.array(array)
            moved[place] += step
            return function(moved)

        wide, narrow = ((at(h) - at(-h)) / (2 * h) for h in (STEP, STEP / 2))
        found[place] = narrow + (narrow - wide) / 3
    return found


def formula(node):
    """A node in words: its operation, and from which shapes to which."""
    shapes = ", ".join(str(one.shape) for one in node.inputs)
    state = ", ".join(f"{name}={value}" for name, value in vars(node.op).items())
    return f"{node.op.name}({state}): {shapes} -> {node.shape}"


def moved_along(nodes, feeds, inputs, directions):
    """How nodes move as the inputs move along the directions: differences with two steps."""

    def at(step):
        new = {one: feeds[one] + step * way for one, way in zip(inputs, directions)}
        return values(nodes, feeds | new)

    wide, narrow = ([(a - b) / (2 * h) for a, b in zip(at(h), at(-h))] for h in (STEP, STEP / 2))
    return [one + (one - other) / 3 for one, other in zip(narrow, wide)]


@pytest.fixture
def differences():
    """What stands above, for the tests: functions cannot be imported from here."""
    return SimpleNamespace(values=values, slopes=slopes, moved=moved_along, near=NEAR)


@pytest.fixture
def tensor(draw):
    """Random arrays of a shape, with few digits."""

    def make(*shape, low=-2.0, high=2.0):
        return np.array(draw.many(int(np.prod(shape)), low, high)).reshape(shape)

    return make


@pytest.fixture
def rule(lab, tensor, expect):
    """Checks a rule at one node: rule(node, feeds). What it returns must be right, and its graph too."""

    def partials(node, adjoint):
        call = f"{type(node.op).__name__}.vjp(adjoint, node), node = {formula(node)}"
        answer = node.op.vjp(adjoint, node)
        expect.holds(isinstance(answer, tuple), f"type({call})", type(answer).__name__)
        expect.equal(f"len({call})", len(answer), len(node.inputs))
        return call, answer

    def at(node, feeds):
        """One node's rule against differences of its own compute."""
        adjoint, vector = lab.graph.variable(node.shape, node.dtype), tensor(*node.shape)
        call, answer = partials(node, adjoint)
        arrays = follow(numbered([node]), feeds)
        operands = [arrays[one] for one in node.inputs]
        for slot, (one, operand, partial) in enumerate(zip(node.inputs, operands, answer)):
            if one.dtype.kind != "f":
                expect.holds(partial is None, f"({call})[{slot}]", partial)
                continue
            expect.holds(isinstance(partial, lab.graph.Node), f"({call})[{slot}]", partial)
            kind = f"{partial.dtype} {partial.shape}"
            expect.equal(f"({call})[{slot}], dtype and shape", kind, f"{one.dtype} {one.shape}")

            def total(moved, slot=slot):
                return float(np.sum(vector * node.op.compute(*operands[:slot], moved, *operands[slot + 1 :])))

            (got,) = values([partial], {**arrays, adjoint: vector})
            right = slopes(total, operand)
            expect.equal(f"({call})[{slot}], adjoint = {vector.tolist()}", got, right, NEAR)
        return [one for one in answer if one is not None], {**arrays, adjoint: vector}

    def check(node, feeds):
        returned, arrays = at(node, feeds)
        known = {*numbered([node])}
        for new in numbered(returned):
            own = new.op is not None and new not in known and type(new.op).__name__ not in BLANKS
            if own and new.dtype.kind == "f":
                at(new, follow(numbered(returned), arrays))

    return check


@pytest.fixture
def kinds(lab, expect):
    """Checks that partial adjoints have the shapes of the inputs and stay float32."""

    def check(operation, *shapes):
        inputs = [lab.graph.variable(shape, np.float32) for shape in shapes]
        node = operation(*inputs)
        adjoint = lab.graph.variable(node.shape, node.dtype)
        call = f"{type(node.op).__name__}.vjp(adjoint, node), node = {formula(node)}"
        answer = node.op.vjp(adjoint, node)
        for slot, (one, partial) in enumerate(zip(node.inputs, answer)):
            kind = f"{partial.dtype} {partial.shape}"
            expect.equal(f"({call})[{slot}], dtype and shape", kind, f"{one.dtype} {one.shape}")

    return check


@pytest.fixture
def adjoints(lab, expect):
    """Checks the gradients of outputs by every node of a small graph; the first wrong one is named."""

    def check(call, outputs, feeds, vectors):
        order = [node for node in numbered(outputs) if node.dtype.kind == "f" and node.value is None]
        names, arrays = numbered(outputs), follow(numbered(outputs), feeds)
        gradients = lab.engine.gradients(outputs, order, vectors)
        expect.holds(isinstance(gradients, list), f"type({call})", type(gradients).__name__)
        expect.equal(f"len({call})", len(gradients), len(order))
        got = dict(zip(order, lab.engine.Executor(gradients)(feeds)))
        for node in reversed(order):

            def total(moved, node=node):
                kept = {one: arrays[one] for one in names if one.op is None} | {node: moved}
                after = follow(names, kept)
                return sum(float(np.sum(v * after[y])) for y, v in zip(outputs, vectors))

            place = names[node] if node.op is None else f"{names[node]} = {node.op.name}"
            used = ", ".join(names[one] for one in node.inputs)
            place += f"({used})" if used else ""
            right = slopes(total, arrays[node])
            expect.equal(f"{call}, by {place}", got[node], right, NEAR)

    return check


@pytest.fixture
def random_graph(lab, draw):
    """Builds a random graph on given variables, of operations whose rules are given: its top node."""
    operations = [
        lambda graph, a, b: a + b,
        lambda graph, a, b: a - b,
        lambda graph, a, b: graph.tanh(a * b),
        lambda graph, a, b: graph.cos(a) * b,
        lambda graph, a, b: a / (b * b + 2.0),
        lambda graph, a, b: graph.concatenate([a[1:], b[:1]]),
        lambda graph, a, b: graph.exp(-(a * a)) + b,
    ]

    def build(variables, size=6):
        nodes = list(variables)
        for _ in range(size):
            a, b = nodes[draw.index(len(nodes))], nodes[draw.index(len(nodes))]
            nodes.append(operations[draw.index(len(operations))](lab.graph, a, b))
        y = nodes[-1] * nodes[-2] - nodes[-3]
        for node in variables:
            y = y + node * 0.3
        return y

    return build
