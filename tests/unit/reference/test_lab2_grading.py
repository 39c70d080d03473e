"""What lab 2's grading tests must not let through, and how far right answers are apart."""

from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np

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
    graph = ModuleType("graph")
    exec((ROOT / "reference/lab2_tensors/graph.py").read_text(encoding="utf-8"), graph.__dict__)

    def zeros(self, adjoint, node):
        return tuple(graph.zeros_like(one) if graph.is_float(one) else None for one in node.inputs)

    for name in OPERATIONS:
        getattr(graph, name).vjp = zeros
    assert lab2_earned(SimpleNamespace(graph=graph), RULES) == [dict.fromkeys(RULES, 0)]


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
