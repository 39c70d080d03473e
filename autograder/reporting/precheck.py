"""What `autograder precheck` writes: each student's report of the public tests, in the course's languages."""

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.batch.precheck import SEED, Prechecked
from autograder.course import Course
from labkit.check import report
from labkit.lab import Lab
from labkit.messages import Message

from .pages.markdown import escape
from .pages.render import render

PAGE = "precheck.html"


@dataclass(frozen=True)
class PrecheckView:
    """A student's page in one language. `lines`: the report as `labkit check` has it, none if nothing ran."""

    language: str
    title: str
    note: str
    said: list[str]
    lines: list[str]


def pages(course: Course, lab: Lab, result: Prechecked) -> dict[str, bytes]:
    """A student's pages, by file name: the course's first language first."""
    views = [_view(lab, result, language) for language in course.languages]
    return {
        "precheck.md": ("\n\n---\n\n".join("\n".join(_markdown(view)) for view in views) + "\n").encode(),
        PAGE: render("precheck.html", pages=views).encode(),
    }


def _view(lab: Lab, result: Prechecked, language: str) -> PrecheckView:
    title = Message("precheck.title", {"lab": lab.title[language], "student": result.student})
    return PrecheckView(
        language,
        title.text(language),
        Message("precheck.no-points").text(language),
        [message.text(language) for message in result.said],
        list(_report(lab, result, language)) if result.run else [],
    )


def _markdown(view: PrecheckView) -> Iterator[str]:
    yield from (f"# {escape(view.title)}", "", escape(view.note), "")
    yield from (f"- {escape(message)}" for message in view.said)
    if view.lines:
        # What a student's code says can't end the block it stands in.
        yield from ("", "```text", *(line.replace("```", "'''") for line in view.lines), "```")


def _report(lab: Lab, result: Prechecked, language: str) -> Iterator[str]:
    assert result.run
    try:
        lines = list(report.lines(lab, SEED, result.run, language))
    except Exception:  # a hostile process may have told anything
        lines = [Message("precheck.unreadable").text(language)]
    for line in lines:
        yield "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
