"""Does a task stand on its own? With its blanks solved and those that it needs, it has full marks.

All other blanks are as students get them.
"""

import json
from collections.abc import Iterator

from autograder.authoring import named_blanks
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import notebook, shown, source
from autograder.course import Lab, Task
from autograder.judging.verdicts import UNDECIDED
from autograder.key import VARIANTS
from autograder.reporting.table import first_remark


def works(lab: Lab) -> list[Work]:
    """What is to be graded: a work for each task, on one variant. Raises: CourseError."""
    given, solved = notebook(lab, cut=True), notebook(lab, cut=False)
    made = []
    for number, task in enumerate(lab.tasks):
        kept = _built_on(lab, task)
        modules = {
            name: named_blanks.cut_but_for(kept, source(lab, name), shown(lab, name)) for name in lab.texts
        }
        modules |= {name: _cells_with(text, solved[name], kept) for name, text in given.items()}
        made.append(Work(_name(task), modules, number % VARIANTS, (task.id,)))
    return made


def defects(lab: Lab, runs: Runs) -> Iterator[str]:
    """What must be mended, each in one line."""
    for task in lab.tasks:
        for graded in runs.graded(_name(task)):
            (found,) = (one for one in graded.result.tasks if one.id == task.id)
            if found.outcome != "passed":
                remark = f"{found.points or 0} of {found.max} points: {first_remark(graded.result)}"
                mend = "Run `autograder doctor`." if found.outcome in UNDECIDED else "Mend its needs."
                yield f"{task.id} alone has {remark} {mend}"


def _name(task: Task) -> str:
    return f"lab.alone.{task.id}"


def _built_on(lab: Lab, task: Task) -> set[str]:
    """The blanks of a task and of all that it needs."""
    wanted, blanks = [task], set()
    for one in wanted:
        blanks |= {blank.name for blank in one.blanks}
        wanted += [lab.task(need) for need in one.needs]
    return blanks


def _cells_with(given: str, solved: str, kept: set[str]) -> str:
    """The notebook as students get it, but for the solutions of some blanks."""
    written = json.loads(given)
    right = {cell["id"]: cell for cell in json.loads(solved)["cells"]}
    written["cells"] = [right[cell["id"]] if cell["id"] in kept else cell for cell in written["cells"]]
    return json.dumps(written)
