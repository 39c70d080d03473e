"""The questions graded by hand as a page: who grades one question walks down its links."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.reporting.pages.render import render
from labkit.messages import Message

from .register import graded_cells

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

LANGUAGES = ("zh", "en")


@dataclass(frozen=True)
class Question:
    """A question with the addresses of its answers, those still to be graded and the others."""

    id: str
    max: float
    open: list[str]
    done: list[str]


@dataclass(frozen=True)
class QuestionsView:
    """The page in one language; of each question, its heading, how many are left, its mark scheme as HTML."""

    language: str
    title: str
    questions: list[tuple[str, str, str, Question]]


def page(
    gradebook: "Gradebook",
    lab: str,
    release: Mapping[str, Any],
    schemes: Mapping[tuple[str, str], str],
    base: str,
) -> str | None:
    """HTML, or None where the gradebook has no such lab.

    `release`: the notebook as it is handed out; `schemes`: HTML by grade id and language; `base`: of the
    server's addresses.
    """
    from nbgrader.api import MissingEntry

    try:
        assignment = gradebook.find_assignment(lab)
    except MissingEntry:
        return None
    found = _questions(assignment, boxes(release), base)
    views = [
        QuestionsView(
            language,
            _say("questions-title", language, lab=lab),
            [
                (
                    _say("questions-points", language, id=one.id, max=f"{one.max:g}"),
                    _say("questions-open", language, open=len(one.open), all=len(one.open) + len(one.done)),
                    schemes.get((one.id, language), ""),
                    one,
                )
                for one in found
            ],
        )
        for language in LANGUAGES
    ]
    return render("questions.html", pages=views)


def boxes(release: Mapping[str, Any]) -> dict[str, int]:
    """Grade id -> where its first box stands among all that Tab goes to on formgrader's page of a submission.

    The link to the next submission is the first of these; a cell with points has boxes for its score and for
    extra credit, a cell of the student's one for a comment.
    """
    found, count = {}, 1
    for _, mark in graded_cells(release):
        found[mark["grade_id"]] = count
        scored, commented = mark.get("grade") or mark.get("task"), mark.get("solution") or mark.get("task")
        count += (2 if scored else 0) + (1 if commented else 0)
    return found


def _questions(assignment: object, at: Mapping[str, int], base: str) -> list[Question]:
    found: dict[str, Question] = {}
    for submission in assignment.submissions:  # type: ignore[attr-defined]  # nbgrader's models have no types
        for notebook in submission.notebooks:
            by_hand = {comment.cell.name for comment in notebook.comments}
            for grade in notebook.grades:
                name = grade.cell.name
                if name in by_hand or grade.needs_manual_grade:
                    one = found.setdefault(name, Question(name, grade.max_score, [], []))
                    address = f"{base}/formgrader/submissions/{notebook.id}/?index={at[name]}"
                    (one.open if grade.needs_manual_grade else one.done).append(address)
    return [Question(one.id, one.max, sorted(one.open), sorted(one.done)) for one in found.values()]


def _say(id: str, language: str, /, **arguments: str | int) -> str:
    return Message(f"gradebook.{id}", arguments).text(language)
