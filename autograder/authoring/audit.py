"""Is a lab sound? A typical mistake fails the tasks it is meant for and no others; every right way passes.

Mutants, alternates, the reference and the skeleton go the way of a student's work; what came back is judged
here.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.authoring import audit_alone, audit_thoughtless, audit_tolerances
from autograder.authoring.audit_budget import Budget, budget
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.audit_thoughtless import Answers
from autograder.authoring.audit_tolerances import Gap
from autograder.authoring.mutants import (
    RAISES,
    Modules,
    Mutant,
    malformation,
    notebook,
    read_mutants,
    shown,
    skeleton_modules,
    solved_modules,
)
from autograder.course import CourseError, Lab
from autograder.judging.verdicts import PRECEDENCE, UNDECIDED, CheckResult, Result
from autograder.key import VARIANTS

KILLED, SURVIVED, UNRELATED = "killed", "survived", "unrelated task failed"
MALFORMED, OPEN = "malformed mutant", "undecided"

# No mutant's id has a dot.
REFERENCE, SKELETON, ALTERNATE = "lab.reference", "lab.skeleton", "alternate."
AGAIN, MEANT = "again.", "meant."  # mutants on further variants: checks that saw them before; their tasks
RANDOM = "random."  # how the names of such answers of no thought begin
SLIPS = ("NameError", "UnboundLocalError")  # not mistakes about derivatives
_ELSEWHERE = ("file", "line", "code")  # of a message's arguments: where in the source, not what happened


@dataclass(frozen=True)
class Ruling:
    """What became of a mutant: its results, one a variant, the verdict, and why."""

    mutant: Mutant
    results: tuple[Result, ...]
    verdict: str
    why: str


@dataclass(frozen=True)
class Audit:
    """All that was found out about a lab.

    alike: mutants that nothing tells apart. alternates, reference: results by variant. unfit: checks whose
    points do not fit what they say about the skeleton, and why. answers: those of no thought. alone: what
    keeps a task from standing on its own. gaps: of each tolerance.
    """

    lab: Lab
    key: str
    solved: Modules
    rulings: tuple[Ruling, ...]
    alike: tuple[tuple[str, str], ...]
    alternates: dict[str, tuple[Result, ...]]
    reference: tuple[Result, ...]
    unfit: dict[str, str]
    answers: Answers
    alone: tuple[str, ...]
    gaps: tuple[Gap, ...]
    budget: Budget

    @property
    def sound(self) -> bool:
        """Whether everything is as it must be."""
        right = [self.reference, *self.alternates.values()]
        return (
            all(ruling.verdict == KILLED for ruling in self.rulings)
            and all(passed(result) for results in right for result in results)
            and not self.alike
            and not self.unfit
            and self.answers.sound
            and not self.alone
            and not list(audit_tolerances.defects(self.gaps))
            and not self.budget.defects
        )


def audit(lab: Lab, runs: Runs, variants: int) -> Audit:
    """Run everything: alternates and the reference on all variants, each mutant on so many, others in turn.

    On the first of them a mutant runs in full.
    Raises: CourseError.
    """
    mutants, solved, alternates = read_mutants(lab), solved_modules(lab), read_alternates(lab)
    right = {REFERENCE: solved} | {ALTERNATE + name: modules for name, modules in alternates.items()}
    turns = {
        mutant.id: [(number * variants + turn) % VARIANTS for turn in range(variants)]
        for number, mutant in enumerate(mutants)
    }
    answers = audit_thoughtless.works(lab)
    runs.run(
        [
            Work(SKELETON, skeleton_modules(lab) | notebook(lab, cut=True), 0),
            *(
                Work(name, modules, variant, () if name == REFERENCE else _reached(lab, solved, modules))
                for name, modules in right.items()
                for variant in range(VARIANTS)
            ),
            *(_whole(lab, solved, mutant, turns[mutant.id][0]) for mutant in mutants),
            *answers,
            *audit_alone.works(lab),
        ]
    )
    _try_again(runs, [(mutant, variant) for mutant in mutants for variant in turns[mutant.id][1:]])
    rulings = tuple(rule(lab, solved, mutant, _results(runs, mutant)) for mutant in mutants)
    meant: dict[str, tuple[str, tuple[str, ...]]] = {
        name + mutant.id: (mutant.id, mutant.tasks) for mutant in mutants for name in ("", AGAIN, MEANT)
    }
    meant |= {work.name: (work.name, work.only) for work in answers if not work.name.startswith(RANDOM)}
    return Audit(
        lab=lab,
        key=runs.key_id,
        solved=solved,
        rulings=rulings,
        alike=tuple(_alike(lab, solved, mutants, runs)),
        alternates={name: runs.of(ALTERNATE + name) for name in alternates},
        reference=runs.of(REFERENCE),
        unfit=_unfit(runs.of(SKELETON)[0]),
        answers=audit_thoughtless.rule(lab, runs),
        alone=tuple(audit_alone.defects(lab, runs)),
        gaps=audit_tolerances.gaps(runs, right, meant),
        budget=budget(lab, runs, REFERENCE),
    )


def read_alternates(lab: Lab) -> dict[str, Modules]:
    """Other right solutions: alternates/NAME/ holds whole files, and why.md that names the algorithm.

    What it doesn't hold is as in the reference.

    Raises: CourseError.
    """
    folder = lab.reference / "alternates"
    alternates, solved = {}, solved_modules(lab)
    for path in sorted(folder.glob("*/")):
        place = shown(lab, f"alternates/{path.name}")
        if not re.fullmatch(r"[a-z0-9-]{1,40}", path.name):
            raise CourseError(
                f"{place}: no alternate can be called so. Use small letters, digits and hyphens."
            )
        if not (path / "why.md").is_file():
            raise CourseError(f"{place}/why.md is missing. Name the algorithm there.")
        names = [f"alternates/{path.name}/{name}" for name in solved if (path / name).exists()]
        alternates[path.name] = solved | (solved_modules(lab, names) if names else {})
    return alternates


def _whole(lab: Lab, solved: Modules, mutant: Mutant, variant: int) -> Work:
    return Work(mutant.id, mutant.modules, variant, _reached(lab, solved, mutant.modules, mutant.tasks))


def _reached(lab: Lab, solved: Modules, modules: Modules, meant: Iterable[str] = ()) -> tuple[str, ...]:
    """The tasks that these modules can fail, and those they are meant to; () for all of them.

    Beside kernels under test no module runs: where their file is the reference's, so is how they end.
    """
    apart = {task.id for task in lab.tasks if (file := lab.launched(task)) and modules[file] == solved[file]}
    return tuple(task.id for task in lab.tasks if task.id not in apart.difference(meant)) if apart else ()


def _try_again(runs: Runs, wanted: list[tuple[Mutant, int]]) -> None:
    """On each further variant the checks that saw the mutant before; its tasks where these do not see it.

    Who did not end in time before is not waited for as long again.
    """
    again = (
        Work(AGAIN + mutant.id, mutant.modules, variant, _seen_by(runs, mutant), hurried=True)
        for mutant, variant in wanted
    )
    runs.run(again, short=True)
    unseen = {
        (mutant.id, result.variant)
        for mutant, _ in wanted
        for result in runs.of(AGAIN + mutant.id)
        if not set(mutant.tasks) <= _failed(result)
    }
    runs.run(
        Work(MEANT + mutant.id, mutant.modules, variant, mutant.tasks, until="task")
        for mutant, variant in wanted
        if (mutant.id, variant) in unseen
    )


def _seen_by(runs: Runs, mutant: Mutant) -> tuple[str, ...]:
    """Of each task it is meant for the check that sees it, where one need not wait for it; or the tasks."""
    tasks = [task for result in runs.of(mutant.id) for task in result.tasks if task.id in mutant.tasks]
    seen = [[check for check in task.checks if check.outcome not in ("passed", "not-run")] for task in tasks]
    return tuple(min(checks, key=_waits).id for checks in seen if checks) or mutant.tasks


def _waits(check: CheckResult) -> bool:
    return check.outcome == "timed-out"


def _results(runs: Runs, mutant: Mutant) -> tuple[Result, ...]:
    """The one in full first, then of each further variant the one that tells most."""
    further = {result.variant: result for name in (AGAIN, MEANT) for result in runs.of(name + mutant.id)}
    return (*runs.of(mutant.id), *further.values())


def _failed(result: Result) -> set[str]:
    """The tasks of which a check that ran failed."""
    return {id for id, outcome in outcomes_of(result).items() if outcome != "passed"}


def rule(lab: Lab, solved: Modules, mutant: Mutant, results: tuple[Result, ...]) -> Ruling:
    """The verdict on a mutant."""
    verdict, why = KILLED, ""
    if slip := malformation(solved, mutant.modules) or _dead(lab, mutant, results):
        verdict, why = MALFORMED, slip
    else:
        allowed = related(lab, mutant.tasks)
        for result in results:
            outcomes = outcomes_of(result)
            failed = _failed(result)
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


def passed(result: Result) -> bool:
    """Whether all that ran has full marks, and all given code is as it was."""
    return set(outcomes_of(result).values()) == {"passed"}


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


def _alike(lab: Lab, solved: Modules, mutants: tuple[Mutant, ...], runs: Runs) -> Iterable[tuple[str, str]]:
    """Pairs that no check tells apart, neither by outcome nor by what it says; on the same inputs."""
    groups = defaultdict(list)
    for mutant in mutants:
        groups[_outcomes(runs.of(mutant.id))].append(mutant)
    suspects = [group for group in groups.values() if len(group) > 1]
    runs.run(
        _whole(lab, solved, mutant, result.variant)
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


def _unfit(skeleton: Result) -> dict[str, str]:
    """Checks with points that the untouched skeleton passes, and guards of given code that it fails."""
    found = {}
    for task in skeleton.tasks:
        for check in task.checks:
            if check.max and check.outcome == "passed":
                found[check.id] = "it has points, and the untouched skeleton passes it"
            elif not check.max and check.outcome != "passed":
                words = check.message.text("en") if check.message else check.outcome
                found[check.id] = f"it guards given code, and the untouched skeleton fails it: {words}"
    return found


def _remark(result: Result, task: str) -> str:
    """What the first failed check of a task says."""
    checks = (check for one in result.tasks if one.id == task for check in one.checks)
    return next((check.message.text("en") for check in checks if check.message), "")
