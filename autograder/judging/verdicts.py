"""Outcomes and points: from cases to checks to tasks to a student's result. Plain data and pure functions."""

from collections.abc import Iterable

import msgspec

from autograder.course import Lab, Task
from labkit.messages import Message

# Worst first: a task that does not pass has the first of these that occurs among its checks.
PRECEDENCE = (
    "grader-fault",
    "not-run",
    "forbidden-action",
    "timed-out",
    "out-of-memory",
    "exited-early",
    "malformed-reply",
    "crashed",
    "not-attempted",
    "blocked",
    "wrong",
)
UNDECIDED = ("grader-fault", "not-run")  # no points are given or taken
UNSTARTED = ("not-attempted", "blocked")  # how the untouched skeleton ends
_RENAMED = ("crashed", "not-attempted", "wrong")  # what `blocked` stands for if a needed task failed


class Check(msgspec.Struct, frozen=True):
    """A test function of the grading tests: `id` is FILE::FUNCTION."""

    id: str
    task: str
    points: int
    title: dict[str, str]


class Verdict(msgspec.Struct, frozen=True):
    """How a check ended for one student."""

    check: str
    outcome: str
    message: Message | None = None


class CheckResult(msgspec.Struct, frozen=True):
    """A line of the feedback. `points` is None where nothing may be decided."""

    id: str
    title: dict[str, str]
    points: int | None
    max: int
    outcome: str
    message: Message | None


class TaskResult(msgspec.Struct, frozen=True):
    """A task's points are the sum of what its checks earned."""

    id: str
    title: dict[str, str]
    points: int | None
    max: int
    outcome: str
    checks: list[CheckResult]


class Result(msgspec.Struct, frozen=True):
    """All that grading says of one student's lab; no times, no machine: equal inputs give equal results."""

    student: str
    lab: str
    variant: int
    points: int | None
    max: int
    complete: bool
    error: Message | None
    notes: list[Message]
    tasks: list[TaskResult]


def result_of(
    lab: Lab,
    checks: list[Check],
    verdicts: Iterable[Verdict],
    student: str,
    variant: int,
    error: Message | None = None,
    notes: Iterable[Message] = (),
) -> Result:
    """Verdicts summed up. A check without a verdict, or with two, is a grader fault, never silence."""
    found: dict[str, list[Verdict]] = {check.id: [] for check in checks}
    for verdict in verdicts:
        found[verdict.check].append(verdict)
    tasks: list[TaskResult] = []
    for task in lab.tasks:
        failed = [other for other in tasks if other.id in task.needs and other.outcome != "passed"]
        own = [_check_result(check, found[check.id], failed) for check in checks if check.task == task.id]
        tasks.append(_task_result(task, own))
    complete = all(task.points is not None for task in tasks)
    points = sum(task.points or 0 for task in tasks) if complete else None
    return Result(student, lab.id, variant, points, lab.max_points, complete, error, list(notes), tasks)


def _check_result(check: Check, verdicts: list[Verdict], failed: list[TaskResult]) -> CheckResult:
    if len(verdicts) == 1:
        verdict = verdicts[0]
    else:
        text = "no verdict" if not verdicts else "more than one verdict"
        verdict = Verdict(check.id, "grader-fault", Message("judging.grader-fault", {"text": text}))
    outcome, message = verdict.outcome, verdict.message
    changed = message is not None and message.id == "judging.given-changed"
    if failed and outcome in _RENAMED and not changed:
        outcome = "blocked"
    points = None if outcome in UNDECIDED else check.points if outcome == "passed" else 0
    return CheckResult(check.id, check.title, points, check.points, outcome, message)


def _task_result(task: Task, checks: list[CheckResult]) -> TaskResult:
    outcomes = {check.outcome for check in checks if check.outcome != "passed"}
    outcome = next((name for name in PRECEDENCE if name in outcomes), "passed")
    points = None if outcome in UNDECIDED else sum(check.points or 0 for check in checks)
    return TaskResult(task.id, task.title, points, task.points, outcome, checks)
