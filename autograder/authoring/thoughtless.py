"""Answers of no thought: right solutions whose blanks then answer zeros, an input, random numbers, and so on.

Each is made for one task: all its blanks answer so, and everything else is right. In Python the answer of the
function is changed (spoil.py is handed in beside it), in kernels what the solution writes.
"""

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from autograder.authoring import named_blanks, spoil
from autograder.authoring.mutants import Modules, notebook, shown, solved_modules
from autograder.course import CourseError, Lab, Task
from labkit.cuda import screen

Kind = Literal["zeros", "echo", "random", "negated", "doubled", "transposed", "float64", "rounded"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_HELPER = Path(spoil.__file__).name
_KERNELWISE = {
    "zeros": "0.0f * ({value})",
    "echo": "{operand}[0] + 0.0f * ({value})",
    "random": "0.37f + 0.0f * ({value})",
    "negated": "-({value})",
    "doubled": "2.0f * ({value})",
}
# What a kernel hands to memory: an atomicAdd, or an assignment to an element.
_WRITE = re.compile(r"(atomicAdd\([^,;]+,\s*)([^;]+)(\);)|(\b\w+\[[^;=]+\]\s*\+?=\s*)([^;=]+)(;)")


@dataclass(frozen=True)
class Thoughtless:
    """A right solution but for one task, whose blanks answer without a thought.

    `in_kernels`: some of them are kernels.
    """

    kind: Kind
    task: str
    modules: Modules
    in_kernels: bool

    @property
    def name(self) -> str:
        """Its name among what the audit grades: no mutant's id has a dot."""
        return f"{self.kind}.{self.task}"


def thoughtless(lab: Lab) -> list[Thoughtless]:
    """Every kind for every task; not what a kind can't say, as numbers in a kernel have no shape.

    Raises: CourseError.
    """
    solved = solved_modules(lab) | notebook(lab, cut=False)
    helper = {_HELPER: Path(spoil.__file__).read_text(encoding="utf-8")}
    made = []
    for task in lab.tasks:
        for kind in KINDS:
            modules = _spoilt(lab, solved, task, kind)
            if modules != solved:
                in_kernels = any(modules[name] != solved[name] for name in lab.kernels)
                made.append(Thoughtless(kind, task.id, modules | helper, in_kernels))
    return made


def _spoilt(lab: Lab, solved: Modules, task: Task, kind: Kind) -> Modules:
    """The modules with each blank of a task answering so."""
    modules = dict(solved)
    for blank in task.blanks:
        file = next((name for name in task.files if _holds(lab, modules, name, blank.name)), None)
        if file is None:
            place = f'{shown(lab, "lab.toml")}: [[task]] "{task.id}"'
            raise CourseError(f"{place}: no file of it holds the blank {blank.name!r}. Mend the name.")
        if file in lab.modules:
            modules[file] += f"\n\nimport spoil\n\nspoil.blank(globals(), {blank.name!r}, {kind!r})\n"
        elif file in lab.kernels:
            modules[file] = _kernel(file, modules[file], blank.name, kind)
        else:
            modules[file] = _cell(modules[file], blank.name, kind)
    return modules


def _holds(lab: Lab, modules: Modules, file: str, blank: str) -> bool:
    """Whether a file has the function, method, kernel or cell that a blank is named after."""
    if file in lab.texts:
        return blank in named_blanks.places(file, modules[file])
    return any(cell["id"] == blank for cell in json.loads(modules[file])["cells"])


def _kernel(file: str, text: str, name: str, kind: Kind) -> str:
    """The kernel with each number that it writes changed."""
    if kind not in _KERNELWISE:
        return text
    (kernel,) = (one for one in screen.kernels(text) if one.name == name)
    operand = next(one.name for one in kernel.parameters if one.pointer)

    def change(match: re.Match[str]) -> str:
        head, value, tail = (part for part in match.groups() if part is not None)
        return head + _KERNELWISE[kind].format(value=value, operand=operand) + tail

    lines, own = text.split("\n"), named_blanks.places(file, text)[name]
    before, inside = lines[: own.start - 1], lines[own.start - 1 : own.stop - 1]
    changed = _WRITE.sub(change, "\n".join(inside))
    return "\n".join([*before, changed, *lines[own.stop - 1 :]])


def _cell(text: str, id: str, kind: Kind) -> str:
    """The notebook with what a cell defines changed."""
    written = json.loads(text)
    (cell,) = (one for one in written["cells"] if one["id"] == id)
    code = "".join(cell["source"])
    body = ast.parse(code).body
    targets = [target for one in body if isinstance(one, ast.Assign) for target in one.targets]
    defined = [one.name for one in body if isinstance(one, ast.FunctionDef)]
    defined += [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
    cell["source"] = [f"{code}\nimport spoil\n\nspoil.cell(globals(), {defined!r}, {kind!r})\n"]
    return json.dumps(written)
