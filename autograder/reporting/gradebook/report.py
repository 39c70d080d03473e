"""What is said of a task in the gradebook: its report below the test cell, and one line in a comment box."""

from rich.console import Console
from rich.text import Text

from autograder.batch.store import Stored
from autograder.course import Course, Lab
from autograder.judging.verdicts import Result, TaskResult
from autograder.reporting.pages.drawing import Explained, words
from autograder.reporting.pages.view import CheckView, TaskView, report_words, view
from labkit.draw import as_text
from labkit.messages import Message

LINE = 300  # characters of a comment
WIDTH = 110  # columns of a report


def reports(course: Course, lab: Lab, stored: Stored, language: str) -> dict[str, str]:
    """Task -> its report as plain text."""
    page = view(course, lab, stored, language)
    error = stored.result.error
    why = error.text(language) if error else ""
    return {task.id: folded(plain(_report(task, why))) for task in page.tasks}


def _report(task: TaskView, why: str) -> str:
    lines = [f"{task.title}: {task.points}, {task.outcome_words}"]
    lines += [line for line in (why, task.needs) if line]
    for check in task.checks:
        lines += ["", *_check(check)]
    return "\n".join(lines) + "\n"


def _check(check: CheckView) -> list[str]:
    lines = [f"{title} ({points}, {outcome})" for title, points, outcome in check.titles]
    lines += [f"  {check.message}"] if check.message else []
    return lines + (_detail(check.detail) if check.detail else [])


def _detail(detail: Explained) -> list[str]:
    said = [detail.smaller_says, detail.found, detail.sum, *detail.reports]
    lines = [f"  {text}" for text in said if text]
    if detail.items:
        lines += [f"  {detail.caption}", *(f"    {line}" for line in as_text(detail.items).splitlines())]
    return [*lines, f"  {detail.next}"] if detail.next else lines


def comments(lab: Lab, result: Result, language: str) -> dict[str, str]:
    """Solution cell -> one line about the task that it belongs to."""
    found: dict[str, str] = {}
    for task in lab.tasks:
        if lab.notebook in task.files:
            (graded,) = (one for one in result.tasks if one.id == task.id)
            found |= {blank.name: _line(graded, language) for blank in task.blanks}
    return found


def _line(task: TaskResult, language: str) -> str:
    points = words("points", language, points="?" if task.points is None else task.points, max=task.max)
    outcome = report_words(f"outcome-{task.outcome}", language)
    first = next(
        (check.message for check in task.checks if check.outcome != "passed" and check.message), None
    )
    said = Message(
        "gradebook.comment" if first else "gradebook.comment-short",
        {
            "title": task.title[language],
            "points": points,
            "outcome": outcome,
            "why": first.text(language) if first else "",
        },
    )
    line = " ".join(plain(said.text(language)).split())
    return f"{line[: LINE - 1]}…" if len(line) > LINE else line


def folded(text: str) -> str:
    """Lines that fit a page, a Chinese character as wide as two; the rest of a line is indented like it."""
    console = Console(width=WIDTH)
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip(" "))]
        pieces = Text(line.removeprefix(indent)).wrap(console, WIDTH - len(indent))
        lines += [f"{indent}{piece.plain.rstrip()}" for piece in pieces] or [""]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text that moves no cursor, changes no colour and turns no line around, whatever a student wrote."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)
