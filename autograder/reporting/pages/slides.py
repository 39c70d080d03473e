"""The slides for the next lecture, in one language: figures and topics, nothing that points at anybody."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.batch.store import Stored
from autograder.course import Course, Lab
from autograder.judging.verdicts import Result
from autograder.reporting.analysis import Figures, check_figures

from .drawing import words
from .mistakes import MistakeView, mistake_views

FEW = 3  # students; nothing of a smaller class is shown, and no mistake or hard check of fewer
BARS, LISTED = 7, 8  # checks on a slide: with bars, in a list


@dataclass(frozen=True)
class SlidesView:
    """All slides; `tasks` have the percentage of students who pass."""

    language: str
    title: str
    course: str
    students: int
    tasks: list[tuple[str, int]]
    hardest: list[Figures]
    everybody: list[Figures]
    nobody: list[Figures]
    mistakes: list[MistakeView]


def slides_view(course: Course, lab: Lab, everybody: Sequence[Stored], language: str) -> SlidesView:
    """The slides from everybody's stored results.

    Raises: CourseError for a mutants.toml that can't be read.
    """
    shown = everybody if len(everybody) >= FEW else []
    results = [one.result for one in shown]
    checks = check_figures(results)
    hardest = [one for one in checks if one.passed and one.failed >= FEW]
    return SlidesView(
        language,
        words("slides-title", language, lab=lab.title[language]),
        course.name[language],
        len(everybody),
        _tasks(results, language),
        sorted(hardest, key=lambda one: one.share)[:BARS],
        [one for one in checks if not one.failed],
        [one for one in checks if not one.passed],
        mistake_views(course, lab, shown, language, least=FEW),
    )


def _tasks(results: Sequence[Result], language: str) -> list[tuple[str, int]]:
    tasks = zip(*(result.tasks for result in results), strict=True)
    return [
        (same[0].title[language], 100 * sum(task.outcome == "passed" for task in same) // len(same))
        for same in tasks
    ]
