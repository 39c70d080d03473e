"""From verdicts to points: which outcome a task gets, what it earns, and when nothing may be decided."""

import itertools
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.course import Lab, Limits, Task
from autograder.judging.explain import in_full
from autograder.judging.verdicts import PRECEDENCE, Check, Verdict, result_of
from labkit.messages import Message

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TITLE = {"zh": "题", "en": "Title"}


def lab_of(**tasks):
    """A lab: task id -> (points, needs)."""
    return Lab(
        id="lab0",
        folder="lab0",
        title=TITLE,
        released=NOW,
        due=NOW,
        solutions_after=NOW,
        modules=("graph.py",),
        kernels=(),
        notebook=None,
        limits=Limits(),
        tasks=tuple(
            Task(id, points, TITLE, ("graph.py",), (), needs, Limits())
            for id, (points, needs) in tasks.items()
        ),
        reference=Path("/"),
        skeleton=Path("/"),
    )


def outcome_of(*outcomes, points=1):
    """Outcome and points of one task whose checks, worth `points` each, ended so."""
    checks = [Check(f"c{number}", "t", points, TITLE) for number in range(len(outcomes))]
    verdicts = [Verdict(check.id, outcome) for check, outcome in zip(checks, outcomes, strict=True)]
    (task,) = result_of(lab_of(t=(len(outcomes) * points, ())), checks, verdicts, "ann", 0).tasks
    return task.outcome, task.points


def two_tasks(first, second, points=4):
    """The result of a lab whose second task needs the first."""
    checks = [Check("one", "a", 6, TITLE), Check("two", "b", points, TITLE)]
    lab = lab_of(a=(6, ()), b=(points or 1, ("a",)))
    return result_of(lab, checks, [Verdict("one", first), Verdict("two", second)], "ann", 3)


def test_a_task_passes_when_all_its_checks_pass():
    assert outcome_of("passed", "passed", points=3) == ("passed", 6)


@pytest.mark.parametrize(("worse", "better"), list(itertools.pairwise(PRECEDENCE)))
def test_the_worst_outcome_is_the_task_s_in_whatever_order_the_checks_come(worse, better):
    assert outcome_of(worse, better)[0] == outcome_of(better, worse, "passed")[0] == worse


def test_the_precedence_is_that_of_the_interface():
    assert " ".join(PRECEDENCE) == (
        "grader-fault not-run forbidden-action timed-out out-of-memory exited-early "
        "malformed-reply crashed not-attempted blocked wrong"
    )


def test_checks_that_passed_keep_their_points():
    assert outcome_of("passed", "wrong", "passed", points=2) == ("wrong", 4)


@pytest.mark.parametrize("outcome", ["grader-fault", "not-run"])
def test_what_could_not_be_judged_leaves_points_open_and_never_gives_zero(outcome):
    result = two_tasks("passed", outcome)
    assert [task.points for task in result.tasks] == [6, None]
    assert result.points is None
    assert not result.complete


def test_a_student_who_fails_everything_is_complete_with_zero():
    result = two_tasks("crashed", "timed-out")
    assert (result.points, result.complete) == (0, True)


@pytest.mark.parametrize("outcome", ["wrong", "crashed", "not-attempted"])
def test_a_failure_that_follows_from_a_needed_task_is_called_blocked(outcome):
    assert two_tasks("wrong", outcome).tasks[1].outcome == "blocked"
    assert two_tasks("passed", outcome).tasks[1].outcome == outcome


@pytest.mark.parametrize(
    "outcome", ["timed-out", "out-of-memory", "forbidden-action", "grader-fault", "passed"]
)
def test_other_outcomes_keep_their_name_though_a_needed_task_failed(outcome):
    assert two_tasks("wrong", outcome).tasks[1].outcome == outcome


def test_needs_only_rename_and_a_check_that_passed_keeps_its_points():
    assert two_tasks("not-attempted", "passed").points == 4


def test_blocked_is_passed_on_along_a_chain_of_needs():
    lab = lab_of(a=(1, ()), b=(1, ("a",)), c=(1, ("b",)), d=(1, ()))
    checks = [Check(f"check {id}", id, 1, TITLE) for id in "abcd"]
    result = result_of(lab, checks, [Verdict(check.id, "wrong") for check in checks], "ann", 0)
    assert [task.outcome for task in result.tasks] == ["wrong", "blocked", "blocked", "wrong"]


def test_changed_given_code_is_never_called_blocked():
    lab = lab_of(a=(1, ()), b=(0, ("a",)))
    checks = [Check("one", "a", 1, TITLE), Check("guard", "b", 0, TITLE)]
    changed = Message("judging.given-changed", {"call": "f()", "file": "graph.py"})
    result = result_of(lab, checks, [Verdict("one", "wrong"), Verdict("guard", "wrong", changed)], "ann", 0)
    assert [task.outcome for task in result.tasks] == ["wrong", "wrong"]


def test_a_check_without_a_verdict_is_a_grader_fault_and_never_silence():
    checks = [Check("one", "t", 5, TITLE), Check("two", "t", 5, TITLE)]
    result = result_of(lab_of(t=(10, ())), checks, [Verdict("one", "passed")], "ann", 0)
    assert result.tasks[0].checks[1].outcome == "grader-fault"
    assert "no verdict" in in_full(result.tasks[0].checks[1].message)
    assert result.points is None


def test_a_check_with_two_verdicts_is_a_grader_fault_too():
    checks = [Check("one", "t", 5, TITLE)]
    verdicts = [Verdict("one", "passed"), Verdict("one", "wrong")]
    result = result_of(lab_of(t=(5, ())), checks, verdicts, "ann", 0)
    assert (result.tasks[0].outcome, result.points) == ("grader-fault", None)


def test_every_check_stands_in_the_result_under_its_task_with_its_message():
    message = Message("judging.law", {"text": "no"})
    checks = [Check("one", "b", 1, TITLE), Check("two", "a", 2, TITLE), Check("three", "b", 0, TITLE)]
    verdicts = [Verdict("three", "passed"), Verdict("two", "passed"), Verdict("one", "wrong", message)]
    result = result_of(lab_of(a=(2, ()), b=(1, ())), checks, verdicts, "ann", 9)
    assert [[check.id for check in task.checks] for task in result.tasks] == [["two"], ["one", "three"]]
    assert result.tasks[1].checks[0].message == message
    assert (result.student, result.lab, result.variant, result.max) == ("ann", "lab0", 9, 3)
