"""Which typical mistake was made: what a student's program answers, beside what the lab's mutants answer.

Run after all verdicts of a submission are in; it changes none. A family is named only if one of its mutants
gives the same wrong answers to at least two calls, is wrong nowhere in the task's checks where the student is
right, and no other family explains as much.
"""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import msgspec

from autograder.course import Lab, Task
from autograder.key import VARIANTS
from autograder.sandbox.client import SandboxError

from .bench import Bench
from .details import Detail
from .mistakes import Hint, Mistake, Title
from .plugin import Plugin
from .remembered import Remembered
from .testimony import Said, compared
from .trial import References
from .verdicts import Check, Verdict
from .witness import KernelWitness, Witness, hear

ENOUGH = 2  # calls on which a mutant must agree
FIRST, HEARD = 3, 6  # failed checks of a task: asked of every mutant, and asked at all
SLOW = (0, 1)  # the variants whose inputs time-outs are compared on: cost hardly depends on them
BUDGET_S = 120.0  # of the wall, each: to hear a submission out; to ask mutants what nobody has asked before
_CPU_S = 1.0  # of a check, at most

_Whose = Literal["own", "mistakes"]


@dataclass(frozen=True)
class Diagnosis:
    """Of the checks of a task; "" and None where no family alone explains it, and `families` all do.

    topics: theirs, where answers speak for them; who is slow may be so for a reason that no topic names.
    """

    checks: tuple[str, ...]
    family: str
    families: tuple[str, ...]
    topics: tuple[Title, ...]
    hint: Hint | None


class _Costly(Exception):
    """The budget is used up: who has not been asked can't be ruled out."""


class _Ended(NamedTuple):
    """The checks of a task by how they ended."""

    slow: list[Check]
    wrong: list[Check]
    passed: list[Check]


class _Case:
    """What speaks for and against each mistake; `left`: those that nothing speaks against."""

    def __init__(self, known: Sequence[Mistake]) -> None:
        self.left = list(known)
        self._calls: dict[str, dict[str, str]] = {one.id: {} for one in known}  # call -> check

    def note(self, one: Mistake, check: str, alike: Collection[str], against: int) -> None:
        """The calls on which it agrees, and on how many it is wrong where the student is right."""
        self._calls[one.id] = dict.fromkeys(alike, check) | self._calls[one.id]  # what failed is asked first
        if against:
            self.left = [other for other in self.left if other is not one]

    def drop_strangers(self) -> None:
        """Leave those that agree somewhere."""
        self.left = [one for one in self.left if self._calls[one.id]]

    def _matches(self) -> list[Mistake]:
        """Those that agree often enough, without those of which another one's calls are all, and more."""
        calls = {one.id: self._calls[one.id].keys() for one in self.left}
        enough = [one for one in self.left if len(calls[one.id]) >= ENOUGH]
        return [one for one in enough if not any(calls[one.id] < calls[other.id] for other in enough)]

    def families(self) -> tuple[str, ...]:
        """Of those that match."""
        return tuple(dict.fromkeys(one.family for one in self._matches()))

    def diagnosis(self, wrong: Sequence[str], slow: Sequence[str]) -> Diagnosis | None:
        """What follows, told at the checks that speak for it, in their order."""
        matches, families = self._matches(), self.families()
        if not matches:
            return None
        closest = max(matches, key=lambda one: len(self._calls[one.id]))  # the first of several
        speaking = set(self._calls[closest.id].values())
        told = tuple(check for check in (*wrong, *slow) if check in speaking)
        alone = len(families) == 1
        topics = dict.fromkeys(one.topic for one in matches if one.topic and speaking.intersection(wrong))
        return Diagnosis(
            told, families[0] if alone else "", families, tuple(topics), closest.hint if alone else None
        )


def with_diagnoses(details: list[Detail], diagnoses: Iterable[Diagnosis]) -> list[Detail]:
    """Details, and what was diagnosed beside them; a task has one detail."""
    known = {detail.check: detail for detail in details}
    for one in diagnoses:
        check = next((check for check in one.checks if check in known), one.checks[0])
        detail = known.get(check) or Detail(check, "", [], [], None, None, [], None)
        hint = msgspec.structs.asdict(one.hint) if one.hint else {}
        topics = [msgspec.structs.asdict(topic) for topic in one.topics]
        known[check] = msgspec.structs.replace(
            detail, family=one.family, families=one.families, topics=topics, hint=hint
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
        self._spent_s: dict[_Whose, float] = {}

    def diagnose(
        self, own: Bench, verdicts: Sequence[Verdict], unusable: Collection[str], variant: int
    ) -> Iterator[Diagnosis]:
        """Of each task that failed by itself, its files usable, and that no fault of ours keeps from it."""
        self._spent_s = {"own": 0.0, "mistakes": 0.0}
        outcomes = {verdict.check: verdict.outcome for verdict in verdicts}
        failed = {check.task for check in self._plugin.checks if outcomes[check.id] != "passed"}
        explained: set[str] = set()  # tasks
        for task in self._lab.tasks:
            known = [one for one in self._mistakes if task.id in one.tasks and failed.issuperset(one.tasks)]
            hidden = self._hidden(task, failed, explained)
            if known and not hidden and not set(unusable) & set(task.files):
                checks = [check for check in self._plugin.checks if check.task == task.id]
                ended = _Ended(
                    slow=[check for check in checks if outcomes[check.id] == "timed-out"][:HEARD],
                    wrong=[check for check in checks if outcomes[check.id] in ("wrong", "crashed")][:HEARD],
                    passed=[check for check in checks if outcomes[check.id] == "passed"],
                )
                with contextlib.suppress(_Costly, SandboxError):
                    if found := self._of_task(task, ended, own, known, variant):
                        explained |= {task.id} if found.family else set()
                        yield found

    def _hidden(self, task: Task, failed: Collection[str], explained: Collection[str]) -> bool:
        """Whether what is wrong may come from a task below it: of another blank, or explained by now."""
        own, waiting = {blank.name for blank in task.blanks}, [*task.needs]
        while waiting:
            need = self._lab.task(waiting.pop())
            elsewhere = own.isdisjoint(blank.name for blank in need.blanks)
            if need.id in explained or (need.id in failed and elsewhere):
                return True
            waiting += need.needs
        return False

    def _of_task(
        self, task: Task, ended: "_Ended", own: Bench, known: list[Mistake], variant: int
    ) -> Diagnosis | None:
        """Whoever agrees in none of the first checks is not asked further. Another variant's inputs are tried
        where those of one's own leave it open; what passed speaks last."""
        case = _Case(known)
        for check in ended.slow:
            self._ask(case, task, [check], own, SLOW[0])
        if not ended.wrong:
            case.drop_strangers()
        if case.left and len(case.families()) != 1:
            for check in ended.slow:
                self._ask(case, task, [check], own, SLOW[1])
        self._ask(case, task, ended.wrong[:FIRST], own, variant)
        case.drop_strangers()
        self._ask(case, task, ended.wrong[FIRST:], own, variant)
        if case.left and len(case.families()) != 1:
            self._ask(case, task, ended.wrong[:FIRST], own, (variant + 1) % VARIANTS)
        if case.families():
            self._ask(case, task, ended.passed, own, variant)
        return case.diagnosis([check.id for check in ended.wrong], [check.id for check in ended.slow])

    def _ask(self, case: "_Case", task: Task, checks: list[Check], own: Bench, variant: int) -> None:
        theirs = self._of_mistakes(task, checks, case.left, variant) if case.left else {}
        for check in checks if case.left else ():
            with self._charged("own"):
                heard = self._hear(task, check, own, variant)
            for one in case.left:
                case.note(one, check.id, *compared(heard, theirs[check.id][one.id]))

    def _of_mistakes(
        self, task: Task, checks: list[Check], mistakes: list[Mistake], variant: int
    ) -> dict[str, dict[str, list[Said]]]:
        """What each mistake answers to each check, computed where nobody asked before.

        Raises: _Costly, SandboxError; what was answered in full until then is kept.
        """
        known = {check.id: self._remembered.of(check.id, variant) for check in checks}
        try:
            for one in mistakes:
                if asked := [check for check in checks if one.id not in known[check.id]]:
                    with self._charged("mistakes"), self._bench(one) as bench:
                        for check in asked:
                            known[check.id][one.id] = self._hear(task, check, bench, variant)
        finally:
            for check in checks:
                self._remembered.keep(check.id, variant)
        return known

    @contextlib.contextmanager
    def _charged(self, whose: _Whose) -> Iterator[None]:
        """The time that is spent inside. Raises: _Costly where there is none left."""
        if self._spent_s[whose] > BUDGET_S:
            raise _Costly
        begun = time.monotonic()
        try:
            yield
        finally:
            self._spent_s[whose] += time.monotonic() - begun

    def _hear(self, task: Task, check: Check, bench: Bench, variant: int) -> list[Said]:
        """A fault of ours gets a second try, as in grading. Raises: SandboxError."""
        launched = self._lab.launched(task)
        subject, kind = bench.of(launched), KernelWitness if launched else Witness
        limits = msgspec.structs.replace(task.limits, cpu_s=min(task.limits.cpu_s, _CPU_S))

        def heard() -> list[Said]:
            witness = kind(subject, self._answers.of(launched), task, limits)
            return hear(self._plugin, check.id, witness, variant)

        try:
            return heard()
        except SandboxError:
            subject.reopen()
            return heard()
