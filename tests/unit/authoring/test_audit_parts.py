"""Parts of the audit that a whole run seldom shows: time-outs under short limits, kernels out of reach."""

import msgspec
import pytest

from autograder.authoring.audit_mutants import seen_again
from autograder.authoring.audit_right import Right, full_marks, reached
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
