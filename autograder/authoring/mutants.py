"""Typical mistakes as data: a lab's mutants.toml, and the modules of a student who makes just that one.

    [[mutant]]
    id = "reflected-minus"
    family = "reflected"
    file = "graph.py"
    text = "return binary(SUBTRACT, other, self)"    # stands exactly once in the solved file
    replacement = "return binary(SUBTRACT, self, other)"
    tasks = ["reflected-operators"]                  # each of them fails, whatever the inputs
    hint.zh = "2 - x 不是 x - 2。"
    hint.en = "2 - x is not x - 2."

Where one change is not enough: `edits = [{ file, text, replacement }, …]` instead of the three.
"""

import ast
import difflib
import json
from collections.abc import Iterable
from pathlib import PurePath
from typing import NoReturn

import msgspec

from autograder.authoring import cutter
from autograder.authoring.notebooks import build
from autograder.course import CourseError, Lab
from autograder.judging.mistakes import FILE, Edit, Entry, Hint, Unfit, edited, read_entries
from autograder.judging.notebook import STUDENT
from labkit.cuda import blanks

RAISES = "raises"  # the family of mistakes whose effect is an exception

Modules = dict[str, str]  # the name of a module's file -> its text


class Mutant(msgspec.Struct, frozen=True):
    """One typical mistake, the tasks that must see it, and the modules that hold it."""

    id: str
    family: str
    tasks: tuple[str, ...]
    hint: Hint
    modules: Modules


def solved_modules(lab: Lab, names: Iterable[str] = ()) -> Modules:
    """The reference as a right student hands it in; or other solved files below the lab's folder.

    Raises: CourseError.
    """
    files = names or (*lab.modules, *lab.kernels)
    return {PurePath(name).name: cutter.without_marks(source(lab, name), shown(lab, name)) for name in files}


def skeleton_modules(lab: Lab) -> Modules:
    """What students get.

    Raises: CourseError.
    """
    return {name: cutter.cut(source(lab, name), shown(lab, name)) for name in (*lab.modules, *lab.kernels)}


def notebook(lab: Lab, cut: bool) -> Modules:
    """The notebook as students get it, or as a right one hands it in without an id typed; {} for other labs.

    Raises: CourseError.
    """
    if not lab.graded_notebook:
        return {}
    write = build.for_students if cut else build.solved
    written = json.loads(write(source(lab, lab.notebook_source), lab, "en"))
    for cell in written["cells"]:
        if cell["id"] == STUDENT:
            cell["source"] = [f'# cell: {STUDENT}\n{STUDENT} = ""']
    return {lab.graded_notebook: json.dumps(written)}


def shown(lab: Lab, name: str) -> str:
    """A file below the lab's folder in reference/, as messages name it."""
    return f"reference/{lab.folder}/{name}"


def source(lab: Lab, name: str) -> str:
    """A file below the lab's folder in reference/.

    Raises: CourseError.
    """
    try:
        return (lab.reference / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{shown(lab, name)} can't be read: {error}. Mend it.") from None


def read_mutants(lab: Lab) -> tuple[Mutant, ...]:
    """The lab's typical mistakes, each with its modules.

    Raises: CourseError, with the mutant's id, for whatever can't be meant so.
    """
    name = shown(lab, FILE)
    entries = read_entries(lab)
    solved = solved_modules(lab)
    secrets = _solution_lines(lab, solved)
    seen: set[str] = set()
    mutants = []
    for entry in entries:
        place = f'{name}: [[mutant]] "{entry.id}"'
        if entry.id in seen:
            _fail(place, "this id stands there twice", "Give one of them another.")
        seen.add(entry.id)
        _check(place, lab, entry, secrets)
        modules = _edited(place, solved, _edits(place, entry))
        mutants.append(Mutant(entry.id, entry.family, entry.tasks, entry.hint, modules))
    return tuple(mutants)


def malformation(solved: Modules, modules: Modules) -> str:
    """Why changed modules are no student's mistake but a slip of the course team's, or ""."""
    for file, text in modules.items():
        try:
            names = _names if file.endswith(".py") else _kernels
            lost = names(solved[file]) - names(text)
        except SyntaxError as error:
            return f"{file}:{error.lineno}: this is not Python: {error.msg}"
        if lost:
            return f"{file}: {min(lost)} is gone, and whatever calls it fails for that"
    return ""


def changed_lines(solved: Modules, modules: Modules) -> str:
    """What differs, as a unified diff without context."""
    lines: list[str] = []
    for file, text in modules.items():
        old, new = solved[file].splitlines(), text.splitlines()
        lines += difflib.unified_diff(old, new, file, file, n=0, lineterm="")
    return "\n".join(lines)


def _edits(place: str, entry: Entry) -> tuple[Edit, ...]:
    if edits := entry.changes():
        return edits
    _fail(place, "it needs either file, text and replacement, or edits", "Write one of the two.")


def _edited(place: str, solved: Modules, edits: tuple[Edit, ...]) -> Modules:
    try:
        modules = solved | edited(edits, solved)
    except Unfit as unfit:
        file, text = unfit.edit.file, unfit.edit.text
        if unfit.times is None:
            _fail(place, f"{file!r} is no module of this lab", f"Name one of: {', '.join(solved)}.")
        what = f"its text stands {unfit.times} times in the solved {file}: {_quoted(text)}"
        _fail(place, what, "Choose a text that stands there exactly once.")
    if modules == solved:
        _fail(place, "it changes nothing", "Mend the replacement.")
    return modules


def _check(place: str, lab: Lab, entry: Entry, secrets: set[str]) -> None:
    """Tasks are the lab's; hints help without saying the solution."""
    for task in entry.tasks:
        try:
            lab.task(task)
        except CourseError as error:
            raise CourseError(f"{place}, tasks: {error}") from None
    for language in ("zh", "en"):
        hint = getattr(entry.hint, language)
        said = next((line for line in secrets if line in hint), None)
        if said:
            _fail(
                f"{place}, hint.{language}", f"it says a line of the solution, {_quoted(said)}", "Reword it."
            )


def _solution_lines(lab: Lab, solved: Modules) -> set[str]:
    """The lines that students write themselves; not those that could stand anywhere, as `else:`."""
    lines: set[str] = set()
    skeleton = skeleton_modules(lab)
    for name, text in solved.items():
        given = set(_stripped(skeleton[name]))
        lines |= {line for line in _stripped(text) if line not in given and len(line) > len("continue")}
    return lines


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def _names(text: str) -> set[str]:
    """Functions and methods with their parameters, classes, and what a module assigns."""
    names: set[str] = set()
    waiting = [("", node) for node in ast.parse(text).body]
    for prefix, node in waiting:
        if isinstance(node, ast.FunctionDef):
            names.add(f"{prefix}{node.name}({ast.unparse(node.args)})")
        elif isinstance(node, ast.ClassDef):
            names.add(prefix + node.name)
            waiting += [(f"{prefix}{node.name}.", inner) for inner in node.body]
        elif isinstance(node, ast.Assign):
            names |= {f"{prefix}{ast.unparse(target)}" for target in node.targets}
    return names


def _kernels(text: str) -> set[str]:
    return set(blanks.kernels(text))


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else f"{line[:59]}…")


def _fail(place: str, what: str, mend: str) -> NoReturn:
    raise CourseError(f"{place}: {what}. {mend}")
