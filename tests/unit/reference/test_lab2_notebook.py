"""Lab 2's predictions: the solved answers, for every number, against mathematics and the modules."""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.authoring.labs import lab_files
from autograder.authoring.notebooks import build
from autograder.course import load_course
from labkit import predict

ROOT = Path(__file__).parents[3]
COURSE = load_course(ROOT)
LAB = COURSE.lab("lab2")
NUMBERS = range(predict.NUMBERS)
CELLS = build.cells((LAB.reference / LAB.notebook_source).read_text("utf-8"), LAB, cut=False)


@pytest.fixture(scope="module")
def answers(lab2: dict[str, ModuleType]) -> Callable[[int], dict[str, Any]]:
    """All names that the setup and solution cells define for a number, each cell behind the setup alone."""
    assert lab2
    setup = [cell for cell in CELLS if cell.role == "setup"]
    solutions = [cell for cell in CELLS if cell.role == "solution" and cell.grade_id != "student"]

    @functools.cache
    def of(number: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for solution in solutions:
            names: dict[str, Any] = {"student": number}
            for cell in [*setup, solution]:
                exec(compile(cell.source, cell.grade_id, "exec"), names)
            found |= names
        return found

    return of


def products(a: Any, b: Any, g: Any) -> dict[str, Any]:
    """The values of all products of two of the matrices that exist and have the shape of the first."""
    factors = {"A": a, "B": b, "G": g, "At": a.T, "Bt": b.T, "Gt": g.T}
    pairs = [(p, q) for p, q in itertools.permutations(factors, 2) if p[0] != q[0]]
    fit = [(p, q) for p, q in pairs if factors[p].shape[1] == factors[q].shape[0]]
    values = {p + q: factors[p] @ factors[q] for p, q in fit}
    return {name: value for name, value in values.items() if value.shape == a.shape}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_products_that_fit_are_those_and_one_is_the_derivative(answers: Any, number: int) -> None:
    names = answers(number)
    m, k, n = names["M"], names["K"], names["N"]
    random = np.random.default_rng(number)
    a, b, g = (random.normal(size=shape) for shape in ((m, k), (k, n), (m, n)))
    right = np.array([[np.sum(g[i] * b[j]) for j in range(k)] for i in range(m)])
    fit = products(a, b, g)
    assert set(fit) == names["fitting"]
    assert [name for name, value in fit.items() if np.allclose(value, right)] == ["GBt"]
    assert {name for name in fit if "A" not in name} == {"GBt", names["trap"]}
    square = dict(zip("ABG", random.normal(size=(3, 4, 4)), strict=True))
    square[names["symmetric"]] += square[names["symmetric"]].T
    fit = products(square["A"], square["B"], square["G"])
    assert len(fit) == 24
    assert {name for name, value in fit.items() if np.allclose(value, fit["GBt"])} == {
        "GBt",
        names["same_numbers"],
    }


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_has_no_derivative_and_a_graph_has(
    lab2: dict[str, ModuleType], answers: Any, number: int
) -> None:
    names, graph, engine = answers(number), lab2["graph"], lab2["engine"]
    x = graph.variable(())
    y = names["a"] * x**3
    (slope,) = engine.immediate_gradients(y, x, {x: names["c"]})
    assert (names["kind"], isinstance(slope, graph.Node)) == ("number", False)
    twice = [*engine.gradients(graph.constant(slope), x), *engine.gradients(engine.gradients(y, x), x)]
    assert engine.Executor(twice)({x: names["c"]}) == [names["again"], names["extended"]]


@pytest.mark.parametrize("number", NUMBERS)
def test_graphs_have_as_many_nodes_as_counting_says(
    lab2: dict[str, ModuleType], answers: Any, number: int
) -> None:
    names, graph = answers(number), lab2["graph"]
    x = y = graph.variable(())
    for _ in range(names["times"]):
        y = getattr(graph, names["function"])(y)
    sizes = [graph.graph_size(y), graph.graph_size(lab2["engine"].gradients(y, x))]
    assert sizes == [names["size"], names["slope_size"]]


@pytest.mark.parametrize("number", NUMBERS)
def test_passes_are_the_entries_of_inputs_and_of_outputs(answers: Any, number: int) -> None:
    names = answers(number)
    inputs = [[(names["features"], names["classes"]), (names["classes"],)], [()], [(names["columns"],)]]
    outputs = [[()], [(names["points"],), (names["points"],)], [(names["rows"],)]]
    sizes = [[sum(map(math.prod, shapes)) for shapes in those] for those in (inputs, outputs)]
    assert names["forward"] == [*sizes[0], sizes[0][0]]
    assert names["reverse"] == [*sizes[1], sizes[0][0]]
    for forward, reverse, better in zip(names["forward"], names["reverse"], names["better"], strict=True):
        assert better == ("either" if forward == reverse else "forward" if forward < reverse else "reverse")


@pytest.mark.parametrize("number", NUMBERS)
def test_the_clock_says_what_a_queue_takes(answers: Any, number: int) -> None:
    names = answers(number)
    for kernel, told in ((names["long_kernel"], names["long"]), (names["short_kernel"], names["short"])):
        queued = [names["queueing"] * launch for launch in range(1, names["launches"] + 1)]
        # The device is never idle after the launch from which on it always has work.
        end = max(start + kernel * (len(queued) - place) for place, start in enumerate(queued))
        assert told == [queued[-1], end]


def test_a_step_of_descent_goes_down_a_parabola(answers: Any) -> None:
    step = answers(0)["sgd_step"]
    weights = [np.array([4.0, -2.0]), np.array(1.0)]
    (first, second) = step(weights, [2 * weight for weight in weights], 0.25)
    assert (first.tolist(), second.tolist()) == ([2.0, -1.0], 0.5)
    assert weights[0].tolist() == [4.0, -2.0]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("lab2")
    (folder / predict.FILE).write_bytes(lab_files(COURSE, LAB)[predict.FILE])
    yield folder


@pytest.mark.parametrize("number", NUMBERS)
def test_the_hashes_know_the_right_answers_and_no_others(given: Path, answers: Any, number: int) -> None:
    names, others = answers(number), answers((number + 5) % 16)
    asked = [cell.grade_id for cell in CELLS if cell.answers]
    assert len(asked) == 6
    for cell in asked:
        judged = predict.judge(given, "lab2", cell, number, names)
        assert [one for one in judged if one.problem or one.wrong] == []
    wrong = [predict.judge(given, "lab2", cell, number, others) for cell in asked]
    assert any(one.problem or one.wrong for judged in wrong for one in judged)
