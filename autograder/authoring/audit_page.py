"""What the audit found out, as one page: build/audit/LAB.html."""

from dataclasses import dataclass

from autograder.authoring.audit import Audit
from autograder.authoring.audit_mutants import KILLED, SURVIVED, Ruling, outcome_on_all
from autograder.authoring.audit_report import VARIES, Findings, defects, figures
from autograder.authoring.audit_thoughtless import Answers
from autograder.authoring.audit_tolerances import ROOM, Gap
from autograder.authoring.mutants import changed_lines
from autograder.authoring.thoughtless import KINDS
from autograder.course import Lab
from autograder.reporting.pages.render import render


@dataclass(frozen=True)
class Row:
    """A mutant: what became of it at each task, "" where it passed on some variants only, and its diff.

    seen: by the public tests, None where there are none.
    """

    id: str
    family: str
    outcomes: tuple[str, ...]
    meant: tuple[bool, ...]
    verdict: str
    seen: bool | None
    diff: str


@dataclass(frozen=True)
class Page:
    """What the template lays out."""

    language: str
    title: str
    sound: bool
    figures: list[tuple[str, str, str]]
    defects: list[tuple[str, str]]
    tasks: list[str]
    mutants: list[Row]
    kinds: tuple[str, ...]
    answers: list[tuple[str, list[tuple[int, int] | None]]]
    excused: list[str]
    alternates: list[tuple[str, int, int]]
    gaps: list[Gap]
    room: int
    survivors: list[str]
    equivalent: list[str]


def page(found: Findings) -> bytes:
    """The page, which needs nothing beside it."""
    audit, hunt = found.audit, found.hunt
    made = Page(
        language="en",
        title=f"{audit.lab.id} · audit",
        sound=found.sound,
        figures=list(figures(found)),
        defects=list(defects(found)),
        tasks=[task.id for task in audit.lab.tasks],
        mutants=[_row(audit, ruling, found.public) for ruling in audit.rulings],
        kinds=KINDS,
        answers=_answers(audit.lab, audit.answers),
        excused=[str(one) for one in audit.answers.earned if one.excused],
        alternates=[(one.name, *one.points) for one in audit.right],
        gaps=sorted(audit.gaps, key=_narrowness),
        room=ROOM,
        survivors=[str(change) for change in hunt.survivors] if hunt else [],
        equivalent=[str(change) for change in hunt.equivalent] if hunt else [],
    )
    return render("audit.html", pages=[made], varies=VARIES, killed=KILLED).encode()


def _row(audit: Audit, ruling: Ruling, public: dict[str, bool] | None) -> Row:
    mutant = ruling.mutant
    return Row(
        mutant.id,
        mutant.family,
        tuple(outcome_on_all(ruling, task.id) for task in audit.lab.tasks),
        tuple(task.id in mutant.tasks for task in audit.lab.tasks),
        ruling.verdict,
        None if public is None else public[mutant.id],
        changed_lines(audit.solved, mutant.modules) if ruling.verdict == SURVIVED else "",
    )


def _answers(lab: Lab, answers: Answers) -> list[tuple[str, list[tuple[int, int] | None]]]:
    """A row a task: of each kind how many checks it lost, and in how many it was another answer."""
    rows = []
    for task in lab.tasks:
        cells: list[tuple[int, int] | None] = []
        for kind in KINDS:
            tried = answers.tried.get((kind, task.id), 0)
            earned = sum((one.kind, one.task) == (kind, task.id) for one in answers.earned)
            cells.append((tried - earned, tried) if tried else None)
        rows.append((task.id, cells))
    return rows


def _narrowness(gap: Gap) -> tuple[bool, float]:
    """What has least room stands first."""
    wrong = gap.least / ROOM if gap.least is not None else float("inf")
    right = 1 / (gap.worst * ROOM) if gap.worst else float("inf")
    return gap.has_room, min(wrong, right)
