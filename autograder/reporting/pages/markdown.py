"""A student's page in Markdown: the same content as the HTML, in plain form."""

import re

from labkit.draw import as_text

from .drawing import Explained, words
from .view import CheckView, PageView, TaskView, report_words

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&$])")


def escape(text: str) -> str:
    """Text as Markdown shows it literally: what a student wrote must not become markup."""
    plain = " ".join(text.split())
    if not plain.isprintable():
        plain = "".join(letter if letter.isprintable() else "?" for letter in plain)
    return _SPECIAL.sub(r"\\\1", plain)


def markdown(pages: list[PageView]) -> str:
    """The page in every language, the course's first language first."""
    return "\n---\n\n".join(map(_in_language, pages))


def _in_language(page: PageView) -> str:
    language = page.language
    lines = [f"# {escape(page.title)}", "", page.total, ""]
    lines += [f"- {_headed(*one, language)}" for one in page.summary] + [""]
    lines += [f"## {report_words('tasks', language)}", "", report_words("header", language), "|---|---|---|"]
    lines += [f"| {escape(task.title)} | {task.points} | {task.outcome_words} |" for task in page.tasks]
    lines.append("")
    shown = [task for task in page.tasks if task.checks]
    if shown:
        lines += [f"## {report_words('details', language)}", ""]
        for task in shown:
            lines += _task(task, language)
    if page.notes:
        lines += [f"## {report_words('notes', language)}", ""]
        lines += [f"- {escape(note)}" for note in page.notes] + [""]
    return "\n".join(lines)


def _headed(heading: str, text: str, language: str) -> str:
    if not heading:
        return escape(text)
    return words("headed", language, heading=f"**{heading}**", text=escape(text))


def _task(task: TaskView, language: str) -> list[str]:
    lines = [f"### {escape(task.title)}", ""]
    lines += [escape(task.needs), ""] if task.needs else []
    for check in task.checks:
        lines += _check(check, language)
    return lines


def _check(check: CheckView, language: str) -> list[str]:
    lines = [f"- **{escape(title)}** ({points}, {outcome})" for title, points, outcome in check.titles]
    lines += ["", f"  {escape(check.message)}", ""] if check.message else [""]
    return lines + (_detail(check.detail, language) if check.detail else [])


def _detail(detail: Explained, language: str) -> list[str]:
    lines = []
    for heading, inputs, says in (
        ("inputs", detail.inputs, ""),
        ("smaller", detail.smaller, detail.smaller_says),
    ):
        if inputs:
            listed = ", ".join(f"{name} = {value}" for name, value in inputs)
            lines += [f"  {_headed(words(heading, language), listed, language)}", ""]
        lines += [f"  {escape(says)}", ""] if says else []
    for text in (detail.found, detail.sum):
        lines += [f"  {escape(text)}", ""] if text else []
    if detail.reports:
        lines += [f"  {words('reports', language)}", ""]
        lines += [f"  - {escape(report)}" for report in detail.reports] + [""]
    if detail.items:
        drawn = as_text(detail.items).replace("`", "'")
        lines += [f"  {detail.caption}", "", "  ```text"]
        lines += [f"  {line}" for line in drawn.splitlines()] + ["  ```", ""]
    lines += [f"  {_headed(words('next', language), detail.next, language)}", ""] if detail.next else []
    return lines
