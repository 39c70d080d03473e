"""nbgrader's configuration for a gradebook: nothing of a student's runs or is shown unguarded.

GRADEBOOK/nbgrader_config.py calls this, so a fix of the package reaches every gradebook that there is.
`formgrader` starts JupyterLab with the folder among its configuration, where `server.py` is named.
"""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import msgspec

from autograder.batch import record

from .book import Book

_HERE = __name__.rpartition(".")[0]
NBGRADER = """# Written by `autograder gradebook`, and again at its next run.
from autograder.reporting.gradebook import guards

guards.configure_at(get_config(), __file__)
"""
SERVER = json.dumps({"ServerApp": {"jpserver_extensions": {f"{_HERE}.server": True}}}) + "\n"
TEMPLATES = Path(__file__).with_name("templates")
_FILES = {"nbgrader_config.py": NBGRADER, "jupyter_server_config.d/autograder.json": SERVER}


class _Marker(msgspec.Struct, frozen=True):
    course: str


def write(book: Book) -> None:
    """Put the configuration into the gradebook's folder. Raises: StorageError."""
    for name, text in _FILES.items():
        path = book.root / name
        if not path.exists() or path.read_bytes() != text.encode():
            record.write(path, text.encode())


def configure_at(config: Any, file: str) -> None:
    """As `configure`, for a gradebook that holds `file`."""
    book = Book(Path(file).absolute().parent)
    marker = msgspec.json.decode((book.root / "course.json").read_bytes(), type=_Marker)
    configure(config, book, marker.course)


def configure(config: Any, book: Book, course_id: str) -> None:
    """Set what nbgrader's commands and formgrader do in this gradebook."""
    config.CourseDirectory.root = str(book.root)
    config.CourseDirectory.course_id = course_id
    config.CourseDirectory.db_url = book.url
    # The notebook is cut already, and a solution cell without marks would be emptied by ClearSolutions.
    steps = ("LockCells", "ClearOutput", "CheckCellMetadata", "ComputeChecksums", "SaveCells")
    config.GenerateAssignment.preprocessors = [f"nbgrader.preprocessors.{name}" for name in steps]
    # Neither Execute nor SaveAutoGrades, which takes silence for full marks: without ours there is no score.
    config.Autograde.sanitize_preprocessors = []
    config.Autograde.autograde_preprocessors = [f"{_HERE}.regrading.GradeInSandbox"]
    config.Autograde.exclude_overwriting = dict(_source_files(book))
    config.GradeInSandbox.gradebook = str(book.root)
    config.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(_nbgrader_s_templates())]
    config.GenerateFeedback.HTMLExporter.template_file = "feedback_page.html.j2"
    config.HTMLExporter.filters = {
        "markdown2html": f"{_HERE}.safe_markdown.safe_html",
        "highlight_code": f"{_HERE}.highlighting.code_html",
    }


def _nbgrader_s_templates() -> Path:
    """Where its pages are described; found without the seconds that importing it takes."""
    found = importlib.util.find_spec("nbgrader")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).with_name("server_extensions") / "formgrader/templates"


def _source_files(book: Book) -> list[tuple[str, list[str]]]:
    """By lab, what nbgrader would copy from source/ over every student's folder."""
    source = book.root / "source"
    labs = sorted(path for path in source.glob("*") if path.is_dir())
    return [
        (
            lab.name,
            sorted(
                os.path.relpath(Path(place, name), lab)
                for place, _, names in os.walk(lab)
                for name in names
                if not name.endswith(".ipynb")
            ),
        )
        for lab in labs
    ]
