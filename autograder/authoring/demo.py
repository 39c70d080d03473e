"""The lecture's demo: built from its source into a notebook, and executed into one page."""

import importlib.util
import logging
import sys
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from autograder.authoring.demo_page import as_page
from autograder.batch import record
from autograder.course import Course, CourseError

SOURCE = Path("handouts/demo/four_ways.py")
BUILD = Path("build/demo")
CELL_S = 120  # seconds for one cell, on a slow machine
NEEDED = ("ipykernel", "matplotlib", "sympy", "igraph")


def write_notebook(course: Course, engine: Path | None) -> Path:
    """Write build/demo/four_ways.ipynb, not executed; engine: a student's, to stand beside the course's.

    Raises: CourseError, StorageError.
    """
    path = course.root / BUILD / "four_ways.ipynb"
    record.write(path, jupytext.writes(_notebook(course, engine), fmt="ipynb").encode())
    return path


def write_page(course: Course, engine: Path | None) -> tuple[Path, str]:
    """Execute the demo and write build/demo/four_ways.html; also what it says of the engine.

    Raises: CourseError, StorageError.
    """
    notebook = _notebook(course, engine)
    folder = course.root / BUILD
    folder.mkdir(parents=True, exist_ok=True)
    _execute(notebook, folder)
    path = folder / "four_ways.html"
    record.write(path, as_page(notebook, course.root / SOURCE.parent).encode())
    return path, _verdict(notebook)


def _notebook(course: Course, engine: Path | None) -> Any:
    """The source as a notebook, the engine's path in its cell for parameters."""
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            raise CourseError(f"The demo needs {name}, which {sys.executable} lacks. Run: make setup")
    try:
        text = (course.root / SOURCE).read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{SOURCE} can't be read: {error.strerror}. Restore it from git.") from None
    notebook = jupytext.reads(text, fmt="py:percent")
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # the same source gives the same bytes
        if engine is not None and "parameters" in _tags(cell):
            cell.source = f"ENGINE = {str(engine)!r}"
    return notebook


def _execute(notebook: Any, folder: Path) -> None:
    """Run every cell in a fresh kernel, as if the notebook lay in `folder`."""
    begun: list[Any] = []
    client = NotebookClient(
        notebook,
        timeout=CELL_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],
        on_cell_execute=lambda cell, cell_index: begun.append(cell),
    )
    client.log.setLevel(logging.CRITICAL)  # what went wrong is said below
    try:
        client.execute()
    except CellExecutionError as error:
        raise _failure(begun, f"fails: {error.ename}: {error.evalue}") from None
    except CellTimeoutError:
        raise _failure(begun, f"takes longer than {CELL_S} s") from None
    except DeadKernelError:
        raise _failure(begun, "ends Python itself") from None


def _failure(begun: list[Any], how: str) -> CourseError:
    """One line about the cell that was begun last."""
    code = begun[-1].source.strip().splitlines()[0] if begun else ""
    line = " ".join(f"{SOURCE}: the cell “{code}” {how}".split())
    return CourseError(f"{line}. Mend it there; make demo shows the same cell live.")


def _verdict(notebook: Any) -> str:
    """What the demo says of the engine, in the cell that tries it."""
    (outputs,) = (cell.outputs for cell in notebook.cells if "verdict" in _tags(cell))
    return str(outputs[-1]["data"]["text/plain"])


def _tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", ()))
