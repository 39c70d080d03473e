"""A lab in the gradebook: its notebook's cells, registered by nbgrader's own generate_assignment."""

import contextlib
import json
import logging
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError, Lab

from . import guards
from .book import Book, lab_with_notebook

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

Cells = Mapping[str, str]  # grade id -> "graded", "answer" (the student's, without points), "by hand"


def register(book: Book, course_id: str, lab: Lab, gradebook: "Gradebook") -> dict[str, Any]:
    """Bring the gradebook in step with the lab; its notebook as it is handed out.

    Raises: CourseError when `labs/` isn't made, lab.toml and notebook differ, or grade ids changed after the
    first push.
    """
    name = lab_with_notebook(lab)
    skeleton = lab.skeleton / f"{name}.ipynb"
    notebook = _read(skeleton)
    _compare_with_tasks(lab, notebook)
    _refuse_changed_cells(lab, name, _cells(notebook), gradebook)
    release = book.release(lab) / skeleton.name
    if not (_same(lab.skeleton, book.source(lab)) and release.exists() and _known(gradebook, lab)):
        _generate(book, course_id, lab)
        gradebook.db.expire_all()
    due = lab.due.astimezone(UTC)
    gradebook.update_or_create_assignment(lab.id, duedate=f"{due:%Y-%m-%d %H:%M:%S} UTC")
    return _read(release)


def in_every_language(lab: Lab) -> list[dict[str, Any]]:
    """The notebook as students get it, in the default language first. Raises: CourseError."""
    name = f"{lab_with_notebook(lab)}.ipynb"
    return [_read(path) for path in (lab.skeleton / name, *sorted(lab.skeleton.glob(f"*/{name}")))]


def graded_cells(notebook: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Cells that nbgrader knows, each with its nbgrader metadata."""
    for cell in notebook["cells"]:
        mark = cell["metadata"].get("nbgrader", {})
        if mark.get("grade") or mark.get("solution") or mark.get("task"):
            yield cell, mark


def kind(mark: Mapping[str, Any]) -> str:
    """What a cell is to nbgrader."""
    if mark.get("task") or (mark.get("grade") and mark.get("solution")):
        return "by hand"
    return "graded" if mark.get("grade") else "answer"


def _cells(notebook: Mapping[str, Any]) -> Cells:
    return {mark["grade_id"]: kind(mark) for _, mark in graded_cells(notebook)}


def _read(path: Path) -> dict[str, Any]:
    try:
        notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return notebook
    except (OSError, ValueError):
        raise CourseError(f"{path} is missing or no notebook. Run: make labs") from None


def _compare_with_tasks(lab: Lab, notebook: Mapping[str, Any]) -> None:
    """Raises: CourseError unless every task has one test cell with its points, and no test cell else."""
    found = {mark["grade_id"]: mark["points"] for _, mark in graded_cells(notebook) if kind(mark) == "graded"}
    wanted = {task.id: task.points for task in lab.tasks}
    for id in sorted(found.keys() | wanted.keys()):
        if found.get(id) != wanted.get(id):
            raise CourseError(
                f"{lab.notebook}: the test cell {id!r} has {found.get(id, 'no')} points, its task in "
                f"lab.toml {wanted.get(id, 'none')}. Mend reference/{lab.folder}/, then run: make labs"
            )


def _refuse_changed_cells(lab: Lab, name: str, cells: Cells, gradebook: "Gradebook") -> None:
    """Raises: CourseError when cells that have scores would get lost, or new ones would have none."""
    from nbgrader.api import MissingEntry

    try:
        assignment = gradebook.find_assignment(lab.id)
    except MissingEntry:
        return
    if not assignment.submissions:
        return
    mend = "Scores hang on them: put the old names back, or begin another gradebook with --gradebook."
    names = [notebook.name for notebook in assignment.notebooks]
    if names != [name]:
        raise CourseError(
            f"{lab.id}: the gradebook knows the notebook {', '.join(names)}, and now it is {name}. {mend}"
        )
    known = _known_cells(assignment.notebooks[0])
    differ = [id for id in sorted(known.keys() | cells.keys()) if known.get(id) != cells.get(id)]
    if differ:
        told = ", ".join(f"{id} ({known.get(id, 'none')} -> {cells.get(id, 'none')})" for id in differ)
        raise CourseError(f"{lab.id}: cells changed after the first push: {told}. {mend}")


def _known_cells(notebook: Any) -> Cells:
    by_hand = {cell.name for cell in notebook.grade_cells} & {cell.name for cell in notebook.solution_cells}
    found = {cell.name: "graded" for cell in notebook.grade_cells}
    found |= {cell.name: "answer" for cell in notebook.solution_cells}
    return found | dict.fromkeys(by_hand | {cell.name for cell in notebook.task_cells}, "by hand")


def _known(gradebook: "Gradebook", lab: Lab) -> bool:
    from nbgrader.api import MissingEntry

    with contextlib.suppress(MissingEntry):
        return bool(gradebook.find_assignment(lab.id).notebooks)
    return False


def _files(folder: Path) -> dict[str, bytes]:
    """Relative name -> bytes of all files of a lab."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one != "__pycache__" and not one.startswith(".")]
        for name in names:
            path = Path(place, name)
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def _same(one: Path, other: Path) -> bool:
    return other.is_dir() and _files(one) == _files(other)


def _generate(book: Book, course_id: str, lab: Lab) -> None:
    """Let nbgrader read a copy of the skeleton; what is handed out is replaced only when it is whole.

    Raises: CourseError with nbgrader's own words.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    source, unfinished = book.source(lab), book.root / ".release"
    shutil.rmtree(source, ignore_errors=True)
    for name, content in _files(lab.skeleton).items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    config = Config()
    guards.configure(config, book, course_id)
    config.CourseDirectory.release_directory = unfinished.name
    folders = CourseDirectory(config=config)
    folders.assignment_id = lab.id
    converter = GenerateAssignment(coursedir=folders, config=config)
    converter.force = True
    with quiet() as said:
        try:
            converter.start()
        except Exception as error:
            lines = said or [str(error)]
            raise CourseError(
                f"{lab.id}: nbgrader can't use its notebook: {' '.join(lines[-1].split())}"
            ) from None
    shutil.rmtree(book.release(lab), ignore_errors=True)
    book.release(lab).parent.mkdir(exist_ok=True)
    os.replace(unfinished / lab.id, book.release(lab))
    shutil.rmtree(unfinished, ignore_errors=True)


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextlib.contextmanager
def quiet() -> Iterator[list[str]]:
    """nbgrader says nothing meanwhile; yields its errors."""
    logger = logging.getLogger("traitlets")
    listener = _Listener()
    handlers, logger.handlers = logger.handlers, list[logging.Handler]([listener])
    propagates, logger.propagate = logger.propagate, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield listener.lines
    finally:
        logger.handlers, logger.propagate = handlers, propagates
