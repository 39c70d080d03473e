"""Is a lab sound? A typical mistake fails the tasks it is meant for and no others; every right way passes.

Mutants, alternates, the reference and the skeleton go the way of a student's work; what came back is judged
by a module for each rule.
"""

from dataclasses import dataclass

from autograder.authoring import audit_alone, audit_right, audit_thoughtless, audit_tolerances
from autograder.authoring.audit_budget import Budget, budget
from autograder.authoring.audit_mutants import Mutants, Ruling
from autograder.authoring.audit_right import REFERENCE, Right
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.audit_thoughtless import Answers
from autograder.authoring.audit_tolerances import Gap
from autograder.authoring.mutants import Modules, notebook, read_mutants, skeleton_modules, solved_modules
from autograder.course import Lab
from autograder.judging.verdicts import UNSTARTED, Result

SKELETON = "lab.skeleton"
RANDOM = "random."  # how the names of such answers of no thought begin


@dataclass(frozen=True)
class Audit:
    """All that was found out about a lab.

    variants: on how many each mutant ran. alike: mutants that nothing tells apart. right: the reference and
    the alternates. unfit: checks that end otherwise on the skeleton than unwritten work must, and why.
    answers: those of no thought. alone: what keeps a task from standing on its own. gaps: of each tolerance.
    """

    lab: Lab
    key: str
    variants: int
    solved: Modules
    rulings: tuple[Ruling, ...]
    alike: tuple[tuple[str, str], ...]
    right: tuple[Right, ...]
    unfit: dict[str, str]
    answers: Answers
    alone: tuple[str, ...]
    gaps: tuple[Gap, ...]
    budget: Budget


def audit(lab: Lab, runs: Runs, variants: int) -> Audit:
    """Run everything: right work on all variants, each mutant on so many. Raises: CourseError."""
    solved = solved_modules(lab)
    mutants = Mutants(lab, solved, read_mutants(lab), variants)
    answers, right = audit_thoughtless.works(lab), audit_right.works(lab, solved)
    skeleton = Work(SKELETON, skeleton_modules(lab) | notebook(lab, cut=True), 0)
    runs.run([skeleton, *right, *mutants.works(), *answers, *audit_alone.works(lab)])
    mutants.try_further(runs)
    meant = mutants.meant()
    meant |= {work.name: (work.name, work.only) for work in answers if not work.name.startswith(RANDOM)}
    return Audit(
        lab=lab,
        key=runs.key_id,
        variants=variants,
        solved=solved,
        rulings=mutants.rulings(runs),
        alike=tuple(mutants.alike(runs)),
        right=audit_right.found(lab, solved, runs),
        unfit=_unfit(runs.of(SKELETON)[0]),
        answers=audit_thoughtless.rule(lab, runs),
        alone=tuple(audit_alone.defects(lab, runs)),
        gaps=audit_tolerances.gaps(runs, {work.name for work in right}, meant),
        budget=budget(lab, runs, REFERENCE),
    )


def _unfit(skeleton: Result) -> dict[str, str]:
    """Checks with points that are not unwritten in the skeleton, and guards of given code that it fails."""
    found = {}
    for task in skeleton.tasks:
        for check in task.checks:
            words = check.message.text("en") if check.message else check.outcome
            if check.max and check.outcome == "passed":
                found[check.id] = "it has points, and the untouched skeleton passes it. Let it reach a blank."
            elif check.max and check.outcome not in UNSTARTED:
                found[check.id] = f"the untouched skeleton ends {check.outcome}, not unwritten: {words}"
            elif not check.max and check.outcome != "passed":
                found[check.id] = f"it guards given code, and the untouched skeleton fails it: {words}"
    return found
