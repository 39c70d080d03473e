"""Lab 1 on the device: the evaluator against the engine, point by point, and what it refuses."""

import re
from pathlib import Path

import numpy as np
import pytest

from autograder.authoring import cutter
from autograder.course import load_course
from labkit.cuda import blanks, compile

ROOT = Path(__file__).parents[3]
LAB = ROOT / "reference" / "lab1_scalars"
CHINESE = re.compile("[\u4e00-\u9fff]")
compiled = pytest.mark.skipif(compile.compiler() is None, reason="no C++ compiler")


def formulas(graph):
    """Graphs that hold every operation: of two inputs and a parameter, each by name."""
    log, exp, sin, cos, tanh = graph.log, graph.exp, graph.sin, graph.cos, graph.tanh
    return {
        "lecture": lambda x, y, p: log(x) + x * y - sin(y),
        "shared": lambda x, y, p: (p * x + 3) * (p * y - p) + p * p,
        "same": lambda x, y, p: x * x * (y / y) - (x - x),
        "quotients": lambda x, y, p: x / (y + 1) - p / x + 1 / -y,
        "powers": lambda x, y, p: x**p + 2**y + (-x) ** 3 + y**-2.0,
        "functions": lambda x, y, p: tanh(x - y) * cos(y * 3) + exp(-(x * x)) * log(p + y),
    }


@compiled
@pytest.mark.parametrize("n", [1, 257])
@pytest.mark.parametrize("name", ["lecture", "shared", "same", "quotients", "powers", "functions"])
def test_the_evaluator_agrees_with_the_engine_at_every_point(graph, engine, cuda_ops, name, n):
    formula = formulas(graph)[name]
    points = np.random.default_rng(7).uniform(0.3, 3, (n, 2)).astype(np.float32)
    x, y, p = (graph.variable(1.5) for _ in range(3))
    evaluator = cuda_ops.DeviceEvaluator(formula(x, y, p), [x, y], backend="cpu-check")
    value, gradient = evaluator.value(points), evaluator.gradient(points)
    by_parameter = evaluator.parameter_gradient(points, [p])
    assert (value.dtype, gradient.dtype, by_parameter.dtype) == (np.float32,) * 3
    right_value, right_gradient, sums = [], [], []
    for point in points.tolist():
        leaves = [graph.variable(number) for number in (*point, 1.5)]
        output = formula(*leaves)
        node_to_grad = engine.reverse_mode(output)
        right_value.append(output.value)
        right_gradient.append([node_to_grad.get(leaf, 0.0) for leaf in leaves[:2]])
        sums.append(node_to_grad.get(leaves[2], 0.0))
    assert value == pytest.approx(np.array(right_value), rel=2e-6, abs=2e-6)
    assert gradient == pytest.approx(np.array(right_gradient), rel=5e-6, abs=5e-6)
    assert by_parameter == pytest.approx(np.array([sum(sums)]), rel=1e-5, abs=1e-6 * np.abs(sums).sum())
    assert list(evaluator.module.reports) == []


@compiled
def test_no_points_give_empty_answers(graph, cuda_ops):
    x = graph.variable(1.0)
    evaluator = cuda_ops.DeviceEvaluator(x * x, [x], backend="cpu-check")
    assert evaluator.value(np.empty((0, 1))).shape == (0,)
    assert evaluator.gradient(np.empty((0, 1))).shape == (0, 1)


@compiled
def test_leaves_are_graphs_too(graph, cuda_ops):
    x, unused, p = (graph.variable(value) for value in (1.0, 2.0, 3.0))
    points = np.array([[4.0, 5.0], [6.0, 7.0]])
    one = cuda_ops.DeviceEvaluator(x, [x, unused])
    assert one.value(points).tolist() == [4, 6]
    assert one.gradient(points).tolist() == [[1, 0], [1, 0]]
    other = cuda_ops.DeviceEvaluator(p, [x, unused])
    assert other.value(points).tolist() == [3, 3]
    assert other.parameter_gradient(points, [p, graph.variable(1.0)]).tolist() == [2, 0]


def test_what_the_evaluator_refuses_is_said_in_one_line(graph, cuda_ops):
    x, words = graph.variable(1.0), graph.table({"cat": 2.0})
    for output, inputs in ((words["cat"] * x, [x]), (words, [x]), (x * x, [x * 2.0])):
        with pytest.raises(TypeError) as refusal:
            cuda_ops.DeviceEvaluator(output, inputs)
        assert "\n" not in str(refusal.value)
        assert CHINESE.search(str(refusal.value))


@compiled
@pytest.mark.parametrize("points", [[1.0, 2.0], [[1.0, 2.0]], 3.0])
def test_points_of_another_shape_are_refused(graph, cuda_ops, points):
    x = graph.variable(1.0)
    with pytest.raises(ValueError, match=r"\(N, 1\)"):
        cuda_ops.DeviceEvaluator(x * x, [x]).value(points)


@pytest.mark.parametrize("block", [1, 32, 96, 1024])
def test_a_configuration_has_a_thread_for_each_point(cuda_ops, block):
    for n in (1, block - 1, block, block + 1, 7 * block, 10**6):
        (blocks,), (threads,) = cuda_ops.launch_configuration(n, block)
        assert threads == block
        assert blocks * block >= n > (blocks - 1) * block or (n, blocks) == (0, 1)


@pytest.mark.parametrize(("n", "block"), [(-1, 32), (5, 0), (5, 1025)])
def test_what_no_launch_can_be_is_refused(cuda_ops, n, block):
    with pytest.raises(ValueError, match="can't be launched"):
        cuda_ops.launch_configuration(n, block)


def test_the_kernels_that_are_blank_are_those_of_lab_toml():
    text = cutter.cut((LAB / "kernels.cu").read_text(encoding="utf-8"), "kernels.cu")
    tasks = [task for task in load_course(ROOT).lab("lab1").tasks if task.files == ("kernels.cu",)]
    assert list(blanks.unwritten(text)) == [blank.name for task in tasks for blank in task.blanks]
    assert blanks.unwritten((LAB / "kernels.cu").read_text(encoding="utf-8")) == {}


def test_every_operation_has_its_two_kernels(graph, cuda_ops):
    operations = {type(op).name for op in vars(graph).values() if isinstance(op, graph.Op)}
    assert set(cuda_ops.KERNELS) == operations - {"op"}
    names = blanks.kernels((LAB / "kernels.cu").read_text(encoding="utf-8"))
    assert sorted(names) == sorted(
        f"{name}_{direction}" for name in cuda_ops.KERNELS.values() for direction in ("forward", "backward")
    )
