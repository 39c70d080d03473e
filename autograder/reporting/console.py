"""What commands share on a terminal: the level they found, a bar, tables as wide as there is room."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from autograder.course import CourseError
from autograder.sandbox import probes
from autograder.sandbox.client import Level


class FindLevel:
    """The highest level that holds on this machine, tried by attacks when it is first asked for.

    Raises: CourseError when none does and `unsafe` is not set.
    """

    def __init__(self, unsafe: bool = False) -> None:
        self._unsafe = unsafe
        self._found: Level | None = None

    def __call__(self) -> Level:
        """The level. Raises: CourseError."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def _find(self) -> Level:
        level, failed = probes.best_level()
        for tried, reasons in failed.items():
            if reasons:
                click.echo(f"Sandbox level {tried} does not hold here: {reasons[0]}", err=True)
        if level != "none":
            return level
        if not self._unsafe:
            raise CourseError(
                "No sandbox holds on this machine, so student code could do anything. Run "
                "`autograder doctor` for the mend, or grade in the container; --unsafe-no-sandbox grades all "
                "the same."
            )
        click.secho(
            "Grading WITHOUT a sandbox: student code can read and change what you can.", fg="red", err=True
        )
        return level


@contextlib.contextmanager
def progress(words: str) -> Iterator[tuple[Callable[[int], None], Callable[[], None]]]:
    """A bar on a terminal's stderr; yields what sets its length and what moves it on by one."""
    notes = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as shown:
        bar = shown.add_task(f"{words} (starting)", total=None)
        yield (
            lambda count: shown.update(bar, total=count, completed=0, description=words),
            lambda: shown.advance(bar),
        )


def console() -> Console:
    """Where tables go: as wide as the terminal, wide enough in a file."""
    return Console(width=None if sys.stdout.isatty() else 160)


def short(path: Path) -> str:
    """A path as one would type it from here."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
