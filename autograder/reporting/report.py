"""A student's report in Markdown, in every language of the course."""

import itertools
import re

from autograder.course import Course, Lab
from autograder.judging.verdicts import CheckResult, Result, TaskResult
from labkit.messages import Message

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&$])")


def markdown(course: Course, lab: Lab, result: Result) -> str:
    """The whole report; the course's first language comes first."""
    return "\n---\n\n".join(_in_language(lab, result, language) for language in course.languages)


def escape(text: str) -> str:
    """Text as Markdown shows it literally: what a student wrote must not become markup."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))
    return _SPECIAL.sub(r"\\\1", plain)


def _words(name: str, language: str, **arguments: str | int) -> str:
    return Message(f"report.{name}", arguments).text(language)


def _in_language(lab: Lab, result: Result, language: str) -> str:
    lines = [
        "# " + escape(_words("title", language, lab=lab.title[language], student=result.student)),
        "",
        _words("undecided", language)
        if result.points is None
        else _words("total", language, points=result.points, max=result.max),
        "",
    ]
    if result.error:
        lines += [escape(result.error.text(language)), ""]
    lines += [f"## {_words('tasks', language)}", "", _words("header", language), "|---|---|---|"]
    lines += [_row(task, language) for task in result.tasks]
    lines.append("")
    failed = [task for task in result.tasks if task.outcome != "passed"]
    if failed and not result.error:
        lines += [f"## {_words('details', language)}", ""]
        for task in failed:
            lines += _details(lab, task, language)
    elif not failed:
        lines += [_words("all-passed", language), ""]
    if result.notes:
        lines += [f"## {_words('notes', language)}", ""]
        lines += [f"- {escape(note.text(language))}" for note in result.notes] + [""]
    return "\n".join(lines)


def _row(task: TaskResult, language: str) -> str:
    points = "?" if task.points is None else task.points
    outcome = _words(f"outcome-{task.outcome}", language)
    return f"| {escape(task.title[language])} | {points} / {task.max} | {outcome} |"


def _details(lab: Lab, task: TaskResult, language: str) -> list[str]:
    lines = [f"### {escape(task.title[language])}", ""]
    if task.outcome == "blocked":
        needed = ", ".join(lab.task(id).title[language] for id in lab.task(task.id).needs)
        lines += [escape(_words("needs", language, tasks=needed)), ""] if needed else []
    failed = [check for check in task.checks if check.outcome != "passed" and _belongs(check)]
    first = failed[0].message if failed else None
    if len(failed) > 1 and first and all(check.message == first for check in failed):
        return [*lines, escape(first.text(language)), ""]  # one cause, so one sentence
    for message, checks in itertools.groupby(failed, key=lambda check: check.message):
        for check in checks:
            lines.append(_line(check, language))
        lines += ["", f"  {escape(message.text(language))}", ""] if message else [""]
    return lines


def _belongs(check: CheckResult) -> bool:
    """A check without points guards given code: it is shown only when that code was changed."""
    return (
        check.max > 0
        or check.points is None
        or (check.message is not None and check.message.id == "judging.given-changed")
    )


def _line(check: CheckResult, language: str) -> str:
    points = "?" if check.points is None else check.points
    outcome = _words(f"outcome-{check.outcome}", language)
    return f"- **{escape(check.title[language])}** ({points} / {check.max}, {outcome})"
