"""One class, graded once in the real sandbox by real pytest: who gets what, and why."""

import re

import pytest

from autograder.judging.explain import in_full

SQUARE = "test_graph.py::test_square"
GIVEN = "test_graph.py::test_product_is_as_given"
ORDER = "test_graph.py::test_inputs_come_before_users"
POWER = "test_engine.py::test_gradient_of_a_power"
POINT = "test_engine.py::test_gradient_at_a_fixed_point"
LINEAR = "test_engine.py::test_gradient_is_linear_in_the_seed"

# A right engine that leaves a trace and fails where it finds one.
REMEMBERS = """
import graph, sys
if hasattr(sys, "seen") or hasattr(graph, "seen"):
    raise RuntimeError("another check was here")
sys.seen = graph.seen = True
"""


def filled(text, blank, body):
    """A skeleton with another body in a blank."""
    return re.sub(rf"(def {blank}\(.*\n.*\n)    # YOUR CODE HERE\n.*\n", rf"\1{body}\n", text)


@pytest.fixture(scope="module")
def mini(mini_course, tmp_path_factory):
    mini = mini_course(tmp_path_factory.mktemp("grader") / "course")
    graph, engine = mini.solved["graph.py"], mini.solved["engine.py"]
    engine_with = lambda body: filled(mini.skeleton["engine.py"], "reverse_mode", body)  # noqa: E731
    hand_in = mini.hand_in
    hand_in("right")
    hand_in("untouched", graph=mini.skeleton["graph.py"], engine=mini.skeleton["engine.py"])
    hand_in("half", engine=mini.skeleton["engine.py"])
    hand_in(
        "no-order",
        graph=filled(
            mini.skeleton["graph.py"], "square", "    return Node(a.value ** 2, (a,), (2 * a.value,))"
        ),
    )
    hand_in("syntax", engine="def reverse_mode(:\n")
    hand_in("syntax-below", graph=graph + "\nx = = 1\n")
    hand_in("missing", engine=None)
    hand_in("missing-below", graph=None)
    hand_in("raises-on-import", engine="raise NotImplementedError\n")
    hand_in("sleeps-on-import", engine="import time\ntime.sleep(100)\n" + engine)
    hand_in("loops-on-import", graph="while True:\n    pass\n")
    hand_in("loops", engine=engine_with("    while True:\n        pass"))
    hand_in("shapeless", engine=engine_with("    return dict.fromkeys(topological_order(output), None)"))
    costly = "import time\nwhile time.process_time() < 0.35:\n    pass\n"
    hand_in(
        "costly-and-loops", graph=costly + graph.replace("    return Node(a.value * a", "    while a: a\n#")
    )
    hand_in("exits", engine=engine_with("    import os\n    os._exit(0)"))
    hand_in("eats", engine=engine_with("    return [0] * 10**9"))
    hand_in("zeros", engine=engine_with("    return dict.fromkeys(topological_order(output), 0.0)"))
    hand_in(
        "ints", engine=engine.replace("    return node_to_grad", "    return {k: 3 for k in node_to_grad}")
    )
    hand_in("given", graph=graph.replace("a.value * b.value, (a, b)", "a.value * b.value + 1, (a, b)"))
    hand_in("short", graph=graph.replace("    return order", "    return order[:5]"))
    hand_in("remembers", engine=REMEMBERS + engine)
    hand_in(
        "prints", engine=engine.replace("    node_to_grad =", "    print('PASSED ' * 3)\n    node_to_grad =")
    )
    hand_in("floods", engine="print('x' * 100_000)\n" + engine)
    hand_in("turtle", engine="from turtle import right\n" + engine)
    hand_in("two")
    (mini.submitted / "two" / "lab0.zip").write_bytes(b"PK")
    (mini.submitted / "torn").mkdir()
    (mini.submitted / "torn" / "lab0.zip").write_bytes(b"PK\x03\x04 cut off")
    return mini


@pytest.fixture(scope="module")
def graded(mini):
    return mini.grade()


@pytest.mark.parametrize(
    ("student", "points", "outcomes"),
    [
        ("right", [10, 2, 3, 5], "passed passed passed"),
        ("untouched", [0, 0, 0, 0], "not-attempted not-attempted blocked"),
        ("half", [5, 2, 3, 0], "passed passed not-attempted"),
        ("no-order", [2, 2, 0, 0], "passed not-attempted blocked"),
        ("syntax", [5, 2, 3, 0], "passed passed crashed"),
        ("syntax-below", [0, 0, 0, 0], "crashed crashed blocked"),
        ("missing", [5, 2, 3, 0], "passed passed crashed"),
        ("missing-below", [0, 0, 0, 0], "crashed crashed blocked"),
        ("raises-on-import", [5, 2, 3, 0], "passed passed crashed"),
        ("sleeps-on-import", [5, 2, 3, 0], "passed passed timed-out"),
        ("loops-on-import", [0, 0, 0, 0], "timed-out timed-out timed-out"),
        ("loops", [5, 2, 3, 0], "passed passed timed-out"),
        ("shapeless", [5, 2, 3, 0], "passed passed wrong"),
        ("costly-and-loops", [8, 0, 3, 5], "timed-out passed passed"),
        ("exits", [5, 2, 3, 0], "passed passed exited-early"),
        ("eats", [5, 2, 3, 0], "passed passed out-of-memory"),
        ("zeros", [5, 2, 3, 0], "passed passed wrong"),
        ("ints", [5, 2, 3, 0], "passed passed wrong"),
        ("given", [5, 2, 3, 0], "wrong passed wrong"),
        ("short", [5, 2, 0, 3], "passed crashed blocked"),
        ("remembers", [10, 2, 3, 5], "passed passed passed"),
        ("prints", [10, 2, 3, 5], "passed passed passed"),
        ("floods", [10, 2, 3, 5], "passed passed passed"),
        ("turtle", [10, 2, 3, 5], "passed passed passed"),
        ("two", [None, None, None, None], "not-run not-run not-run"),
        ("torn", [0, 0, 0, 0], "crashed crashed blocked"),
    ],
)
def test_each_student_gets_what_the_work_is_worth(graded, student, points, outcomes):
    assert (graded.points(student), graded.outcomes(student)) == (points, outcomes.split())


def test_everybody_has_a_verdict_on_every_check(mini, graded):
    handed_in = {folder.name for folder in mini.submitted.iterdir()}
    assert graded.results.keys() == handed_in
    for result in graded.results.values():
        assert sorted(check.id for task in result.tasks for check in task.checks) == sorted(
            [SQUARE, GIVEN, ORDER, POWER, POINT, LINEAR]
        )
        assert result.max == 10


def test_the_reference_passes_every_check_before_anybody_is_graded(graded):
    assert graded.class_.faults == {}


@pytest.mark.parametrize(
    ("student", "check", "words"),
    [
        ("untouched", SQUARE, "square is not written yet (graph.py, line 28)"),
        ("untouched", POWER, "reverse_mode is not written yet"),
        ("no-order", POWER, "This waits for topological_order"),
        ("syntax", POWER, "engine.py, line 1 is not valid Python"),
        ("syntax-below", SQUARE, "graph.py, line 43 is not valid Python"),
        ("syntax-below", POWER, "graph.py, line 43 is not valid Python"),
        ("missing", POWER, "engine.py is missing"),
        ("missing-below", POWER, "graph.py is missing"),
        ("raises-on-import", POWER, "stopped with NotImplementedError"),
        ("sleeps-on-import", POWER, "import engine.py waited 1 s"),
        ("loops", LINEAR, "did not end in time either"),
        ("shapeless", LINEAR, "gradient should be float"),
        ("exits", POINT, "look for exit()"),
        ("eats", POINT, "more than the 256 MB"),
        (
            "zeros",
            POINT,
            "power(x=3, n=2, seed=1): gradient should be 6, your code gives 0 (accepted error 6e-13)",
        ),
        ("ints", POINT, "gradient should be float (6.0), your code gives int (3)"),
        ("short", ORDER, "stopped with KeyError"),
        ("two", SQUARE, "more than one submission"),
        ("torn", SQUARE, "is damaged or was cut off"),
    ],
)
def test_the_message_says_what_went_wrong(graded, student, check, words):
    assert words in graded.message(student, check)


def test_a_law_that_zeros_satisfy_does_not_pass_zeros(graded):
    (check,) = [one for one in graded.results["zeros"].tasks[2].checks if one.id == LINEAR]
    assert (check.outcome, check.points) == ("wrong", 0)


def test_changed_given_code_is_named_and_costs_nothing_by_itself(graded):
    assert "Given code was changed: product(" in graded.message("given", GIVEN)
    assert "Take graph.py afresh" in graded.message("given", GIVEN)
    assert [note.arguments["names"] for note in graded.results["given"].notes] == ["multiply"]
    assert graded.results["right"].notes == graded.results["untouched"].notes == []


def test_a_line_left_by_an_editor_is_named(graded):
    assert "from turtle import right" in graded.results["turtle"].notes[0].text("en")


def test_what_is_printed_stands_in_the_facts_and_nowhere_else(graded):
    printed = {one["check"]: one.get("printed", "") for one in graded.file("prints", "facts.json")["checks"]}
    assert printed[POINT] == "PASSED PASSED PASSED \n"
    assert "PASSED" not in graded.file("prints").__repr__()


def test_a_flood_of_prints_is_cut(graded):
    printed = [one.get("printed", "") for one in graded.file("floods", "facts.json")["checks"]]
    assert max(map(len, printed)) == 16 << 10


def test_a_time_out_is_tried_twice_and_then_the_rest_gets_shorter_limits(graded):
    tries = graded.file("loops", "facts.json")["checks"]
    cpu = {name: [one["cpu_s"] for one in tries if one["check"] == name] for name in (POWER, POINT, LINEAR)}
    assert [len(times) for times in cpu.values()] == [2, 1, 1]
    assert min(cpu[POWER]) >= 1.0
    assert max(cpu[POINT] + cpu[LINEAR]) < 1.0
    assert "computed for more than 1 s" in graded.message("loops", POWER)


def test_after_an_import_that_timed_out_no_more_time_is_lost(graded):
    checks = [one["check"] for one in graded.file("sleeps-on-import", "facts.json")["checks"]]
    assert POINT not in checks
    assert checks.count("import engine.py") == 1


def test_a_module_that_rests_on_one_that_hangs_gets_the_shorter_limit(graded):
    cpu = {one["check"]: one["cpu_s"] for one in graded.file("loops-on-import", "facts.json")["checks"]}
    assert cpu["import graph.py"] >= 1.0 > cpu["import engine.py"]
    assert "import graph.py computed for more than 1 s" in graded.message("loops-on-import", SQUARE)
    assert "import engine.py did not end in time either" in graded.message("loops-on-import", POWER)


def test_a_canary_that_fails_spoils_its_own_checks_for_everybody_and_no_others(mini_course, tmp_path):
    mini = mini_course(tmp_path / "course")
    mini.hand_in("right")
    mini.hand_in("untouched", graph=mini.skeleton["graph.py"], engine=mini.skeleton["engine.py"])
    mini.edit("reference/lab0_chains/engine.py", "partial * node_to_grad[node]", "partial / 0")
    graded = mini.grade()
    assert set(graded.class_.faults) == {POWER, POINT, LINEAR}
    assert "division by zero" in in_full(graded.class_.faults[POINT])
    assert graded.points("right") == [None, 2, 3, None]
    assert graded.points("untouched") == [None, 0, 0, None]
    assert graded.outcomes("untouched") == ["not-attempted", "not-attempted", "grader-fault"]
    assert not graded.class_.complete


NAPS = """    import time
    for _ in range(12):
        time.sleep(0.1)
        sum(range(200_000))
"""


def test_napping_through_all_calls_of_a_check_is_stopped_by_its_one_wall_clock(mini_course, tmp_path):
    mini = mini_course(tmp_path / "course")
    mini.edit("reference/lab0_chains/lab.toml", "wall_s = 20", "wall_s = 2")
    mini.hand_in(
        "naps", engine=mini.solved["engine.py"].replace("    node_to_grad =", NAPS + "    node_to_grad =")
    )
    mini.hand_in("right")
    graded = mini.grade()
    assert graded.points("right") == [10, 2, 3, 5]
    assert graded.points("naps") == [5, 2, 3, 0]
    assert graded.outcomes("naps") == ["passed", "passed", "timed-out"]
    assert "had not ended after 2 s" in graded.message("naps", POWER)
    assert "did not end in time either" in graded.message("naps", LINEAR)


def test_wrong_numbers_get_a_detail_in_the_facts_and_nothing_else_does(graded):
    students = [student for student in graded.results if graded.file(student, "facts.json")["details"]]
    assert "zeros" in students
    assert not {"right", "untouched", "loops", "exits", "eats", "syntax", "two", "torn"} & set(students)
    (detail,) = graded.file("zeros", "facts.json")["details"]
    assert detail["check"] == POWER
    assert dict(detail["inputs"]).keys() == {"x", "n", "seed"}
    assert dict(detail["smaller"])["n"] == "1"
    assert "details" not in graded.file("zeros")


def test_details_that_can_not_be_found_cost_nobody_a_verdict(mini_course, graded, tmp_path):
    mini = mini_course(tmp_path / "course")
    zeros = "    return dict.fromkeys(topological_order(output), 0.0)"
    mini.hand_in("zeros", engine=filled(mini.skeleton["engine.py"], "reverse_mode", zeros))
    programs = mini.lab.grading / "programs.py"
    lies = "\n\ndef trace(lab, program, inputs):\n    return {'passes': [1, 'x', {}]}\n"
    programs.write_text(programs.read_text(encoding="utf-8") + lies, encoding="utf-8")
    again = mini.grade()
    assert again.points("zeros") == graded.points("zeros")
    assert again.file("zeros", "facts.json")["details"] == []
