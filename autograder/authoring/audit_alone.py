"""Does a task stand on its own? With its blanks solved and those that it needs, it has full marks.

All other blanks are as students get them.
"""

import json
from collections.abc import Iterator

from autograder.authoring import cutter, named_blanks
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import Modules, notebook, shown, solved_modules, source
from autograder.course import Lab, Task
from autograder.key import VARIANTS
from autograder.reporting.table import first_remark


def works(lab: Lab) -> list[Work]:
    """What is to be graded: a work for each task, on one variant. Raises: CourseError."""
    return [
        Work(_name(task), _alone(lab, task), number % VARIANTS, (task.id,))
        for number, task in enumerate(lab.tasks)
    ]


def defects(lab: Lab, runs: Runs) -> Iterator[str]:
    """What must be mended, each in one line."""
    for task in lab.tasks:
        for graded in runs.graded(_name(task)):
            (found,) = (one for one in graded.result.tasks if one.id == task.id)
            if found.outcome != "passed":
                remark = first_remark(graded.result)
                yield f"{task.id} alone has {found.points} of {found.max} points: {remark} Mend its needs."


def _name(task: Task) -> str:
    return f"lab.alone.{task.id}"


def _alone(lab: Lab, task: Task) -> Modules:
    """The lab with the blanks of a task and of all it builds on solved, and the others left."""
    wanted, kept = [task], set()
    for one in wanted:
        kept |= {blank.name for blank in one.blanks}
        wanted += [lab.task(need) for need in one.needs]
    modules = {name: _with(lab, name, kept) for name in solved_modules(lab)}
    return modules | _cells_with(lab, kept)


def _with(lab: Lab, name: str, kept: set[str]) -> str:
    """A file cut as for students, but for the solutions of some blanks."""
    text = source(lab, name)
    lines = text.split("\n")
    for first, solution in reversed(cutter.solutions(text, shown(lab, name))):
        if named_blanks.blank_at(name, text, first) in kept:
            del lines[first + solution.count("\n")], lines[first - 2]  # its marks
    return cutter.cut("\n".join(lines), shown(lab, name))


def _cells_with(lab: Lab, kept: set[str]) -> Modules:
    """The notebook as students get it, but for the solutions of some blanks; {} for other labs."""
    cut, solved = notebook(lab, cut=True), notebook(lab, cut=False)
    for name, text in cut.items():
        written = json.loads(text)
        right = {cell["id"]: cell for cell in json.loads(solved[name])["cells"]}
        written["cells"] = [right[cell["id"]] if cell["id"] in kept else cell for cell in written["cells"]]
        cut[name] = json.dumps(written)
    return cut
