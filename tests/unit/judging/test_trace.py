"""The first wrong node: of lab 1's own graphs, run by lab 1's own `trace` program in the real sandbox."""

import math
from pathlib import Path

import numpy as np
import pytest

from autograder.course import Limits, load_course
from autograder.judging import details, readable
from autograder.judging.details import FailedCall, look_closer
from autograder.judging.subject import Sandbox, Subject
from autograder.judging.trace import Trace, first_parting
from autograder.judging.verdicts import Check, Verdict

ROOT = Path(__file__).parents[3]
LAB = load_course(ROOT).lab("lab1")
FILES = {name: (LAB.reference / name).read_text(encoding="utf-8") for name in LAB.modules}
PROGRAMS = (LAB.grading / "programs.py").read_text(encoding="utf-8")
LECTURE = {"x1": 2.3, "x2": 5.1, "seed": -0.7}
CODE = np.random.default_rng(3).integers(0, 1000, (10, 3))
GRAPH = {"graph": CODE, "x": np.array([0.7, -0.4, 1.2])}

# What students write, by name: file, right text, wrong text.
ADD_UP = "node_to_grad[operand] = node_to_grad.get(operand, 0.0) + partial_adjoint"
PUSH = "node_to_tangent[node] = node_to_tangent.get(node, 0.0) + partial * node_to_tangent[operand]"
MINUS = "return binary(SUBTRACT, other, self)"
LAST_LINES = "                order.append(node)\n    return order"
MISTAKES = {
    "overwritten": ("engine.py", ADD_UP, "node_to_grad[operand] = partial_adjoint"),
    "without-upstream": ("engine.py", "partial_adjoint = partial * adjoint", "partial_adjoint = partial"),
    "seed-ignored": ("engine.py", "node_to_grad = {output: seed}", "node_to_grad = {output: 1.0}"),
    "negative": ("engine.py", "node_to_grad = {output: seed}", "node_to_grad = {output: -seed}"),
    "no-output": (
        "engine.py",
        "    return node_to_grad\n",
        "    del node_to_grad[output]\n    return node_to_grad\n",
    ),
    "last-tangent": ("engine.py", PUSH, "node_to_tangent[node] = partial * node_to_tangent[operand]"),
    "sine": ("graph.py", "return (COS.compute(a),)", "return (-COS.compute(a),)"),
    "quotient": (
        "graph.py",
        "return ieee_divide(1.0, b), ieee_divide(-value, b)",
        "return ieee_divide(-value, b), ieee_divide(1.0, b)",
    ),
    "reflected": ("graph.py", MINUS, "return binary(SUBTRACT, self, other)"),
    "sum-of-negative": ("graph.py", MINUS, "return binary(ADD, other, -self)"),
    "users-first": ("graph.py", LAST_LINES, LAST_LINES + "[::-1]"),
}

REMEMBERS = """
_seen, _right = [], reverse_mode


def reverse_mode(output, seed=1.0, record=None):
    _seen.append(1)
    return _right(output, seed * len(_seen), record)
"""
LIAR = """
class Liar(dict):
    def get(self, *_):
        raise RuntimeError


def reverse_mode(*_):
    return Liar()
"""


@pytest.fixture(scope="module")
def sandbox(level):
    sandbox = Sandbox(level)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="module")
def subject(sandbox):
    """Makes the subject of a mistake, or the right one."""
    made = {}

    def make(mistake=None):
        if mistake not in made:
            files = dict(FILES)
            if mistake:
                file, right, wrong = MISTAKES[mistake]
                assert files[file].count(right) == 1, mistake
                files[file] = files[file].replace(right, wrong)
            made[mistake] = Subject(sandbox, files, PROGRAMS, ["graph", "engine"])
        return made[mistake]

    yield make
    for one in made.values():
        one.close()


@pytest.fixture(scope="module")
def passes(subject):
    """The passes that a run of a program tells of."""

    def told(mistake, program, **inputs):
        worker = subject(mistake).worker(Limits(cpu_s=2, idle_s=2, memory_mb=512))
        try:
            answer = worker.run("trace", {"program": program, "inputs": inputs})
        finally:
            worker.end()
        assert answer.outcome == "ok", answer
        return [Trace.told(one) for one in answer.result["passes"]]

    return told


@pytest.fixture(scope="module")
def parting(passes):
    """The first wrong node of a mistake, with the names of the graph."""

    def find(mistake, program, **inputs):
        told = (passes(one, program, **inputs) for one in (mistake, None))
        for own, right in zip(*told, strict=True):
            if found := first_parting(own, right):
                return found, readable.Names(right)
        return None, None

    return find


def test_the_lectures_graph_has_the_lectures_names(passes):
    (trace,) = passes(None, "lecture_reverse", **LECTURE)
    assert [f"{node.name} = {node.formula}" for node in readable.Names(trace).nodes()] == [
        "v1 = variable",
        "v2 = variable",
        "v3 = log(v1)",
        "v4 = v1 * v2",
        "v5 = sin(v2)",
        "v6 = v3 + v4",
        "v7 = v6 - v5",
    ]
    assert trace.values[:2] == [2.3, 5.1]
    assert trace.number(6) == -0.7
    assert math.isclose(trace.number(0), -0.7 * (1 / 2.3 + 5.1), rel_tol=1e-14)


@pytest.mark.parametrize(
    ("mistake", "program", "inputs", "expected"),
    [
        ("overwritten", "lecture_reverse", LECTURE, ("adjoint", "v2", "one-path")),  # v1 comes after it
        ("without-upstream", "lecture_reverse", LECTURE, ("adjoint", "v6", "chain")),
        ("seed-ignored", "lecture_reverse", LECTURE, ("adjoint", "v7", "seed")),
        ("negative", "lecture_reverse", LECTURE, ("adjoint", "v7", "sign")),
        ("no-output", "lecture_reverse", LECTURE, ("adjoint", "v7", "missing")),
        (
            "last-tangent",
            "lecture_forward",
            {"x1": 2.3, "x2": 5.1, "direction": np.array([0.4, -1.3])},
            ("tangent", "v4", "one-path"),
        ),
        ("sine", "operation", {"name": "sin", "at": [0.7]}, ("partial", "v2", "sign")),
        ("sine", "lecture_reverse", LECTURE, ("partial", "v5", "sign")),
        ("quotient", "operation", {"name": "divide", "at": [0.7, 1.9]}, ("partial", "v3", "swapped")),
        (
            "reflected",
            "number_on_the_left",
            {"operation": "subtract", "number": 3, "kind": "int", "x": 1.2},
            ("structure", "v2", ""),
        ),
        (
            "users-first",
            "order_of_graph",
            {"graph": np.array([[2, 0, 1], [0, 2, 0]]), "x": np.array([1.2, 0.3]), "chosen": 3},
            ("order", "v3", ""),
        ),
    ],
)
def test_the_first_wrong_node_is_found_and_what_its_number_looks_like(
    parting, mistake, program, inputs, expected
):
    found, names = parting(mistake, program, **inputs)
    assert (found.kind, names.name(found.node), found.mistake) == expected


def test_all_users_of_a_node_with_a_wrong_adjoint_are_right(parting, passes):
    found, _ = parting("overwritten", "graph_reverse", **GRAPH)
    (own,), (right,) = (passes(mistake, "graph_reverse", **GRAPH) for mistake in ("overwritten", None))
    users = {user for user, _ in right.uses(found.node)}
    assert found.kind == "adjoint" and users
    assert all(math.isclose(own.number(user), right.number(user), rel_tol=1e-12) for user in users)
    total = math.fsum(partial * number for _, partial, number in found.parts)
    assert math.isclose(total, found.expected, rel_tol=1e-12)


@pytest.mark.parametrize("program", ["graph_reverse", "lecture_reverse"])
def test_right_work_has_no_wrong_node(parting, program):
    inputs = GRAPH if program == "graph_reverse" else LECTURE
    assert parting(None, program, **inputs) == (None, None)


def test_another_way_to_write_the_same_number_is_no_mistake(parting):
    inputs = {"operation": "subtract", "number": 3, "kind": "int", "x": 1.2}
    assert parting("sum-of-negative", "number_on_the_left", **inputs) == (None, None)


def test_graphs_too_large_to_look_at_are_not_told(passes):
    inputs = {"shape": "chain", "x": np.array([0.5, 1.0, 0.1]), "seed": 1.0}
    assert passes(None, "large", **inputs) == []


def test_tangents_are_told_of_every_node_though_the_program_asks_for_one(passes):
    (trace,) = passes(None, "graph_forward", **GRAPH, direction=np.array([1.0, 0.5, -1.0]))
    assert len(trace.numbers) == len(trace.names) > 10
    assert None not in [trace.number(node) for node in range(len(trace.names)) if not trace.is_constant(node)]


# --- Tellings that lie ------------------------------------------------------------------------------------

RIGHT = {
    "kind": "reverse_mode",
    "names": ["variable", "sin"],
    "counts": [0, 1],
    "inputs": [0],
    "outputs": [1],
    "values": [1.0, 0.84],
    "partials": [0.54],
    "numbers": [0.54, 1.0],
}


@pytest.mark.parametrize(
    "lie",
    [
        {"kind": "symbolic"},
        {"names": ["variable"]},
        {"names": ["x" * 50, "sin"]},
        {"names": [["variable"], "sin"]},
        {"counts": [0, 2]},
        {"counts": [1, 0]},
        {"inputs": [1]},
        {"inputs": [-1]},
        {"outputs": [2]},
        {"values": [1.0]},
        {"values": ["1", "2"]},
        {"partials": []},
        {"numbers": [1.0]},
        {"names": ["variable"] * 300, "counts": [0] * 300, "values": [0.0] * 300},
        {"more": 1},
    ],
    ids=str,
)
def test_a_telling_that_makes_no_sense_is_refused(lie):
    Trace.told(RIGHT)
    with pytest.raises(ValueError):  # msgspec's and ours
        Trace.told(RIGHT | lie)


def test_numbers_that_are_none_nan_or_infinite_part_like_any_other():
    right = Trace.told(RIGHT)
    for wrong in (None, math.nan, math.inf, -0.54):
        found = first_parting(Trace.told(RIGHT | {"numbers": [wrong, 1.0]}), right)
        assert (found.kind, found.node) == ("adjoint", 0)
    nan = Trace.told(RIGHT | {"numbers": [math.nan, 1.0]})
    assert first_parting(nan, nan) is None


# --- Details ----------------------------------------------------------------------------------------------

CHECKS = [
    Check("r::lecture", "reverse-mode", 2, {}),
    Check("r::graph", "reverse-mode", 1, {}),
    Check("b::both", "bypass", 1, {}),
    Check("j::matrix", "jacobian", 1, {}),
]


def failed(program, quantity, **inputs):
    return FailedCall(program, inputs, 1e-12)


def verdicts(**outcomes):
    found = {check.id: outcomes.get(check.id.split(":")[-1], "passed") for check in CHECKS}
    return [Verdict(check, outcome) for check, outcome in found.items()]


def test_details_of_a_random_graph_tell_a_smaller_input_and_the_node(subject):
    calls = {"r::graph": failed("graph_reverse", "gradient[0]", **GRAPH)}
    (detail,) = look_closer(LAB, CHECKS, verdicts(graph="wrong"), calls, subject("overwritten"), subject())
    assert dict(detail.inputs) == {"graph": "10", "x": "[0.7, -0.4, 1.2]"}
    assert int(dict(detail.smaller)["graph"]) < 10
    assert detail.message.arguments["quantity"].startswith("gradient[")
    assert detail.found.kind == "adjoint" and detail.found.mistake == "one-path"
    assert len(detail.nodes) <= 14
    assert float(detail.found.expected) != float(detail.found.got)


def test_only_the_first_wrong_check_of_a_task_that_failed_by_itself_is_explained(subject):
    lecture = failed("lecture_reverse", "adjoints[0]", **LECTURE)
    calls = dict.fromkeys(("r::lecture", "r::graph", "b::both"), lecture)
    outcomes = verdicts(lecture="wrong", graph="wrong", both="wrong", matrix="crashed")
    found = look_closer(LAB, CHECKS, outcomes, calls, subject("overwritten"), subject())
    assert [detail.check for detail in found] == ["r::lecture"]


def test_where_a_law_failed_first_the_first_wrong_comparison_is_explained(subject):
    calls = {"r::graph": failed("graph_reverse", "gradient[0]", **GRAPH)}
    outcomes = verdicts(lecture="wrong", graph="wrong")
    found = look_closer(LAB, CHECKS, outcomes, calls, subject("overwritten"), subject())
    assert [detail.check for detail in found] == ["r::graph"]


def test_what_a_number_looks_like_must_hold_at_the_original_input_too(subject):
    calls = {"r::lecture": failed("lecture_reverse", "adjoints[0]", **LECTURE | {"seed": -0.93})}
    (detail,) = look_closer(LAB, CHECKS, verdicts(lecture="wrong"), calls, subject("negative"), subject())
    assert dict(detail.smaller)["seed"] == "-1"  # here the mistake looks like a seed of 1
    assert (detail.found.got, detail.found.expected, detail.found.mistake) == ("1", "-1", "")


def test_a_run_that_fails_only_after_others_has_no_smaller_input(sandbox, subject):
    state = FILES["engine.py"] + REMEMBERS
    with Subject(sandbox, FILES | {"engine.py": state}, PROGRAMS, ["graph", "engine"]) as own:
        calls = {"r::lecture": failed("lecture_reverse", "adjoints[0]", **LECTURE)}
        (detail,) = look_closer(LAB, CHECKS, verdicts(lecture="wrong"), calls, own, subject())
    assert detail.smaller == [] and detail.message is None


@pytest.mark.parametrize(
    "engine",
    [
        "import os\n\n\ndef reverse_mode(*_):\n    os._exit(0)\n",
        "def reverse_mode(*_):\n    while True:\n        pass\n",
        "import programs\n",
        LIAR,
    ],
    ids=["exits", "loops", "no-import", "lies"],
)
def test_work_that_can_not_be_run_again_gets_plain_details_or_none_and_costs_little(sandbox, subject, engine):
    with Subject(sandbox, FILES | {"engine.py": engine}, PROGRAMS, ["graph", "engine"]) as own:
        calls = {"r::lecture": failed("lecture_reverse", "adjoints[0]", **LECTURE)}
        found = look_closer(LAB, CHECKS, verdicts(lecture="wrong"), calls, own, subject())
    assert all(detail.smaller == [] and detail.found is None for detail in found)


def test_a_lab_without_a_trace_program_has_details_without_a_graph(sandbox):
    programs = PROGRAMS.replace("def trace(", "def not_trace(")
    mistake = FILES["engine.py"].replace(ADD_UP, "node_to_grad[operand] = partial_adjoint")
    calls = {"r::lecture": failed("lecture_reverse", "adjoints[0]", **LECTURE)}
    with (
        Subject(sandbox, FILES | {"engine.py": mistake}, programs, ["graph", "engine"]) as own,
        Subject(sandbox, FILES, programs, ["graph", "engine"]) as right,
    ):
        (detail,) = look_closer(LAB, CHECKS, verdicts(lecture="wrong"), calls, own, right)
    assert detail.smaller and detail.nodes == [] and detail.found is None


def test_nothing_is_run_where_nothing_was_compared(subject, monkeypatch):
    monkeypatch.setattr(details, "_detail", lambda *_: pytest.fail("it ran"))
    assert look_closer(LAB, CHECKS, verdicts(), {}, subject(), subject()) == []
    assert look_closer(LAB, CHECKS, verdicts(lecture="timed-out"), {}, subject(), subject()) == []


def test_inputs_are_shown_short():
    shown = dict(readable.inputs({"x": np.arange(5000.0), "at": [0.1 + 0.2, 1.0], "n": 3, "seed": -0.25}))
    assert shown == {"x": "float64[5000]", "at": "[0.3, 1]", "n": "3", "seed": "-0.25"}
