"""Hand-written mistakes: what runs of each and on which variants, and the verdict on it.

A mutant runs in full on its first variant. On each further one a check of each task runs that saw it before;
where that one does not see it, all checks of its tasks do. What only time told before has short limits there.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.authoring.audit_right import reached
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import RAISES, Modules, Mutant, malformation
from autograder.course import Lab
from autograder.judging.verdicts import PRECEDENCE, UNDECIDED, CheckResult, Result
from autograder.key import VARIANTS

KILLED, SURVIVED, UNRELATED = "killed", "survived", "unrelated task failed"
MALFORMED, OPEN = "malformed mutant", "undecided"
AGAIN, MEANT = "again.", "meant."  # on further variants: what saw it before; all checks of its tasks
SLIPS = ("NameError", "UnboundLocalError")  # not mistakes about derivatives
LATE = "timed-out"
_ELSEWHERE = ("file", "line", "code")  # of a message's arguments: where in the source, not what happened


@dataclass(frozen=True)
class Ruling:
    """What became of a mutant: its results, one a variant, the verdict, and why."""

    mutant: Mutant
    results: tuple[Result, ...]
    verdict: str
    why: str


class Mutants:
    """All of a lab's mutants, each on so many variants, others in turn."""

    def __init__(self, lab: Lab, solved: Modules, mutants: Sequence[Mutant], variants: int) -> None:
        self._lab, self._solved, self._mutants = lab, solved, mutants
        self._turns = {
            mutant.id: [(number * variants + turn) % VARIANTS for turn in range(variants)]
            for number, mutant in enumerate(mutants)
        }

    def works(self) -> list[Work]:
        """Each in full, on the first of its variants."""
        return [self._whole(mutant, self._turns[mutant.id][0]) for mutant in self._mutants]

    def try_further(self, runs: Runs) -> None:
        """Run each on its further variants. Raises: CourseError."""
        wanted = [(mutant, variant) for mutant in self._mutants for variant in self._turns[mutant.id][1:]]
        seen = {mutant.id: _seen_by(runs.of(mutant.id)[0], mutant.tasks) for mutant in self._mutants}
        runs.run(
            Work(
                AGAIN + mutant.id,
                mutant.modules,
                variant,
                tuple(seen[mutant.id]) or mutant.tasks,
                hurried=LATE in seen[mutant.id].values(),
            )
            for mutant, variant in wanted
        )
        unseen = {
            (mutant.id, result.variant)
            for mutant in self._mutants
            for result in runs.of(AGAIN + mutant.id)
            if not seen_again(result, seen[mutant.id]).issuperset(mutant.tasks)
        }
        runs.run(
            Work(MEANT + mutant.id, mutant.modules, variant, mutant.tasks, until="task")
            for mutant, variant in wanted
            if (mutant.id, variant) in unseen
        )

    def rulings(self, runs: Runs) -> tuple[Ruling, ...]:
        """The verdict on each, from all of its variants."""
        return tuple(
            rule(self._lab, self._solved, mutant, _results(runs, mutant.id)) for mutant in self._mutants
        )

    def meant(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Of each name whose checks run all their cases: the mistake, and the tasks it is meant for."""
        return {
            kind + mutant.id: (mutant.id, mutant.tasks) for mutant in self._mutants for kind in ("", AGAIN)
        }

    def alike(self, runs: Runs) -> Iterator[tuple[str, str]]:
        """Pairs that no check tells apart, neither by outcome nor by what it says; on the same inputs.

        Raises: CourseError.
        """
        groups = defaultdict(list)
        for mutant in self._mutants:
            groups[_outcomes(runs.of(mutant.id))].append(mutant)
        suspects = [group for group in groups.values() if len(group) > 1]
        runs.run(
            self._whole(mutant, result.variant)
            for group in suspects
            for result in runs.of(group[0].id)
            for mutant in group
        )
        for group in suspects:
            first: dict[object, str] = {}
            variants = {result.variant for result in runs.of(group[0].id)}
            for mutant in group:
                said = _said([result for result in runs.of(mutant.id) if result.variant in variants])
                if said in first:
                    yield first[said], mutant.id
                first.setdefault(said, mutant.id)

    def _whole(self, mutant: Mutant, variant: int) -> Work:
        """Its run in full: the tasks it can fail, and those it is meant to."""
        tasks = reached(self._lab, self._solved, mutant.modules).union(mutant.tasks)
        return Work(mutant.id, mutant.modules, variant, tuple(sorted(tasks)))


def _seen_by(result: Result, tasks: Iterable[str]) -> dict[str, str]:
    """Of each of these tasks a check that saw the mutant and how it ended: one that does not wait, if any."""
    found: dict[str, str] = {}
    for task in (task for task in result.tasks if task.id in tasks):
        saw = [check for check in task.checks if _fails(check)]
        if saw:
            first = min(saw, key=lambda check: check.outcome == LATE)
            found[first.id] = first.outcome
    return found


def seen_again(result: Result, seen: Mapping[str, str]) -> set[str]:
    """The tasks in which a check fails; by time, under limits that may be short, only one that did before."""
    return {
        task.id
        for task in result.tasks
        for check in task.checks
        if _fails(check) and (check.outcome != LATE or seen.get(check.id) == LATE)
    }


def _fails(check: CheckResult) -> bool:
    return check.outcome not in ("passed", "not-run")


def _results(runs: Runs, mutant: str) -> tuple[Result, ...]:
    """The one in full first, then of each further variant the one that tells most."""
    further = {result.variant: result for kind in (AGAIN, MEANT) for result in runs.of(kind + mutant)}
    return (*runs.of(mutant), *further.values())


def rule(lab: Lab, solved: Modules, mutant: Mutant, results: tuple[Result, ...]) -> Ruling:
    """The verdict on a mutant."""
    verdict, why = KILLED, ""
    if slip := malformation(solved, mutant.modules) or _dead(lab, mutant, results):
        verdict, why = MALFORMED, slip
    else:
        allowed = related(lab, mutant.tasks)
        for result in results:
            outcomes = outcomes_of(result)
            failed = [id for id, outcome in outcomes.items() if outcome != "passed"]
            on = f"on variant {result.variant}"
            undecided = [id for id, outcome in outcomes.items() if outcome in UNDECIDED]
            if found := undecided or [id for id in mutant.tasks if id not in outcomes]:
                verdict, why = OPEN, f"the grader failed in {found[0]} {on}"
            elif found := [id for id in mutant.tasks if id not in failed]:
                verdict, why = SURVIVED, f"{', '.join(found)} passed {on}"
            elif found := [id for id in failed if id not in allowed]:
                verdict, why = UNRELATED, f"{', '.join(found)} failed {on}: {_remark(result, found[0])}"
            if verdict != KILLED:
                break
    return Ruling(mutant, results, verdict, why)


def outcomes_of(result: Result) -> dict[str, str]:
    """The outcome of each task, by those of its checks that ran; no task of which none did."""
    found = {}
    for task in result.tasks:
        if ran := {check.outcome for check in task.checks} - {"not-run"}:
            found[task.id] = next((outcome for outcome in PRECEDENCE if outcome in ran), "passed")
    return found


def outcome_on_all(ruling: Ruling, task: str) -> str:
    """How a task ended, as where the mutant ran in full; "" if it passed on some variants only.

    "not-run" if the mutant can't reach it.
    """
    found = [outcomes[task] for outcomes in map(outcomes_of, ruling.results) if task in outcomes]
    if not found:
        return "not-run"
    passes = {outcome == "passed" for outcome in found}
    return found[0] if len(passes) == 1 else ""


def related(lab: Lab, tasks: Iterable[str]) -> set[str]:
    """The tasks that a mistake meant for `tasks` may fail: these, and all that need one of them.

    A task that one of these needs, and that grades the same blank, counts like it: what bypasses are sure to
    show may show in a random graph too.
    """
    reached = set(tasks)
    for task in map(lab.task, tasks):
        own = {blank.name for blank in task.blanks}
        reached |= {need for need in task.needs if own & {blank.name for blank in lab.task(need).blanks}}
    for task in lab.tasks:  # a needed task stands above
        if reached & set(task.needs):
            reached.add(task.id)
    return reached


def _dead(lab: Lab, mutant: Mutant, results: tuple[Result, ...]) -> str:
    """Why the mutant is broken rather than mistaken, or "": no import, or never a number to look at."""
    checks = [
        check
        for result in results
        for task in result.tasks
        if task.id in mutant.tasks
        for check in task.checks
    ]
    messages = [check.message for check in checks if check.message]
    for message in messages:
        importing = str(message.arguments.get("call", "")).startswith("import ")
        if importing or message.arguments.get("error") in SLIPS:
            return message.text("en")
    # A kernel's output is full of NaN before it runs: what it leaves out, or adds to, stays so.
    poisoned = any(lab.launched(lab.task(id)) for id in mutant.tasks)
    ran = poisoned and any(message.id == "judging.wrong-value" for message in messages)
    if mutant.family == RAISES or ran or any(map(_alive, checks)) or not messages:
        return ""
    return f"it gives no finite number of the right kind anywhere: {messages[0].text('en')}"


def _alive(check: CheckResult) -> bool:
    """Whether the check saw finite numbers, be it in another shape, or work on the way to them."""
    kind, arguments = (check.message.id, check.message.arguments) if check.message else ("", {})
    if check.outcome == "passed":
        return check.max > 0
    if kind == "judging.wrong-kind":  # "array(dtype=float64, shape=(3, 4))"
        got, expected = (str(arguments[name]).partition(", ")[0] for name in ("got", "expected"))
        return got == expected
    if kind in ("judging.wrong-value", "judging.law"):
        return arguments.get("got") not in ("nan", "inf", "-inf")
    return check.outcome in ("timed-out", "out-of-memory")


def _outcomes(results: Iterable[Result]) -> tuple[tuple[str, frozenset[str]], ...]:
    """The outcomes of each check, whatever the variants."""
    found = defaultdict(set)
    for result in results:
        for task in result.tasks:
            for check in task.checks:
                found[check.id].add(check.outcome)
    return tuple((check, frozenset(outcomes)) for check, outcomes in found.items())


def _said(results: Iterable[Result]) -> str:
    """All that the checks say, but for the places in the source."""
    said = []
    for result in results:
        for task in result.tasks:
            for check in task.checks:
                arguments = check.message.arguments if check.message else {}
                what = {name: value for name, value in arguments.items() if name not in _ELSEWHERE}
                said.append((result.variant, check.id, check.outcome, what))
    return repr(said)


def _remark(result: Result, task: str) -> str:
    """What the first failed check of a task says."""
    checks = (check for one in result.tasks if one.id == task for check in one.checks)
    return next((check.message.text("en") for check in checks if check.message), "")
