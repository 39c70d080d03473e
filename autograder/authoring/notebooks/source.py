"""The cells of a notebook's source, `reference/LAB/labN.py` in jupytext's py:percent form, with their roles.

# %% [markdown] lang="en"          only in the English notebook
# %% setup="true"                  locked; grading runs it too, before what students write
# %% solution="predict-order"      a student fills it; its first line is `# cell: predict-order`
# %% test="reverse-mode"           locked; shows the points of that task and runs its local checks
# %% [markdown] manual="diary" points=2 lang="en"      answered in words, graded by hand
# %% solution="predict-sweeps" answers="tangents:2 order"     what predictions.toml keeps hashes of
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jupytext

from autograder.course import CourseError, Lab

ROLES = ("setup", "solution", "test", "manual")
MARK_SCHEME = re.compile(  # in a cell, or commented out as in the source
    r"\n*(?:# )?### BEGIN MARK SCHEME\n(?P<scheme>.*?)(?:# )?### END MARK SCHEME\n?", re.DOTALL
)
_GRADE_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z")
_KEYS = {*ROLES, "lang", "points", "answers", "tags"}
_JUPYTEXT = {"lines_to_next_cell", "lines_to_end_of_cell_marker"}  # its own notes about blank lines
_SOLUTION_MARK = re.compile(r"### (?:BEGIN|END) SOLUTION")


@dataclass(frozen=True)
class Cell:
    """One cell; `role` is one of ROLES, or "" for any other, and `grade_id` what nbgrader calls it then."""

    kind: str  # "code" or "markdown"
    source: str
    language: str | None
    role: str = ""
    grade_id: str = ""
    points: int = 0
    answers: dict[str, int | None] = field(default_factory=dict)  # name -> decimals, None where it is exact


def read(text: str, shown: str, lab: Lab) -> list[Cell]:
    """The cells of a source, in their order; `text` may be cut, or have only its marks taken out.

    Raises: CourseError for a cell that says something of itself which can't be.
    """
    cells, setups = [], 0
    for raw in jupytext.reads(text, fmt="py:percent").cells:
        cell = _cell(raw, shown, lab, setups)
        setups += cell.role == "setup"
        cells.append(cell)
    for language in ("zh", "en"):
        _refuse_twice([cell for cell in cells if cell.language in (None, language)], shown)
    _compare_languages(cells, shown)
    _compare_tasks(cells, shown, lab)
    return cells


def _cell(raw: Any, shown: str, lab: Lab, setups: int) -> Cell:
    said, source = (
        {key: raw.metadata[key] for key in raw.metadata if key not in _JUPYTEXT},
        str(raw.source).rstrip(),
    )
    place = f"{shown}, the cell {(source.splitlines() or [''])[0][:60]!r}"
    if unknown := sorted(said.keys() - _KEYS):
        raise CourseError(
            f"{place}: {unknown[0]!r} is no mark of a cell. There are: {', '.join(sorted(_KEYS))}."
        )
    roles = [role for role in ROLES if role in said]
    if len(roles) > 1:
        raise CourseError(f"{place} is both {roles[0]} and {roles[1]}. Keep one of the marks.")
    language = said.get("lang")
    if language not in (None, "zh", "en"):
        raise CourseError(f"{place}: lang={language!r} is neither zh nor en. Mend it.")
    if not roles:
        return Cell(raw.cell_type, source, language)
    (role,) = roles
    grade_id = said[role] if role != "setup" else f"setup-{setups + 1}" if setups else "setup"
    if not _GRADE_ID.match(str(grade_id)):
        raise CourseError(f"{place}: {grade_id!r} is no id. Use small letters, digits and hyphens.")
    if (raw.cell_type == "markdown") != (role == "manual"):
        raise CourseError(
            f"{place}: {role} cells are {'Markdown' if role == 'manual' else 'code'}. Mend the mark."
        )
    points = 0
    if role == "test":
        points = lab.task(grade_id).points
    elif role == "manual":
        points = _manual_points(said, source, place)
    elif role == "solution" and not source.startswith(f"# cell: {grade_id}\n"):
        raise CourseError(
            f"{place}: its first line must be `# cell: {grade_id}`, by which it is found again."
        )
    return Cell(
        raw.cell_type, source, language, role, grade_id, points, _answers(said.get("answers", ""), place)
    )


def _manual_points(said: dict[str, Any], source: str, place: str) -> int:
    points = said.get("points")
    if not isinstance(points, int) or points < 1:
        raise CourseError(f"{place} needs points=N. Say what the answer is worth.")
    if len(MARK_SCHEME.findall(source)) != 1 or source.count("MARK SCHEME") != 2:
        raise CourseError(f"{place} needs one `### BEGIN MARK SCHEME` and one `### END MARK SCHEME`.")
    return points


def _answers(text: str, place: str) -> dict[str, int | None]:
    """`tangents:2 order` as {"tangents": 2, "order": None}."""
    answers: dict[str, int | None] = {}
    for word in text.split():
        name, colon, decimals = word.partition(":")
        if not name.isidentifier() or (colon and not decimals.isdecimal()):
            raise CourseError(f"{place}: answers={text!r} is not like `name name:2`. Mend it.")
        answers[name] = int(decimals) if colon else None
    return answers


def _refuse_twice(cells: list[Cell], shown: str) -> None:
    seen: set[str] = set()
    for cell in cells:
        if cell.grade_id in seen:
            raise CourseError(f"{shown}: two cells are called {cell.grade_id!r}. Rename one.")
        seen |= {cell.grade_id} if cell.grade_id else set()


def _compare_languages(cells: list[Cell], shown: str) -> None:
    """What is graded is in every language, under the same ids and for the same points."""
    chinese, english = (
        {cell.grade_id: cell.points for cell in cells if cell.role and cell.language in (None, language)}
        for language in ("zh", "en")
    )
    if different := dict(chinese.items() ^ english.items()):
        raise CourseError(f"{shown}: {sorted(different)[0]!r} is not the same in both languages. Write both.")


def _compare_tasks(cells: list[Cell], shown: str, lab: Lab) -> None:
    """One test cell for each task, and every blank of a task of the notebook is a cell."""
    tests = {cell.grade_id for cell in cells if cell.role == "test"}
    solutions = {cell.grade_id for cell in cells if cell.role == "solution"}
    for task in lab.tasks:
        if task.id not in tests:
            raise CourseError(f'{shown}: the task {task.id} has no cell. Add `# %% test="{task.id}"`.')
        if task.files == (lab.notebook,):
            for blank in task.blanks:
                if blank.name not in solutions:
                    raise CourseError(
                        f"reference/{lab.folder}/lab.toml: the task {task.id} names a cell {blank.name!r} "
                        f'that is not there. Add `# %% solution="{blank.name}"`, or mend the name.'
                    )


def marked_cells(text: str) -> Iterator[str]:
    """The first line of every cell that holds a solution's mark but isn't called a solution."""
    for raw in jupytext.reads(text, fmt="py:percent").cells:
        if _SOLUTION_MARK.search(raw.source) and "solution" not in raw.metadata:
            yield (raw.source.splitlines() or [""])[0]
