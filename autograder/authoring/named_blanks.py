"""A lab's blanks are those that lab.toml names.

A misspelt name would call an untouched blank "blocked" instead of "not attempted", and a blank that no task
names would be work without points.
"""

import ast
from collections.abc import Iterator, Mapping

from autograder.authoring.cutter import BLANKS, RAISE_ROW
from autograder.course import CourseError, Lab
from labkit.cuda.blanks import unwritten


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
    if name.endswith(".py"):
        return list(dict.fromkeys(_functions(ast.parse(skeleton), "", skeleton.split("\n"))))
    return list(unwritten(skeleton))


def _functions(node: ast.AST, within: str, lines: list[str]) -> Iterator[str]:
    mark = BLANKS[".py"][0]
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) and lines[child.lineno - 1 - RAISE_ROW].strip() == mark:
            yield within
        own = f"{within}.{child.name}".lstrip(".") if isinstance(child, _NAMED) else within
        yield from _functions(child, own, lines)


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
