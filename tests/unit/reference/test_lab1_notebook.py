"""Lab 1's predictions: the solved answers, for every number, against mathematics and the modules."""

import functools
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
from labkit import break_it, predict

ROOT = Path(__file__).parents[3]
COURSE = load_course(ROOT)
LAB = COURSE.lab("lab1")
NUMBERS = range(predict.NUMBERS)
CELLS = build.cells((LAB.reference / LAB.notebook_source).read_text("utf-8"), LAB, cut=False)


@pytest.fixture(scope="module")
def answers(lab1: dict[str, ModuleType]) -> Callable[[int], dict[str, Any]]:
    """All names that the setup and solution cells define for a number, as grading runs them."""
    assert lab1

    @functools.cache
    def of(number: int) -> dict[str, Any]:
        names: dict[str, Any] = {"student": number}
        for cell in CELLS:
            if cell.role == "setup" or (cell.role == "solution" and cell.grade_id != "student"):
                exec(compile(cell.source, cell.grade_id, "exec"), names)
        return names

    return of


@pytest.mark.parametrize("number", NUMBERS)
def test_the_sweeps_of_the_example_are_the_chain_rules(answers: Any, number: int) -> None:
    names = answers(number)
    x1, x2 = names["x1"], names["x2"]
    by_x1, by_x2 = 1 / x1 + x2, x1 - math.cos(x2)
    assert names["tangents"] == pytest.approx([1, 0, 1 / x1, x2, 0, by_x1, by_x1])
    assert names["adjoints"] == pytest.approx([by_x1, by_x2, 1, 1, -1, 1, 1])
    assert names["arrivals"] == [2, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("number", NUMBERS)
def test_nodes_are_created_in_the_order_that_is_the_answer(
    lab1: dict[str, ModuleType], answers: Any, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, graph = answers(number), lab1["graph"]
    created, make = [], graph.Node.__init__

    def noting(node: Any, *given: Any, **named: Any) -> None:
        make(node, *given, **named)
        created.append(node.op.name if node.op else node.value)

    x = graph.variable(3.0)
    monkeypatch.setattr(graph.Node, "__init__", noting)
    eval(names["expression"], {"x": x})
    assert names["creation"] == created
    assert len({entry for entry in created if isinstance(entry, float)}) == 3


@pytest.mark.parametrize("number", NUMBERS)
def test_a_difference_in_float32_is_what_counting_in_sixteenths_says(
    lab1: dict[str, ModuleType], answers: Any, number: int
) -> None:
    names = answers(number)
    for h, answer in ((1.0, names["large_step"]), (0.01, names["small_step"])):
        at = np.array([names["theta"]], np.float32)
        slope, _ = lab1["engine"].central_difference(lambda x: x[0] ** 2 + 10**6, at, h)
        assert slope[0] == pytest.approx(answer, abs=1e-5)


@pytest.mark.parametrize("number", NUMBERS)
def test_what_survives_and_what_is_wrong_is_what_the_wrong_engines_show(
    lab1: dict[str, ModuleType], answers: Any, number: int
) -> None:
    names, graph, engine = answers(number), lab1["graph"], lab1["engine"]
    leaves = {name: graph.variable(value) for name, value in zip("abcd", (0.5, 1.5, 2.0, 3.0), strict=True)}
    output = eval(names["formula"], {"exp": graph.exp, **leaves})
    assert names["survivors"] == {
        name
        for name, node in leaves.items()
        if break_it.overwrite(output)[node] == pytest.approx(engine.reverse_mode(output)[node])
    }
    assert 0 < len(names["survivors"]) < 4
    chain = [graph.variable(0.8)]
    while len(chain) < 6:
        chain.append(graph.sin(chain[-1]))
    chain.append(chain[names["k"] - 1] + chain[5])
    found, right = break_it.breadth_first(chain[-1]), engine.reverse_mode(chain[-1])
    assert names["wrong_nodes"] == {
        f"v{place}" for place, node in enumerate(chain, 1) if found[node] != pytest.approx(right[node])
    }


def test_the_derivative_by_hand_is_the_logistic_maps(answers: Any) -> None:
    names = answers(3)
    angle = math.asin(math.sqrt(0.3))  # l3 = sin(8 angle)**2, with l0 = sin(angle)**2
    assert names["by_hand"](0.3) == pytest.approx(8 * math.sin(16 * angle) / math.sin(2 * angle))


@pytest.mark.parametrize("engine", break_it.ENGINES)
def test_what_exposes_each_wrong_engine_is_right_in_everything(answers: Any, engine: str) -> None:
    found = break_it.examine(engine, answers(0)[engine.replace("-", "_")])
    assert (found.exposed, found.smallest, found.accounted) == (True, True, True)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("lab1")
    (folder / predict.FILE).write_bytes(lab_files(COURSE, LAB)[predict.FILE])
    yield folder


@pytest.mark.parametrize("number", NUMBERS)
def test_the_hashes_know_the_right_answers_and_no_others(given: Path, answers: Any, number: int) -> None:
    names, others = answers(number), answers((number + 5) % 16)
    asked = [cell.grade_id for cell in CELLS if cell.answers]
    assert len(asked) == 6
    for cell in asked:
        assert [
            one for one in predict.judge(given, "lab1", cell, number, names) if one.problem or one.wrong
        ] == []
    wrong = [predict.judge(given, "lab1", cell, number, others) for cell in asked]
    assert any(one.problem or one.wrong for judged in wrong for one in judged)
