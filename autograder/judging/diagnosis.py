"""Which typical mistake was made: what a student's program answers, beside what the lab's mutants answer.

Run after all verdicts of a submission are in; it changes none. A family is named only if one of its mutants
gives the same wrong answers to at least two calls, is wrong nowhere where the student is right, and no other
family explains as much.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from autograder.course import Lab, Limits, Task
from autograder.key import VARIANTS

from .bench import Bench
from .details import Detail
from .mistakes import Hint, Mistake
from .plugin import Plugin
from .remembered import Remembered
from .testimony import Said, compared
from .trial import References
from .verdicts import Check, Verdict
from .witness import KernelWitness, Witness, hear

ENOUGH = 2  # calls on which a mutant must agree
HEARD = 6  # failed checks of a task
_AT_MOST = {"cpu_s": 1.0, "idle_s": 1.0, "wall_s": 4.0}


@dataclass(frozen=True)
class Diagnosis:
    """Of the checks of a task; "" and None where no family alone explains it, and `families` all do."""

    checks: tuple[str, ...]
    family: str
    families: tuple[str, ...]
    hint: Hint | None


@dataclass(frozen=True)
class _Match:
    mistake: Mistake
    calls: frozenset[str]


def with_diagnoses(details: list[Detail], diagnoses: Iterable[Diagnosis]) -> list[Detail]:
    """Details, and what was diagnosed beside them; a task has one detail."""
    known = {detail.check: detail for detail in details}
    for one in diagnoses:
        check = next((check for check in one.checks if check in known), one.checks[0])
        detail = known.get(check) or Detail(check, "", [], [], None, None, [], None)
        hint = msgspec.structs.asdict(one.hint) if one.hint else {}
        known[check] = msgspec.structs.replace(
            detail, family=one.family, families=one.families, hint=hint
        )
    return list(known.values())


class Diagnostician:
    """Diagnoses submissions of one lab. `bench` starts a mutant's sandbox."""

    def __init__(
        self,
        lab: Lab,
        plugin: Plugin,
        answers: References,
        bench: Callable[[Mistake], Bench],
        remembered: Remembered,
        mistakes: Sequence[Mistake],
    ) -> None:
        self._lab, self._plugin, self._answers, self._bench = lab, plugin, answers, bench
        self._remembered, self._mistakes = remembered, mistakes

    def diagnose(
        self, own: Bench, verdicts: Sequence[Verdict], unusable: Collection[str], variant: int
    ) -> Iterator[Diagnosis]:
        """Of each task that failed by itself and by the files that are not `unusable`. Raises: SandboxError."""
        outcomes = {verdict.check: verdict.outcome for verdict in verdicts}
        failed = {check.task for check in self._plugin.checks if check.points and outcomes[check.id] != "passed"}
        for task in self._lab.tasks:
            known = [one for one in self._mistakes if task.id in one.tasks and failed.issuperset(one.tasks)]
            wrong = [check for check in self._checks(task) if outcomes[check.id] in ("wrong", "crashed")]
            by_itself = not failed & set(task.needs) and not set(unusable) & set(task.files)
            if known and wrong and by_itself and (found := self._of_task(task, wrong[:HEARD], own, known, variant)):
                yield found

    def _checks(self, task: Task) -> list[Check]:
        return [check for check in self._plugin.checks if check.task == task.id and check.points]

    def _of_task(
        self, task: Task, checks: list[Check], own: Bench, known: list[Mistake], variant: int
    ) -> Diagnosis | None:
        """With the inputs of another variant too, where those of one's own leave it open."""
        agreed: dict[str, set[str]] = defaultdict(set)
        refuted: set[str] = set()
        for place in (variant, (variant + 1) % VARIANTS):
            left = [one for one in known if one.id not in refuted]
            theirs = self._of_mistakes(task, checks, left, place)
            for check in checks:
                heard = self._hear(task, check, own, place)
                for one in left:
                    calls, against = compared(heard, theirs[check.id][one.id])
                    agreed[one.id] |= calls
                    refuted |= {one.id} if against else set()
            matches = [_Match(one, frozenset(agreed[one.id])) for one in left if one.id not in refuted]
            found = _best([match for match in matches if len(match.calls) >= ENOUGH])
            known = [match.mistake for match in matches if match.calls]
            if not known or len({match.mistake.family for match in found}) == 1:
                break
        if not found:
            return None
        ids = tuple(check.id for check in checks)
        families = tuple(dict.fromkeys(match.mistake.family for match in found))
        if len(families) > 1:
            return Diagnosis(ids, "", families, None)
        closest = max(found, key=lambda match: len(match.calls))  # the first of several
        return Diagnosis(ids, families[0], families, closest.mistake.hint)

    def _of_mistakes(
        self, task: Task, checks: list[Check], mistakes: list[Mistake], variant: int
    ) -> dict[str, dict[str, list[Said]]]:
        """What each mistake answers to each check, computed where nobody has asked before."""
        known = {check.id: self._remembered.of(check.id, variant) for check in checks}
        for one in mistakes:
            if asked := [check for check in checks if one.id not in known[check.id]]:
                with self._bench(one) as bench:
                    for check in asked:
                        known[check.id][one.id] = self._hear(task, check, bench, variant)
        for check in checks:
            self._remembered.keep(check.id, variant)
        return known

    def _hear(self, task: Task, check: Check, bench: Bench, variant: int) -> list[Said]:
        launched = self._lab.launched(task)
        kind = KernelWitness if launched else Witness
        witness = kind(bench.of(launched), self._answers.of(launched), task, _shorter(task.limits))
        return hear(self._plugin, check.id, witness, variant)


def _best(matches: list[_Match]) -> list[_Match]:
    """Without those of which another one's calls are all, and more."""
    return [match for match in matches if not any(match.calls < other.calls for other in matches)]


def _shorter(limits: Limits) -> Limits:
    most = {name: min(getattr(limits, name), value) for name, value in _AT_MOST.items()}
    return msgspec.structs.replace(limits, **most)
