"""What lab 1's grading tests must not let through: walks that are no orders, engines that are none."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.judging.draws import Draw
from autograder.judging.judge import TOLERANCE
from autograder.key import VARIANTS

ALL = range(VARIANTS)
ORDER, MODES = {"topological-order"}, {"forward-mode", "reverse-mode", "bypass", "jacobian"}


def copy_of(module, **changes):
    """A module's names with some replaced."""
    return SimpleNamespace(**{**vars(module), **changes})


# --- Orders


def by_visit(next_one, last_first):
    """A walk that marks a node when it visits it."""

    def walk(outputs):
        waiting, order = list(outputs), []
        while waiting:
            node = waiting.pop(next_one)
            if node not in order:
                order.append(node)
                waiting += node.inputs[::-1] if last_first else node.inputs
        return order

    return walk


def by_mark(next_one, last_first, told):
    """A walk that marks a node when it first sees it, told in the order of the marks or of the visits."""

    def walk(outputs):
        marked, visited = list(dict.fromkeys(outputs)), []
        waiting = list(marked)
        while waiting:
            node = waiting.pop(next_one)
            visited.append(node)
            for operand in node.inputs[::-1] if last_first else node.inputs:
                if operand not in marked:
                    marked.append(operand)
                    waiting.append(operand)
        return marked if told == "marks" else visited

    return walk


WALKS = {
    f"{name}{', last input first' * last_first}": walk
    for last_first in (False, True)
    for name, walk in {
        "depth first": by_visit(-1, last_first),
        "breadth first": by_visit(0, last_first),
        "depth first, marked when seen": by_mark(-1, last_first, "visits"),
        "depth first, as they were marked": by_mark(-1, last_first, "marks"),
    }.items()
}


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_turned_round_earns_nothing(graph, earned, walk):
    def topological_order(outputs):
        return WALKS[walk](graph.as_list(outputs))[::-1]

    lab = SimpleNamespace(graph=copy_of(graph, topological_order=topological_order))
    assert {tasks["topological-order"] for tasks in earned(lab, ORDER, ALL)} == {0}


def test_another_right_order_earns_all(graph, earned):
    def kahn(outputs):
        missing, users, stack = {}, {}, graph.as_list(outputs)
        while stack:
            node = stack.pop()
            if node not in missing:
                missing[node] = len(node.inputs)
                for operand in node.inputs:
                    users.setdefault(operand, []).append(node)
                    stack.append(operand)
        ready, order = [node for node in missing if not missing[node]], []
        while ready:
            order.append(ready.pop(0))
            for user in users.get(order[-1], ()):
                missing[user] -= 1
                if not missing[user]:
                    ready.append(user)
        return order

    lab = SimpleNamespace(graph=copy_of(graph, topological_order=kahn))
    assert {tasks["topological-order"] for tasks in earned(lab, ORDER, ALL)} == {10}


def test_G46_a_limit_raised_by_an_import_does_not_carry_recursion(graph, earned):
    def recursive(outputs):
        order = {}

        def visit(node):
            if node not in order:
                for operand in node.inputs:
                    visit(operand)
                order[node] = None

        for node in graph.as_list(outputs):
            visit(node)
        return list(order)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        lab = SimpleNamespace(graph=copy_of(graph, topological_order=recursive))
        (points,) = earned(lab, ORDER | {"scale"})
    finally:
        sys.setrecursionlimit(before)
    assert points["topological-order"] == 10
    assert points["scale"] < 6


@pytest.mark.parametrize("order", [None, {}, (), iter(())])
def test_what_is_no_list_earns_nothing(graph, earned, order):
    lab = SimpleNamespace(graph=copy_of(graph, topological_order=lambda outputs: order))
    assert earned(lab, ORDER) == [{"topological-order": 0}]


def test_a_forged_verdict_beside_the_students_code_earns_nothing(graph, programs, earned):
    def forged(lab, **inputs):
        """All that its reader compares is right; the order is one turned round."""
        places = programs.order_of_graph(SimpleNamespace(graph=graph), **inputs)
        last = places["places"].max()
        return places | {"places": np.where(places["places"] < 0, -1, last - places["places"])}

    lab = SimpleNamespace(graph=copy_of(graph, topological_order=lambda outputs: []))
    assert earned(lab, ORDER, beside=copy_of(programs, order_of_graph=forged)) == [{"topological-order": 0}]


# --- Engines


def test_G31_a_buffer_that_the_next_call_overwrites_is_seen(graph, engine, earned):
    buffers = {}

    def central_difference(f, x, h=None):
        gradient, evaluations = engine.central_difference(f, x, h)
        buffer = buffers.setdefault((gradient.shape, gradient.dtype), gradient)
        buffer[...] = gradient
        return buffer, evaluations

    lab = SimpleNamespace(graph=graph, engine=copy_of(engine, central_difference=central_difference))
    (points,) = earned(lab, {"central-difference"})
    assert 0 < points["central-difference"] < 10


def test_zeros_earn_nothing(graph, engine, earned):
    zeros = copy_of(
        engine,
        forward_mode=lambda outputs, inputs, direction: [0.0 for _ in graph.as_list(outputs)],
        reverse_mode=lambda y, seed=1.0, record=None: dict.fromkeys(graph.topological_order(y), 0.0),
        jacobian=lambda outputs, inputs, mode="reverse": np.zeros((len(graph.as_list(outputs)), len(inputs))),
    )
    for points in earned(SimpleNamespace(graph=graph, engine=zeros), MODES, range(4)):
        assert points == dict.fromkeys(MODES, 0)


def reversed_sums(graph, engine):
    """Reverse mode that adds a node's partial adjoints in the opposite order."""

    def reverse_mode(output, seed=1.0, record=None):
        record = {} if record is None else record
        engine.reverse_mode(output, seed, record)
        partial_adjoints, node_to_grad = {output: [seed]}, {}
        for node in graph.topological_order(output)[::-1]:
            node_to_grad[node] = sum(partial_adjoints[node][::-1])
            for operand, partial in zip(
                node.inputs,
                node.op.partials(node.input_values, node.value) if node.inputs else (),
                strict=True,
            ):
                partial_adjoints.setdefault(operand, []).append(partial * node_to_grad[node])
        return node_to_grad

    return reverse_mode


def test_the_tolerance_lies_between_right_answers_and_differences_on_random_graphs(graph, engine, programs):
    lab, other = SimpleNamespace(graph=graph, engine=engine), reversed_sums(graph, engine)
    tolerance = TOLERANCE[np.dtype(np.float64)]
    for seed in range(2000):
        draw = Draw(seed)
        rows, x = draw.dag(10), draw.uniform(-1.5, 1.5, 3)
        nodes = programs.summit(lab, rows, x)
        right, resummed = (
            np.array([adjoints[node] for node in nodes[:3]])
            for adjoints in (engine.reverse_mode(nodes[-1]), other(nodes[-1]))
        )
        differences, _ = engine.central_difference(
            lambda x, rows=rows: programs.summit(lab, rows, x)[-1].value, x
        )
        size = np.linalg.norm(right)
        assert np.abs(resummed - right).max() < 0.1 * tolerance * size, seed
        assert np.abs(differences - right).max() > 5 * tolerance * size, seed


def test_a_node_over_itself_has_zero_gradient_and_still_tells_zeros_from_an_answer(graph, engine, programs):
    told = programs.both_slots(SimpleNamespace(graph=graph, engine=engine), "divide", 3.0, -0.7)
    assert told["adjoints"] == pytest.approx([0, -0.7])
