"""A lab's blanks are those that lab.toml names.

A misspelt name would call an untouched blank "blocked" instead of "not attempted", and a blank that no task
names would be work without points.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath

from autograder.authoring import cutter
from autograder.course import CourseError, Lab
from labkit.cuda import screen


def check(lab: Lab, skeletons: Mapping[str, str]) -> None:
    """Compare lab.toml with the blanks of the cut modules and kernels; the notebook's builder has its cells.

    Raises: CourseError.
    """
    found = {name: blanks_of(name, text) for name, text in skeletons.items()}
    shown = f"reference/{lab.folder}/lab.toml"
    for task in lab.tasks:
        if lab.notebook in task.files:
            continue
        there = [blank for name in task.files for blank in found[name]]
        for name in (blank.name for blank in task.blanks):
            if name not in there:
                raise CourseError(
                    f'{shown}: [[task]] "{task.id}", blanks: {" and ".join(task.files)} has no blank '
                    f"{name!r}. Name one of: {', '.join(there) or 'none is there; mark the solution'}."
                )
    named = {blank.name for task in lab.tasks for blank in task.blanks}
    for name, blanks in found.items():
        for blank in blanks:
            if blank not in named:
                raise CourseError(
                    f"{shown}: no task names the blank {blank!r} of {name}. Add it to the blanks of its task."
                )


def blanks_of(name: str, skeleton: str) -> list[str]:
    """The functions, methods or kernels in which a skeleton leaves a blank, as `Node.__rsub__`."""
    mark, found = cutter.BLANKS[PurePath(name).suffix][0], places(name, skeleton)
    lines = [number for number, line in enumerate(skeleton.split("\n"), 1) if line.strip() == mark]
    return [blank for blank, rows in found.items() if any(line in rows for line in lines)]


def cut_but_for(kept: Collection[str], text: str, name: str) -> str:
    """A solved source cut as for students, but for the solutions of some blanks.

    Raises: CourseError as `cutter.cut`.
    """
    lines, there = text.split("\n"), places(name, text)
    for first, solution in reversed(cutter.solutions(text, name)):
        if any(first in rows for blank, rows in there.items() if blank in kept):
            del lines[first + solution.count("\n")], lines[first - 2]  # its marks
    return cutter.cut("\n".join(lines), name)


def places(name: str, text: str) -> dict[str, range]:
    """The lines, counted from 1, of each function, CLASS.METHOD or kernel of a file."""
    if name.endswith(".py"):
        return dict(_functions(ast.parse(text).body))
    kernels = screen.kernels(text)
    ends = [*(kernel.line for kernel in kernels[1:]), text.count("\n") + 2]
    return {kernel.name: range(kernel.line, end) for kernel, end in zip(kernels, ends, strict=True)}


def _functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, range]]:
    for one in body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner + one.name, range(one.lineno, (one.end_lineno or one.lineno) + 1)
        elif isinstance(one, ast.ClassDef):
            yield from _functions(one.body, f"{owner}{one.name}.")
