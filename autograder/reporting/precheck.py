"""What `autograder precheck` writes: each student's report of the public tests, in the course's languages."""

from collections.abc import Iterator

from autograder.batch.precheck import SEED, Prechecked
from autograder.course import Course
from labkit.check import report
from labkit.lab import Lab
from labkit.messages import Message

from .pages.markdown import escape

PAGE = "precheck.md"


def page(course: Course, lab: Lab, result: Prechecked) -> str:
    """A student's page in Markdown: the course's first language first."""
    parts = ["\n".join(_in_language(lab, result, language)) for language in course.languages]
    return "\n\n---\n\n".join(parts) + "\n"


def _in_language(lab: Lab, result: Prechecked, language: str) -> Iterator[str]:
    title = Message("precheck.title", {"lab": lab.title[language], "student": result.student})
    yield f"# {escape(title.text(language))}"
    yield ""
    yield escape(Message("precheck.no-points").text(language))
    yield ""
    for message in result.said:
        yield f"- {escape(message.text(language))}"
    if result.run:
        yield from ("", "```text", *_report(lab, result, language), "```")


def _report(lab: Lab, result: Prechecked, language: str) -> Iterator[str]:
    """The report as on a student's machine; what his code says can't end the block it stands in."""
    assert result.run
    try:
        lines = list(report.lines(lab, SEED, result.run, language))
    except Exception:  # a hostile process may have told anything
        lines = [Message("precheck.unreadable").text(language)]
    for line in lines:
        plain = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
        yield plain.replace("```", "'''")
