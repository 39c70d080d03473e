"""Parts of the audit that a whole run seldom shows: time-outs under short limits, kernels out of reach."""

import msgspec
import pytest

from autograder.authoring.audit_mutants import seen_again
from autograder.authoring.audit_right import Right, full_marks, reached
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import solved_modules
from autograder.judging.verdicts import Check, Verdict, result_of


def result(lab, outcomes):
    """A result whose tasks have one check each, called like the task; "passed" if nothing else is said."""
    checks = [Check(task.id, task.id, task.points, {}) for task in lab.tasks]
    verdicts = [Verdict(task.id, outcomes.get(task.id, "passed")) for task in lab.tasks]
    return result_of(lab, checks, verdicts, "some--1", 5)


@pytest.mark.parametrize(
    ("before", "now", "seen"),
    [
        ("wrong", "wrong", True),
        ("wrong", "crashed", True),
        ("wrong", "timed-out", False),  # it may be the short limit alone
        ("timed-out", "timed-out", True),
        ("timed-out", "wrong", True),
        ("timed-out", "passed", False),
        ("wrong", "not-run", False),
    ],
)
def test_what_saw_a_mutant_before_sees_it_again_unless_only_a_short_limit_does(mini, before, now, seen):
    assert seen_again(result(mini.lab, {"order": now}), {"order": before}) == ({"order"} if seen else set())


def test_a_time_out_where_nothing_was_seen_before_is_no_kill(mini):
    assert seen_again(result(mini.lab, {"order": "timed-out"}), {"square": "wrong"}) == set()


def test_kernels_are_out_of_reach_of_mistakes_in_modules_and_not_the_other_way_round(cuda_course):
    lab, solved = cuda_course.lab, solved_modules(cuda_course.lab)
    everything = {task.id for task in lab.tasks}
    kernels = {task.id for task in lab.tasks if lab.launched(task)}
    assert kernels and kernels < everything
    assert reached(lab, solved, solved) == everything - kernels
    assert reached(lab, solved, solved | {"cuda_ops.py": "other = 1"}) == everything - kernels
    assert reached(lab, solved, solved | {"kernels.cu": "other"}) == everything


def test_right_work_has_full_marks_in_what_ran_and_what_did_not_run_is_none(mini):
    everything = frozenset(task.id for task in mini.lab.tasks)
    good, bad = result(mini.lab, {}), result(mini.lab, {"order": "not-run"})
    assert full_marks(good, everything) and not full_marks(bad, everything)
    assert Right("it", everything, (good, bad)).failed == [bad]
    some = Right("it", everything - {"order"}, (good, bad))
    assert some.failed == []
    (order,) = (task for task in mini.lab.tasks if task.id == "order")
    assert some.points == (mini.lab.max_points - order.points,) * 2
    wrong = msgspec.structs.replace(
        good, tasks=[msgspec.structs.replace(one, points=0) for one in good.tasks]
    )
    assert Right("it", everything, (good, wrong)).points == (0, mini.lab.max_points)


def test_work_runs_the_checks_it_names_and_in_a_hurry_waits_less_for_what_never_ends(mini, level, tmp_path):
    endless = solved_modules(mini.lab)
    endless["graph.py"] = endless["graph.py"].replace(
        "def square(a):", "def square(a):\n    while True: pass"
    )
    runs = Runs(mini.lab, tmp_path / "kept", lambda: level, 1, lambda _: None, lambda: None)
    runs.run([Work("whole", endless, 0, ("square",))])
    (check, *_) = (one.id for task in runs.of("whole")[0].tasks if task.id == "square" for one in task.checks)
    runs.run([Work("hurried", endless, 0, (check,), hurried=True)])
    spent = {}
    for name in ("whole", "hurried"):
        (graded,) = runs.graded(name)
        spent[name] = [entry["cpu_s"] for entry in graded.facts if entry["check"] == check]
    ran = [one for task in runs.of("hurried")[0].tasks for one in task.checks if one.outcome != "not-run"]
    assert [(one.id, one.outcome) for one in ran] == [(check, "timed-out")]
    assert len(spent["whole"]) == 2 and len(spent["hurried"]) == 1  # a time-out is confirmed, or not
    assert spent["hurried"][0] < min(spent["whole"]) / 2
