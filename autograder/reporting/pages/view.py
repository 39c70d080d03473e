"""What a student's page says, in one language, before it is laid out: HTML and Markdown show the same."""

import itertools
from dataclasses import dataclass

from autograder.batch.store import Stored
from autograder.course import Course, HintLevel, Lab
from autograder.judging.details import Detail
from autograder.judging.verdicts import UNDECIDED, CheckResult, Result, TaskResult
from labkit.messages import Message

from .drawing import Explained, explained, words


@dataclass(frozen=True)
class CheckView:
    """Checks that failed for the same reason, told once."""

    titles: list[tuple[str, str, str]]  # title, points, outcome in words
    message: str
    detail: Explained | None


@dataclass(frozen=True)
class TaskView:
    """A task with the checks to look at, if any."""

    id: str
    title: str
    points: str
    share: float
    max: int
    outcome: str
    outcome_words: str
    needs: str
    checks: list[CheckView]


@dataclass(frozen=True)
class PageView:
    """A page: `summary` has its own heading words, at most eight lines in all."""

    language: str
    title: str
    total: str
    summary: list[tuple[str, str]]
    first: str  # the id of the task to look at first
    tasks: list[TaskView]
    notes: list[str]


def report_words(id: str, language: str, /, **arguments: str | int) -> str:
    """A word of the report, such as an outcome's."""
    return Message(f"report.{id}", arguments).text(language)


def view(course: Course, lab: Lab, stored: Stored, language: str) -> PageView:
    """The page of a stored result."""
    result = stored.result
    first = _first(result)
    return PageView(
        language,
        report_words("title", language, lab=lab.title[language], student=result.student),
        report_words("undecided", language)
        if result.points is None
        else report_words("total", language, points=result.points, max=result.max),
        _summary(course, lab, stored, first, language),
        first.id if first else "",
        [_task(course, lab, stored, task, language) for task in result.tasks],
        [note.text(language) for note in result.notes] + _gate(stored, language),
    )


def _gate(stored: Stored, language: str) -> list[str]:
    """What the real CUDA compiler says against kernels, where it is installed: a fact, never a check."""
    lines = [line for entry in stored.facts.checks for line in entry.get("gate", [])]
    return [words("gate", language, text=line) for line in lines]


def _first(result: Result) -> TaskResult | None:
    """The task to look at first: the first to fail by itself that a student can do something about."""
    failed = [task for task in result.tasks if task.outcome != "passed"]
    own = [task for task in failed if task.outcome not in ("blocked", *UNDECIDED)]
    return next(iter(own or failed), None)


def _cause(task: TaskResult, details: dict[str, Detail], hints: HintLevel) -> CheckResult | None:
    """The check that tells most of why a task failed: one with the task's outcome; explained, if any is, and
    with what a recognised mistake may tell, if one was."""
    failed = [check for check in to_show(task) if check.outcome == task.outcome] or to_show(task)
    told = [check for check in failed if check.id in details]
    hinted = [check for check in told if _tells(details[check.id], hints)]
    return next(iter(hinted or told or failed), None)


def _tells(detail: Detail, hints: HintLevel) -> bool:
    """Whether it has a hint of this level."""
    return bool(detail.hint if hints == "mistake" else hints == "topic" and (detail.found or detail.topics))


def _summary(
    course: Course, lab: Lab, stored: Stored, first: TaskResult | None, language: str
) -> list[tuple[str, str]]:
    result = stored.result
    passed = [task.title[language] for task in result.tasks if task.outcome == "passed"]
    if first is None:
        return [("", report_words("all-passed", language))]
    lines = [(words("passed-tasks", language), " · ".join(passed))] if passed else []
    points = "?" if first.points is None else first.points
    told = words("points", language, points=points, max=first.max)
    if not result.error:
        lines.append((words("look-first", language), f"{first.title[language]} ({told})"))
    check = _cause(first, stored.details, course.hint_level)
    message = result.error or (check.message if check else None)
    detail = stored.details.get(check.id) if check else None
    shown = explained(detail, course.hint_level, language) if detail else None
    why = (shown.smaller_says if shown else "") or (message.text(language) if message else "")
    if why:
        lines.append((words("why", language), why))
    if shown and (where := shown.found or next(iter(shown.reports), "")):
        lines.append((words("where", language), where))
    hint = shown.next if shown else ""
    lines.append((words("next", language), hint or words(f"next-{_topic(lab, first, message)}", language)))
    return lines


def _topic(lab: Lab, first: TaskResult, message: Message | None) -> str:
    """What the next step is about, where nothing more is known than how a task ended."""
    if message and message.id == "cuda.compile-error":
        return "compile"
    if lab.notebook in lab.task(first.id).files and first.outcome in ("wrong", "crashed", "not-attempted"):
        return f"cell-{first.outcome}"
    if lab.launched(lab.task(first.id)) and first.outcome in ("wrong", "timed-out"):
        return "report-timeout" if first.outcome == "timed-out" else "kernel"
    return first.outcome


def _task(course: Course, lab: Lab, stored: Stored, task: TaskResult, language: str) -> TaskView:
    needed = [lab.task(id).title[language] for id in lab.task(task.id).needs]
    builds_on = report_words("needs", language, tasks=", ".join(needed))
    return TaskView(
        task.id,
        task.title[language],
        _points(task),
        (task.points or 0) / max(task.max, 1),
        task.max,
        task.outcome,
        report_words(f"outcome-{task.outcome}", language),
        builds_on if needed and task.outcome == "blocked" else "",
        [] if stored.result.error else _checks(course, stored, task, language),
    )


def _checks(course: Course, stored: Stored, task: TaskResult, language: str) -> list[CheckView]:
    views = []
    for message, group in itertools.groupby(to_show(task), key=lambda check: check.message):
        checks = list(group)
        detail = next((stored.details[check.id] for check in checks if check.id in stored.details), None)
        titles = [
            (check.title[language], _points(check), report_words(f"outcome-{check.outcome}", language))
            for check in checks
        ]
        text = message.text(language) if message else ""
        shown = explained(detail, course.hint_level, language) if detail else None
        views.append(CheckView(titles, text, shown))
    return views


def to_show(task: TaskResult) -> list[CheckResult]:
    """The checks of a task that failed; one that guards given code only where that code was changed."""
    return [check for check in task.checks if check.outcome != "passed" and _belongs(check)]


def _belongs(check: CheckResult) -> bool:
    changed = check.message is not None and check.message.id == "judging.given-changed"
    return check.max > 0 or check.points is None or changed


def _points(part: TaskResult | CheckResult) -> str:
    return f"{'?' if part.points is None else part.points} / {part.max}"
