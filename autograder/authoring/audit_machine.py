"""Do the hidden tests see what a machine changes in the solutions? Each is graded until one check fails.

[[equivalent]]                                  # equivalents.toml: changes that change nothing
file = "graph.py"
was = "steps = step_sizes(x, h, exponent=1 / 3)"
becomes = "steps = step_sizes(x, h, exponent=1 / 3 )"
reason = "…"
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.equivalents import FILE, read_equivalents
from autograder.authoring.machine import Change, changes
from autograder.authoring.mutants import shown
from autograder.course import CourseError, Lab
from autograder.judging.verdicts import UNDECIDED, Result
from autograder.key import VARIANTS

MOST_EQUIVALENT = 0.03  # of all changes
PROGRAMS = 1000  # on which one that is said to change nothing must answer right


@dataclass(frozen=True)
class Hunt:
    """What became of all changes. `defects`: what must be mended in equivalents.toml, each in one line.

    programs: how many each of the equivalent answers right at least, of the tasks of its file.
    """

    killed: int
    total: int
    equivalent: tuple[Change, ...]
    programs: int
    survivors: tuple[Change, ...]
    defects: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether no change is overlooked, and few are said to change nothing."""
        return not self.survivors and not self.defects


def hunt(lab: Lab, runs: Runs) -> Hunt:
    """Grade each change on one variant, and those that nothing sees on the other variants too.

    Raises: CourseError.
    """
    found = changes(lab)
    listed = {(one.file, one.was, one.becomes) for one in read_equivalents(lab).equivalent}
    unseen = _unseen(runs, [(change, [number % VARIANTS]) for number, change in enumerate(found)])
    unseen = _unseen(runs, [(change, range(VARIANTS)) for change in unseen])
    equivalent = [(change, _programs(lab, runs, change)) for change in unseen if _sign(change) in listed]
    return Hunt(
        killed=len(found) - len(unseen),
        total=len(found),
        equivalent=tuple(change for change, _ in equivalent),
        programs=min((programs for _, programs in equivalent), default=0),
        survivors=tuple(change for change in unseen if _sign(change) not in listed),
        defects=tuple(_defects(lab, listed, found, equivalent)),
    )


def _unseen(runs: Runs, wanted: Iterable[tuple[Change, Iterable[int]]]) -> list[Change]:
    """The changes that no check sees on any of their variants. Raises: CourseError."""
    wanted = list(wanted)
    runs.run(
        Work(str(change), change.modules, variant, until="all")
        for change, variants in wanted
        for variant in variants
    )
    return [change for change, _ in wanted if not any(map(_sees, runs.of(str(change))))]


def _sees(result: Result) -> bool:
    """Whether a check fails. Raises: CourseError if the grader does."""
    outcomes = {check.outcome for task in result.tasks for check in task.checks}
    if "grader-fault" in outcomes:
        raise CourseError("The grader failed on a change by machine. Run `autograder doctor`.")
    return bool(outcomes - {"passed", *UNDECIDED})


def _programs(lab: Lab, runs: Runs, change: Change) -> int:
    """How many answers were compared in the tasks of its file, on all variants together."""
    tasks = {task.id for task in lab.tasks if change.file in task.files}
    return sum(
        graded.compared.get(check.id, 0)
        for graded in runs.graded(str(change))
        for task in graded.result.tasks
        if task.id in tasks
        for check in task.checks
    )


def _sign(change: Change) -> tuple[str, str, str]:
    return change.file, change.was, change.becomes


def _defects(
    lab: Lab,
    listed: Iterable[tuple[str, str, str]],
    found: Sequence[Change],
    equivalent: Sequence[tuple[Change, int]],
) -> Iterator[str]:
    """Entries of equivalents.toml that are no change any more, or that a check sees; too many of them; and
    those that were tried on too few programs."""
    unseen, made = {_sign(change) for change, _ in equivalent}, set(map(_sign, found))
    for sign in listed:
        if sign not in unseen:
            why = "a check sees it" if sign in made else "no change is like this"
            yield f"{shown(lab, FILE)}: {sign[1]} → {sign[2]} stands there, but {why}. Remove the entry."
    for change, programs in equivalent:
        if programs < PROGRAMS:
            why = f"but it was compared on {programs} programs only, not on {PROGRAMS}"
            yield f"{shown(lab, FILE)}: {change.was} → {change.becomes} stands there, {why}. Add checks."
    if len(equivalent) > MOST_EQUIVALENT * len(found):
        yield f"{shown(lab, FILE)}: {len(equivalent)} of {len(found)} are more than {MOST_EQUIVALENT:.0%}."
