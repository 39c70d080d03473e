"""The lecture's demo: built from its source into a notebook, and executed into one page."""

import importlib.util
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
    client = NotebookClient(
        notebook,
        timeout=CELL_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise CourseError(f"{SOURCE}: {_place(notebook)} fails: {error.ename}: {error.evalue}") from None
    except CellTimeoutError:
        raise CourseError(f"{SOURCE}: {_place(notebook)} took longer than {CELL_S} s.") from None
    except DeadKernelError:
        raise CourseError(f"{SOURCE}: Python itself ended in {_place(notebook)}.") from None


def _place(notebook: Any) -> str:
    """The cell that was running: the last one with an execution count or output."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    begun = [cell for cell in code if cell.get("execution_count") or cell.outputs]
    last = begun[-1] if begun else code[0]
    return f"the cell “{last.source.strip().splitlines()[0]}”"


def _verdict(notebook: Any) -> str:
    """What the demo says of the engine, in the cell that tries it."""
    (outputs,) = (cell.outputs for cell in notebook.cells if "verdict" in _tags(cell))
    return str(outputs[-1]["data"]["text/plain"])


def _tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", ()))
