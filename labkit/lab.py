"""A student's lab folder, as its manifest.toml describes it, and how it is found by name.

find_lab("lab1", Path.cwd()).task("reverse-mode").blanks
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.messages import Argument, Message

MANIFEST = "manifest.toml"


class WrongUse(Exception):
    """A command can't do what was asked: one message with what, where and how to mend it (exit code 2)."""

    def __init__(self, id: str, **arguments: Argument) -> None:
        self.message = Message(id, arguments)
        super().__init__(self.message.text("en"))


@dataclass(frozen=True)
class Task:
    """What has points, the files it is written in, and the names of the blanks it consists of."""

    id: str
    title: dict[str, str]
    points: int
    files: tuple[str, ...]
    blanks: tuple[str, ...]


@dataclass(frozen=True)
class Lab:
    """One lab in a student's folder; `language` is the course's own."""

    folder: Path
    id: str
    title: dict[str, str]
    language: str
    modules: tuple[str, ...]
    kernels: tuple[str, ...]
    tasks: tuple[Task, ...]
    notebook: str | None = None

    def task(self, id: str) -> Task:
        """The task called `id`.

        Raises: WrongUse, naming the tasks there are.
        """
        for task in self.tasks:
            if task.id == id:
                return task
        raise WrongUse("student.no-task", task=id, tasks=", ".join(task.id for task in self.tasks))

    @property
    def tested(self) -> tuple[Task, ...]:
        """The tasks that public tests belong to: all but the notebook's own."""
        return tuple(task for task in self.tasks if task.files != (self.notebook,))

    @property
    def tests(self) -> Path:
        """The folder of public tests."""
        return self.folder / "tests"


def find_lab(name: str, start: Path) -> Lab:
    """The lab called `name`: a path to a lab folder, or an id to look for at `start` and below.

    Looked at for an id: `start`, its children, and the folders in `start`/labs.
    Raises: WrongUse.
    """
    if (start / name / MANIFEST).is_file():
        return read_lab(start / name)
    found = [lab for lab in _labs_near(start) if lab.id == name]
    if not found:
        raise WrongUse("student.no-lab", lab=name, folder=str(start))
    return found[0]


def read_lab(folder: Path) -> Lab:
    """The lab in `folder`.

    Raises: WrongUse if its manifest is unreadable or incomplete.
    """
    file = folder / MANIFEST
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        return Lab(
            folder=folder.resolve(),
            id=table["id"],
            title=table["title"],
            language=table["language"],
            modules=tuple(table["modules"]),
            kernels=tuple(table["kernels"]),
            notebook=table.get("notebook"),
            tasks=tuple(
                Task(
                    id=task["id"],
                    title=task["title"],
                    points=task["points"],
                    files=tuple(task["file"]),
                    blanks=tuple(blank["name"] for blank in task["blanks"]),
                )
                for task in table["task"]
            ),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WrongUse("student.bad-manifest", file=str(file), text=_first_line(error)) from None


def _labs_near(start: Path) -> Iterator[Lab]:
    for parent in (start, start / "labs"):
        for folder in (parent, *_folders_in(parent)):
            if (folder / MANIFEST).is_file():
                yield read_lab(folder)


def _folders_in(parent: Path) -> list[Path]:
    try:
        return sorted(path for path in parent.iterdir() if path.is_dir())
    except OSError:
        return []


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__
