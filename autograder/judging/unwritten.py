"""Kernels that are as they were handed out: their checks failed because nothing is written yet."""

from autograder.course import Lab
from labkit.cuda import blanks
from labkit.messages import Argument, Message

from .verdicts import Check, Verdict

_RENAMED = ("wrong", "crashed")


def renamed(lab: Lab, checks: list[Check], verdicts: list[Verdict], kernels: dict[str, str]) -> list[Verdict]:
    """The verdicts, with `not-attempted` where a failed check's task has a kernel that is still blank.

    `kernels`: the text of each file of kernels that compiled.
    """
    blank = {
        (file, name): line for file, text in kernels.items() for name, line in blanks.unwritten(text).items()
    }
    task_of = {check.id: lab.task(check.task) for check in checks}
    found = []
    for verdict in verdicts:
        task = task_of[verdict.check]
        places = [(file, one.name) for file in task.files for one in task.blanks if (file, one.name) in blank]
        if places and verdict.outcome in _RENAMED:
            file, name = places[0]
            arguments: dict[str, Argument] = {"name": name, "file": file, "line": blank[places[0]]}
            verdict = Verdict(verdict.check, "not-attempted", Message("judging.not-attempted", arguments))
        found.append(verdict)
    return found
