"""What lab 2's grading tests must not let through, and how far right answers are apart."""

from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from autograder.course import load_course
from autograder.judging.draws import Draw

ROOT = Path(__file__).parents[3]
GRAPHS = 1e-11  # what test_gradients.py accepts on random graphs
ENGINE = {"gradients", "several-outputs", "jvp", "hvp", "higher-order", "scale"}
RULES = {"broadcast-to", "sum", "transpose", "matmul", "relu", "gather", "logsumexp"}
OPERATIONS = ("BroadcastTo", "Sum", "Transpose", "MatMul", "Relu", "Gather", "LogSumExp")


def copy_of(module, **changes):
    """A module's names with some replaced."""
    return SimpleNamespace(**{**vars(module), **changes})


def own_graph():
    """A graph.py whose rules may be replaced."""
    graph = ModuleType("graph")
    exec((ROOT / "reference/lab2_tensors/graph.py").read_text(encoding="utf-8"), graph.__dict__)
    return graph


def test_the_reference_earns_everything(lab2, lab2_earned):
    tasks = load_course(ROOT).lab("lab2").tasks
    assert sum(task.points for task in tasks) == 140
    points = {task.id: task.points for task in tasks if set(task.files) <= {"graph.py", "engine.py"}}
    assert sum(points.values()) == 100
    assert lab2_earned(SimpleNamespace(**lab2), set(points)) == [points]


def test_an_engine_of_zeros_earns_nothing(lab2, lab2_earned):
    graph = lab2["graph"]

    def zeros(like):
        return [graph.zeros_like(one) for one in graph.as_list(like)]

    engine = copy_of(
        lab2["engine"],
        gradients=lambda outputs, inputs, output_gradients=None: zeros(inputs),
        jvp=lambda outputs, inputs, tangents: zeros(outputs),
        hvp=lambda output, inputs, vectors: zeros(inputs),
        hessian=lambda output, input: graph.filled(0, input.shape * 2, input.dtype),
    )
    lab = SimpleNamespace(graph=graph, engine=engine)
    assert lab2_earned(lab, ENGINE) == [dict.fromkeys(ENGINE, 0)]


def test_rules_of_zeros_earn_nothing(lab2_earned):
    graph = own_graph()

    def zeros(self, adjoint, node):
        return tuple(graph.zeros_like(one) if graph.is_float(one) else None for one in node.inputs)

    for name in OPERATIONS:
        getattr(graph, name).vjp = zeros
    tasks = RULES | {"corners"}
    assert lab2_earned(SimpleNamespace(graph=graph), tasks) == [dict.fromkeys(tasks, 0)]


def test_an_hvp_of_zeros_beside_right_gradients_earns_nothing(lab2, lab2_earned):
    graph = lab2["graph"]
    zeros = copy_of(
        lab2["engine"],
        hvp=lambda output, inputs, vectors: [graph.zeros_like(one) for one in graph.as_list(inputs)],
    )
    assert lab2_earned(SimpleNamespace(graph=graph, engine=zeros), {"hvp"}) == [{"hvp": 0}]


def test_a_jvp_for_functions_of_single_entries_earns_less_than_half(lab2, lab2_earned):
    graph, engine = lab2["graph"], lab2["engine"]

    def diagonal(outputs, inputs, tangents):
        """The adjoints from ones, times the tangents: J t where each entry depends on its own place alone."""
        told = []
        for output in graph.as_list(outputs):
            slopes = engine.gradients(output, inputs, graph.filled(1, output.shape, output.dtype))
            told.append(sum(slope * way for slope, way in zip(slopes, tangents, strict=True)))
        return told

    lab = SimpleNamespace(graph=graph, engine=copy_of(engine, jvp=diagonal))
    assert all(points["jvp"] <= 3 for points in lab2_earned(lab, {"jvp"}, range(3)))


def test_broadcasting_further_down_does_not_mend_a_partial_adjoint_of_a_wrong_shape(lab2_earned):
    graph = own_graph()
    graph.Sum.vjp = lambda self, adjoint, node: (adjoint,)
    # Right where nothing is summed, which is one check of ten.
    assert lab2_earned(SimpleNamespace(graph=graph), {"sum"}) == [{"sum": 1}]


def test_lengths_may_be_numpy_integers(lab2_earned):
    graph = own_graph()

    def transpose(self, adjoint, node):
        (a,) = node.inputs
        shape = np.array(a.shape)
        return (graph.Node(graph.Transpose(np.argsort(self.axes)), (adjoint,), tuple(shape), a.dtype),)

    graph.Transpose.vjp = transpose
    assert lab2_earned(SimpleNamespace(graph=graph), {"transpose"}) == [{"transpose": 6}]


def test_what_a_rule_returns_instead_of_nodes_is_said_in_words(lab2_programs):
    for answer, words in (
        (None, "NoneType, not a node"),
        (np.zeros((2, 3)), "vjp of relu gives ndarray, not a node"),
        ("a", "vjp of relu gives str, not a node"),
    ):
        graph = own_graph()
        graph.Relu.vjp = lambda self, adjoint, node, answer=answer: (answer,)
        lab, x = SimpleNamespace(graph=graph), np.ones((2, 3))
        told = lab2_programs.rule_twice(lab, "relu", [x], x, [x])
        assert (told["first"], told["second"]) == ([words], [words])
        assert type(told["first"][0]) is str  # no other kind crosses the wire
        assert lab2_programs.relu_at_its_kink(lab, x, x)["elsewhere"] == words


def test_an_answer_counts_whatever_the_others_of_its_cell_are(lab2_programs):
    answers = SimpleNamespace(forward=None, reverse=np.array([1, 20, 3]), better=len)
    lab = SimpleNamespace(cell=lambda id, number: answers)
    assert lab2_programs.predict_passes(lab, 3, ["reverse"]) == {"reverse": ["1", "20", "3"]}


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_G40_any_share_at_relu_s_kink_earns_all(lab2_earned, share):
    graph = ModuleType("graph")
    exec((ROOT / "reference/lab2_tensors/graph.py").read_text(encoding="utf-8"), graph.__dict__)

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (graph.where(a > 0.0, adjoint, graph.where(a >= 0.0, share * adjoint, 0.0)),)

    right = lab2_earned(SimpleNamespace(graph=graph), {"relu", "corners"})
    graph.Relu.vjp = vjp
    assert lab2_earned(SimpleNamespace(graph=graph), {"relu", "corners"}) == right
    assert all(right[0].values())


def test_parts_added_in_another_order_are_far_inside_the_tolerance(lab2, lab2_programs):
    graph, engine = lab2["graph"], lab2["engine"]

    def gradients(outputs, inputs, output_gradients=None):
        """The parts of each node in the opposite order."""
        outputs, parts = graph.as_list(outputs), {}
        for output, adjoint in zip(outputs, engine.starting_adjoints(outputs, output_gradients), strict=True):
            parts.setdefault(output, []).append(adjoint)
        for node in graph.topological_order(outputs)[::-1]:
            if node in parts:
                parts[node] = [sum(parts[node][::-1][1:], parts[node][-1])]
                found = node.op.vjp(parts[node][0], node) if node.op else ()
                for operand, part in zip(node.inputs, found, strict=True):
                    if part is not None:
                        parts.setdefault(operand, []).append(part)
        return [parts[node][0] for node in graph.as_list(inputs)]

    lab = SimpleNamespace(graph=graph, engine=engine)
    other = SimpleNamespace(graph=graph, engine=copy_of(engine, gradients=gradients))
    for seed in range(150):
        draw = Draw(seed)
        at = {"graph": draw.dag(10), "arrays": [draw.uniform(-1.5, 1.5, (2, 3)) for _ in range(3)]}
        at |= {"chosen": [-1], "vectors": [draw.normal((2, 3))]}
        one, two = (np.array(lab2_programs.graph_gradients(x, **at)["gradients"]) for x in (lab, other))
        assert np.abs(one - two).max() < 0.1 * GRAPHS * np.linalg.norm(at["vectors"][0]), seed


def test_a_single_number_that_parts_cancel_in_is_judged_by_their_size(lab2_programs):
    lab, vector = SimpleNamespace(graph=own_graph()), np.array([3.0, -4.0])
    how = {"shape": [2]}
    single = lab2_programs.rule(lab, "broadcast_to", [np.array(0.5)], vector, how=how)
    assert single["scale"] == {"gradients": 5.0}
    several = lab2_programs.rule(lab, "broadcast_to", [np.array([0.5, 1.0])], vector, how=how)
    assert several["scale"] == {"gradients": 0.0}
