"""`check(task)`: the points of a task, and its public tests or its questions; fails until they are right."""

import sys
import textwrap
from typing import Any

from labkit.check import report, run
from labkit.notebook import answering
from labkit.notebook.session import NotYet, Session, current

SEED = 1
_runs: dict[tuple[Any, ...], run.Run] = {}  # the last run of the tests, by what it ran on


def check(task: str) -> None:
    """Print how a task stands here. Raises: NotYet unless all that can be tried here is right."""
    session = current()
    found = session.lab.task(task)
    print(session.text("task", title=found.title[session.language], task=task, points=found.points))
    if found.files == (session.lab.notebook,):
        names = sys._getframe(1).f_globals
        told = [answering.judged(session, blank, names) for blank in found.blanks]
        right, lines = all(one.right for one in told), [line for one in told for line in one.lines]
        well = "answers-right"
    else:
        state, lines = report.of_task(session.lab, found, _tested(session), session.language)
        right, well = state in ("passed", "unchecked"), f"task-{state}"
    if not right:  # nbgrader's Validate shows what is raised, and nothing that was printed
        raise NotYet(textwrap.dedent("\n".join(lines)) or session.text("task-waiting"))
    print("\n".join([*lines, session.text(well)]))


def _tested(session: Session) -> run.Run:
    """The outcomes of the public tests; they are run once for all cells, and again after a change."""
    lab = session.lab
    files = [lab.folder / name for name in (*lab.modules, *lab.kernels)]
    stands = [(file.name, *_stand(file)) for file in (*files, *sorted(lab.tests.glob("*.py")))]
    key = (str(lab.folder), *stands)
    if key not in _runs:
        print(session.text("running-tests"))
        _runs.clear()
        _runs[key] = run.run_tests(lab, SEED)
    return _runs[key]


def _stand(file: Any) -> tuple[int, int]:
    try:
        state = file.stat()
    except OSError:
        return (0, 0)
    return (state.st_mtime_ns, state.st_size)
