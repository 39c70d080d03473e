"""The mistakes that diagnosis recognised, as a class may see them: counted, explained, nobody's text."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.batch.store import Stored
from autograder.course import Course, Lab
from autograder.judging.mistakes import read_titles
from autograder.reporting.analysis import Recognised, recognised
from autograder.reporting.handout import Quoted, quoted

from .drawing import Explained, anonymous


@dataclass(frozen=True)
class MistakeView:
    """A family of mistakes. `call` shows one where no graph does; `hints` have the number of students.

    `next`: the commonest hint where the course's feedback says so much, else what to say without the handout.
    """

    title: str
    count: int
    tasks: list[str]
    quoted: list[Quoted]
    hints: list[tuple[str, int]]
    next: str
    example: Explained
    call: str


def mistake_views(
    course: Course, lab: Lab, everybody: Sequence[Stored], language: str, least: int = 1
) -> list[MistakeView]:
    """What at least so many students did, commonest first.

    Raises: CourseError for a mutants.toml that can't be read.
    """
    titles = {family: getattr(title, language) for family, title in read_titles(lab).items()}
    rows = quoted(course.root, lab.id, language)
    return [
        _view(course, one, titles.get(one.family, one.family), rows.get(one.family, []), language)
        for one in recognised(everybody)
        if one.students >= least
    ]


def _view(course: Course, one: Recognised, title: str, rows: list[Quoted], language: str) -> MistakeView:
    shown = anonymous(one.example, course.hint_level, language)
    inputs = ", ".join(f"{name}={value}" for name, value in shown.smaller or shown.inputs)
    hints = [(hint[language], count) for hint, count in one.hints]
    return MistakeView(
        title,
        one.students,
        [task[language] for task in one.tasks],
        rows,
        hints,
        hints[0][0] if hints and course.hint_level == "mistake" else "" if rows else shown.next,
        shown,
        f"{one.example.program}({inputs})" if one.example.program and not shown.items else "",
    )
