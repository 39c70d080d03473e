"""Do the hidden tests see what a machine changes in the solutions? Each is graded until one check fails.

[[equivalent]]                                  # equivalents.toml: changes that change nothing
file = "graph.py"
was = "steps = step_sizes(x, h, exponent=1 / 3)"
becomes = "steps = step_sizes(x, h, exponent=1 / 3 )"
reason = "…"
"""

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autograder import key
from autograder.authoring.machine import Change, changes
from autograder.authoring.mutants import notebook, shown
from autograder.batch.pool import Pool
from autograder.course import CourseError, Lab, Words
from autograder.intake import find_submissions
from autograder.judging.protocol import Graded, Ready
from autograder.judging.verdicts import UNDECIDED
from autograder.key import VARIANTS
from autograder.sandbox.client import Level
from autograder.toml_file import read_toml

FILE = "equivalents.toml"
MOST_EQUIVALENT = 0.03  # of all changes


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of which no right test can see anything, and why."""

    file: Words
    was: Words
    becomes: Words
    reason: Words


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """equivalents.toml."""

    equivalent: tuple[Equivalent, ...] = ()


@dataclass(frozen=True)
class Hunt:
    """What became of all changes. `defects`: what must be mended in equivalents.toml, each in one line."""

    killed: int
    total: int
    equivalent: tuple[Change, ...]
    survivors: tuple[Change, ...]
    defects: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether no change is overlooked, and few are said to change nothing."""
        return not self.survivors and not self.defects


def hunt(
    lab: Lab,
    level: Level,
    jobs: int,
    on_start: Callable[[int], None],
    on_result: Callable[[], None],
) -> Hunt:
    """Grade each change on one variant, and those that nothing sees on the other variants too.

    Raises: CourseError.
    """
    found, listed = changes(lab), _listed(lab)
    hunters = _Hunters(lab, level, jobs, on_result)
    on_start(len(found))
    unseen = hunters.unseen([(change, [number % VARIANTS]) for number, change in enumerate(found)])
    on_start(len(unseen))
    unseen = hunters.unseen([(change, range(VARIANTS)) for change in unseen])
    equivalent = [change for change in unseen if _sign(change) in listed]
    return Hunt(
        killed=len(found) - len(unseen),
        total=len(found),
        equivalent=tuple(equivalent),
        survivors=tuple(change for change in unseen if _sign(change) not in listed),
        defects=tuple(_defects(lab, listed, found, equivalent)),
    )


class _Hunters:
    """Hunting graders for one lab."""

    def __init__(self, lab: Lab, level: Level, jobs: int, on_result: Callable[[], None]) -> None:
        self._lab, self._level, self._jobs, self._on_result = lab, level, jobs, on_result
        self._secret = key.load_key()
        self._beside = notebook(lab, cut=False)

    def unseen(self, wanted: Iterable[tuple[Change, Iterable[int]]]) -> list[Change]:
        """The changes that no check sees on any of their variants. Raises: CourseError."""
        works = [(change, variant) for change, variants in wanted for variant in variants]
        if not works:
            return []
        seen: set[int] = set()

        def ready(message: Ready) -> None:
            for check in message.faults:
                raise CourseError(f"The reference fails its own check {check}. Run: make audit")

        def done(graded: Graded) -> None:
            number = int(graded.result.student.split("-")[1])
            outcomes = {check.outcome for task in graded.result.tasks for check in task.checks}
            if "grader-fault" in outcomes:
                raise CourseError(f"The grader failed on {works[number][0]}. Run `autograder doctor`.")
            if outcomes - {"passed", *UNDECIDED}:
                seen.add(id(works[number][0]))
            self._on_result()

        with tempfile.TemporaryDirectory(prefix="adkit-hunt-") as folder:
            for number, (change, variant) in enumerate(works):
                work = Path(folder, self._student(number, variant), self._lab.id)
                work.mkdir(parents=True)
                for file, text in (self._beside | change.modules).items():
                    (work / file).write_text(text, encoding="utf-8")
            with Pool(self._lab, self._level, self._secret, self._jobs, "hunt") as pool:
                pool.run(find_submissions(Path(folder), self._lab.id).found, ready, done)
        return list({id(change): change for change, _ in works if id(change) not in seen}.values())

    def _student(self, number: int, variant: int) -> str:
        """An id to which the key gives this variant."""
        ids = (f"change-{number}-{attempt}" for attempt in itertools.count())
        return next(id for id in ids if key.variant_of(self._secret, id) == variant)


def _listed(lab: Lab) -> dict[tuple[str, str, str], Equivalent]:
    if not (lab.reference / FILE).exists():
        return {}
    table = read_toml(lab.reference.parents[1], shown(lab, FILE), _Table, mend="")
    return {(one.file, one.was, one.becomes): one for one in table.equivalent}


def _sign(change: Change) -> tuple[str, str, str]:
    return change.file, change.was, change.becomes


def _defects(
    lab: Lab, listed: Iterable[tuple[str, str, str]], found: Sequence[Change], equivalent: Sequence[Change]
) -> Iterator[str]:
    """Entries of equivalents.toml that are no change any more, or that a check sees; and too many of them."""
    unseen, made = set(map(_sign, equivalent)), set(map(_sign, found))
    for sign in listed:
        if sign not in unseen:
            why = "a check sees it" if sign in made else "no change is like this"
            yield f"{shown(lab, FILE)}: {sign[1]} → {sign[2]} stands there, but {why}. Remove the entry."
    if len(equivalent) > MOST_EQUIVALENT * len(found):
        yield f"{shown(lab, FILE)}: {len(equivalent)} of {len(found)} are more than {MOST_EQUIVALENT:.0%}."
