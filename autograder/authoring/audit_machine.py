"""Do the hidden tests see what a machine changes in the solutions? Each is graded until one check fails.

[[equivalent]]                                  # equivalents.toml: changes that change nothing
file = "graph.py"
was = "steps = step_sizes(x, h, exponent=1 / 3)"
becomes = "steps = step_sizes(x, h, exponent=1 / 3 )"
reason = "…"
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograder.authoring import named_blanks
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.equivalents import FILE, read_equivalents
from autograder.authoring.machine import Change, changes
from autograder.authoring.mutants import shown, source
from autograder.course import Lab
from autograder.judging.verdicts import UNDECIDED, Result
from autograder.key import VARIANTS

MOST_EQUIVALENT = 0.03  # of all changes
PROGRAMS = 1000  # on which one that is said to change nothing must answer right
KEYS = 8  # further ones, from which more inputs are drawn for it


@dataclass(frozen=True)
class Hunt:
    """What became of all changes. `defects`: what must be mended in equivalents.toml, each in one line.

    programs: how many different ones each of the equivalent answers right at least, of the changed blank.
    """

    killed: int
    total: int
    equivalent: tuple[Change, ...]
    programs: int
    survivors: tuple[Change, ...]
    defects: tuple[str, ...]


def hunt(lab: Lab, runs: Runs, further: Callable[[int], Runs]) -> Hunt:
    """Grade each change on one variant, and those that nothing sees on the other variants too.

    further: runs with another key, by number, for what is said to change nothing.
    Raises: CourseError.
    """
    found = changes(lab)
    listed = [(one.file, one.was, one.becomes) for one in read_equivalents(lab).equivalent]
    unseen = _unseen(runs, [(change, [number % VARIANTS]) for number, change in enumerate(found)])
    unseen = _unseen(runs, [(change, range(VARIANTS)) for change in unseen])
    equivalent = _tried(lab, runs, further, [change for change in unseen if _sign(change) in listed])
    unseen = [change for change in unseen if _sign(change) not in listed] + [one for one, _ in equivalent]
    return Hunt(
        killed=len(found) - len(unseen),
        total=len(found),
        equivalent=tuple(change for change, _ in equivalent),
        programs=min((programs for _, programs in equivalent), default=0),
        survivors=tuple(change for change in unseen if _sign(change) not in listed),
        defects=(*_undecided(runs, found), *_defects(lab, listed, found, equivalent)),
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


def _tried(
    lab: Lab, runs: Runs, further: Callable[[int], Runs], said: Sequence[Change]
) -> list[tuple[Change, int]]:
    """What no check sees on further inputs either, of changes said to change nothing, and on how many."""
    calls = {str(change): _calls(lab, runs, change) for change in said}
    seen: list[Change] = []
    for number in range(KEYS):
        if few := [one for one in said if one not in seen and len(calls[str(one)]) < PROGRAMS]:
            more = further(number)
            still = _unseen(more, [(change, range(VARIANTS)) for change in few])
            seen += [change for change in few if change not in still]
            for change in still:
                calls[str(change)] |= _calls(lab, more, change)
    return [(change, len(calls[str(change)])) for change in said if change not in seen]


def _sees(result: Result) -> bool:
    """Whether a check fails."""
    outcomes = {check.outcome for task in result.tasks for check in task.checks}
    return bool(outcomes - {"passed", *UNDECIDED})


def _undecided(runs: Runs, found: Iterable[Change]) -> Iterator[str]:
    for change in found:
        tasks = [task for result in runs.of(str(change)) for task in result.tasks]
        if any(check.outcome == "grader-fault" for task in tasks for check in task.checks):
            yield f"{change}: the grader failed on it. Run `autograder doctor`, then the audit again."


def _calls(lab: Lab, runs: Runs, change: Change) -> set[str]:
    """The calls with different inputs that were compared, in the tasks of its blank, on all variants."""
    rows = named_blanks.places(change.file, source(lab, change.file))
    blanks = {blank for blank, lines in rows.items() if change.line in lines}
    tasks = {task.id for task in lab.tasks if blanks & {blank.name for blank in task.blanks}}
    return {
        call
        for graded in runs.graded(str(change))
        for task in graded.result.tasks
        if task.id in tasks
        for check in task.checks
        for call in graded.compared.get(check.id, [])
    }


def _sign(change: Change) -> tuple[str, str, str]:
    return change.file, change.was, change.becomes


def _defects(
    lab: Lab,
    listed: Iterable[tuple[str, str, str]],
    found: Sequence[Change],
    equivalent: Sequence[tuple[Change, int]],
) -> Iterator[str]:
    """Entries of equivalents.toml that are no change any more, stand for several, or that a check sees; too
    many of them; and those that were tried on too few programs."""
    unseen, made = {_sign(change) for change, _ in equivalent}, Counter(map(_sign, found))
    for sign in listed:
        place = f"{shown(lab, FILE)}: {sign[1]} → {sign[2]} stands there"
        if sign not in unseen:
            why = "a check sees it" if sign in made else "no change is like this"
            yield f"{place}, but {why}. Remove the entry."
        elif made[sign] > 1:
            yield f"{place} for {made[sign]} changes. Reword a solution, so that each has its own reason."
    for change, programs in equivalent:
        if programs < PROGRAMS:
            place = f"{shown(lab, FILE)}: {change.was} → {change.becomes} stands there"
            yield f"{place}, but it was compared on {programs} programs only, not on {PROGRAMS}. Add checks."
    if len(equivalent) > MOST_EQUIVALENT * len(found):
        share = f"{len(equivalent)} of {len(found)} are more than {MOST_EQUIVALENT:.0%}"
        yield f"{shown(lab, FILE)}: {share}. Let checks see some of them."
