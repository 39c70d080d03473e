"""A student's cell: run behind the course's own set-up cells, in a namespace that no other cell has seen.

Cells lie beside the modules as `lab1.ipynb[ID]`; those that the course wrote are called setup, setup-2, …
"""

import glob
import os
from types import SimpleNamespace
from typing import Any


class Answered(SimpleNamespace):
    """The names that a cell defines."""

    def __getattr__(self, name: str) -> Any:
        raise NameError(f"the cell defines no {name} / 单元格没有定义 {name}")


def run_cell(folder: str, id: str, given: dict[str, Any]) -> Answered:
    """The names that the cell `id` defines; `given` stand there before anything runs.

    A set-up cell that fails, say for a module that can't be imported, hurts only what needs its names.
    """
    names: dict[str, Any] = {"__name__": "__main__", "display": _nothing, "get_ipython": _nothing, **given}
    failed: Exception | None = None
    for path in sorted(_cells(folder, "setup*"), key=lambda path: (len(path), path)):
        try:
            _run(path, names)
        except Exception as error:
            failed = failed or error
    before = dict(names)
    try:
        for path in _cells(folder, glob.escape(id)):
            _run(path, names)
    except NameError:
        if failed:
            raise failed from None
        raise
    return Answered(
        **{name: value for name, value in names.items() if before.get(name, _nothing) is not value}
    )


def _cells(folder: str, pattern: str) -> list[str]:
    return glob.glob(f"*.ipynb[[]{pattern}[]]", root_dir=folder)


def _run(path: str, names: dict[str, Any]) -> None:
    """Run a cell so that messages name it and the line in it."""
    path = os.path.abspath(path)
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec", dont_inherit=True), names)


def _nothing(*arguments: Any, **options: Any) -> None:
    """What a notebook shows, nobody sees here."""
