"""What the class page says, in one language: how the class did, what it fails, who needs a person."""

import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.batch.store import Stored
from autograder.course import Course, Lab
from autograder.judging.details import Detail
from autograder.judging.verdicts import UNDECIDED, Result, TaskResult
from autograder.reporting.analysis import Figures, check_figures
from labkit.messages import Message

from .drawing import words
from .mistakes import MistakeView, mistake_views
from .view import report_words, to_show

BINS = 10
COMMONEST, NAMED = 10, 6  # lines of this table, students named in a line


_Case = tuple[str, TaskResult, Message, Detail | None]  # a student's failure of a task
_OF_A_TASK = frozenset(  # messages of a kind that two tasks may have for different reasons
    f"judging.{name}" for name in ("wrong-value", "wrong-kind", "law", "exception", "not-attempted")
)


@dataclass(frozen=True)
class TaskLine:
    """How the class did on a task; `outcomes` are (outcome, its words, how many students)."""

    title: str
    passed: int
    mean: str
    max: int
    outcomes: list[tuple[str, str, int]]


@dataclass(frozen=True)
class Failure:
    """Students whose work fails in the same way, with what one of them reads."""

    tasks: list[str]
    outcome: str
    outcome_words: str
    text: str
    students: list[str]
    more: int

    @property
    def count(self) -> int:
        """How many students."""
        return len(self.students) + self.more


@dataclass(frozen=True)
class StudentLine:
    """A student in the table; `tasks` are (title, points, outcome, its words)."""

    student: str
    points: str
    tasks: list[tuple[str, str, str, str]]


@dataclass(frozen=True)
class ClassView:
    """The page. `bins` are (lowest points, highest points, students)."""

    language: str
    title: str
    summary: str
    undecided: str
    bins: list[tuple[int, int, int]]
    count: int
    tasks: list[TaskLine]
    failures: list[Failure]
    mistakes: list[MistakeView]
    checks: list[Figures]
    person: list[tuple[str, str]]
    students: list[StudentLine]


def class_view(
    course: Course, lab: Lab, everybody: Sequence[Stored], refused: Sequence[Message], language: str
) -> ClassView:
    """The page of everybody's stored results; folders in `refused` were passed over.

    Raises: CourseError for a mutants.toml that can't be read.
    """
    results = [one.result for one in everybody]
    totals = [result.points for result in results if result.points is not None]
    median = f"{statistics.median(totals):g}" if totals else "–"
    full = sum(points == lab.max_points for points in totals)
    undecided = len(results) - len(totals)
    return ClassView(
        language,
        words("class-title", language, lab=lab.title[language]),
        words("class-summary", language, students=len(results), median=median, max=lab.max_points, full=full),
        words("class-undecided", language, count=undecided) if undecided else "",
        _bins(totals, lab.max_points),
        len(results),
        _tasks(results, language),
        _failures(everybody, language),
        mistake_views(course, lab, everybody, language),
        check_figures(results),
        list(_person(results, refused, language)),
        [_line(result, language) for result in results],
    )


def _bins(totals: list[int], most: int) -> list[tuple[int, int, int]]:
    """Ten ranges of points; the last one ends with full points."""
    edges = [round(most * place / BINS) for place in range(BINS)] + [most + 1]
    pairs = list(itertools.pairwise(edges))
    return [(low, high - 1, sum(low <= points < high for points in totals)) for low, high in pairs]


def _tasks(results: list[Result], language: str) -> list[TaskLine]:
    lines = []
    for same in zip(*(result.tasks for result in results), strict=True):
        points = [task.points for task in same if task.points is not None]
        counts: dict[str, int] = defaultdict(int)
        for task in same:
            counts[task.outcome] += 1
        outcomes = [
            (outcome, report_words(f"outcome-{outcome}", language), count)
            for outcome, count in sorted(counts.items(), key=lambda one: -one[1])
        ]
        mean = f"{statistics.mean(points):.1f}" if points else "–"
        lines.append(TaskLine(same[0].title[language], counts["passed"], mean, same[0].max, outcomes))
    return lines


def _failures(everybody: Sequence[Stored], language: str) -> list[Failure]:
    """Grouped by outcome, kind of message and kind of mistake; what is wrong, by task as well."""
    groups: dict[tuple[str, ...], list[_Case]] = defaultdict(list)
    for one in everybody:
        details = one.details
        for task in one.result.tasks:
            own = [check for check in to_show(task) if check.outcome == task.outcome]
            check = next((check for check in own if check.id in details), own[0] if own else None)
            if check is None or check.message is None or task.outcome in ("blocked", *UNDECIDED):
                continue
            if check.message.id == "judging.timed-out-again":  # the consequence of another time-out
                continue
            detail = details.get(check.id)
            where = task.id if check.message.id in _OF_A_TASK else ""
            groups[where, task.outcome, check.message.id, *_kind(detail)].append(
                (one.result.student, task, check.message, detail)
            )
    failures = [_failure(group, language) for group in groups.values()]
    return sorted(failures, key=lambda failure: -failure.count)[:COMMONEST]


def _kind(detail: Detail | None) -> tuple[str, str]:
    return (detail.found.kind, detail.found.mistake) if detail and detail.found else ("", "")


def _failure(group: list[_Case], language: str) -> Failure:
    _, task, message, detail = group[0]
    students = list(dict.fromkeys(student for student, *_ in group))
    found = detail.found if detail else None
    return Failure(
        list(dict.fromkeys(task.title[language] for _, task, *_ in group)),
        task.outcome,
        report_words(f"outcome-{task.outcome}", language),
        words(f"mistake-{found.mistake}", language) if found and found.mistake else message.text(language),
        students[:NAMED],
        max(len(students) - NAMED, 0),
    )


def _person(
    results: Sequence[Result], refused: Sequence[Message], language: str
) -> Iterable[tuple[str, str]]:
    """Who and what a person has to look at: student, "" for none, and why."""
    for message in refused:
        yield "", message.text(language)
    for result in results:
        open_tasks = [task for task in result.tasks if task.points is None]
        for task in open_tasks[:1]:
            first = next(check for check in task.checks if check.points is None)
            text = first.message.text(language) if first.message else ""
            yield result.student, f"{report_words(f'outcome-{task.outcome}', language)}: {text}"


def _line(result: Result, language: str) -> StudentLine:
    tasks = [
        (
            task.title[language],
            f"{'?' if task.points is None else task.points} / {task.max}",
            task.outcome,
            report_words(f"outcome-{task.outcome}", language),
        )
        for task in result.tasks
    ]
    return StudentLine(result.student, "?" if result.points is None else str(result.points), tasks)
