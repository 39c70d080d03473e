"""Does feedback name the right mistake? In code that is no mutant's: mistakes made again in other right
solutions, and wrong work in words of its own (lookalikes.toml). And none where there is none: in alternates,
and in right work with one blank left.

A mutant is made again in one alternate, if its text stands exactly once in an alternate's own file.
"""

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import key
from autograder.authoring.audit_right import read_alternates
from autograder.authoring.lookalikes import FILE as LOOKALIKES
from autograder.authoring.lookalikes import read_lookalikes
from autograder.authoring.mutants import Modules
from autograder.authoring.unfinished import read_unfinished
from autograder.batch.grade import grade
from autograder.course import Lab
from autograder.judging.mistakes import Unfit, edited, read_entries
from autograder.judging.verdicts import Result
from autograder.sandbox.client import Level

REMADE, LOOKALIKE, RIGHT = "remade", "lookalike", "right"
TURNS = 2  # variants in turn: on more of them mutants would have to answer anew
LEAST_REMADE, LEAST_LOOKALIKES = 90, 70  # percent whose family is named


@dataclass(frozen=True)
class Named:
    """Some work, the family of its mistake, "" for none, and the families that were named."""

    name: str
    family: str
    named: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether its family was named, and no other."""
        return set(self.named) == {self.family}


@dataclass(frozen=True)
class Diagnosed:
    """What was named where; `right`: in work without a mistake, finished or not."""

    remade: tuple[Named, ...]
    lookalikes: tuple[Named, ...]
    right: tuple[Named, ...]

    @property
    def hinted(self) -> tuple[Named, ...]:
        """Work without a mistake in which one was named."""
        return tuple(one for one in self.right if one.named)

    def as_data(self) -> dict[str, Any]:
        """What build/audit/LAB.json holds: the figures of `remade`, and beside them those of the others."""
        return {
            **_share(self.remade),
            "right_code": len(self.right),
            "hints_on_right_code": len(self.hinted),
            "lookalikes": _share(self.lookalikes),
        }

    def figures(self) -> Iterator[tuple[str, str, str]]:
        """What was counted: words, a figure, and which were not named rightly."""
        for words, found in (
            ("mistakes remade in alternates whose family is named", self.remade),
            ("files that are no mutants whose family is named", self.lookalikes),
        ):
            missed = (f"{one.name}: {' '.join(one.named) or 'nothing'}" for one in found if not one.right)
            yield words, f"{sum(one.right for one in found)} of {len(found)}", "; ".join(missed)
        hinted = f"{len(self.hinted) or 'none'} of {len(self.right)}"
        yield "right solutions, whole or with a blank left, that get a hint", hinted, ""

    def defects(self) -> Iterator[str]:
        """What must be mended, each in one line."""
        for one in self.hinted:
            named = " ".join(one.named)
            yield f"{one.name} holds no mistake, and gets the hint of {named}. Mend that mutant."
        if not self.remade:
            yield (
                "no mutant could be made again in an alternate: the text of none stands once in an "
                "alternate's own file and costs points there. Add an alternate that shares such a text."
            )
        for words, found, least in (
            ("mistakes remade in alternates", self.remade, LEAST_REMADE),
            (f"work of {LOOKALIKES}", self.lookalikes, LEAST_LOOKALIKES),
        ):
            rightly = sum(one.right for one in found)
            if 100 * rightly < least * len(found):
                yield (
                    f"{words}: the right family is named in {rightly} of {len(found)}, must be in {least} %. "
                    "For what was missed, add mutants that go wrong in the same way, or make one family of "
                    "those that no check tells apart."
                )


def _share(found: Iterable[Named]) -> dict[str, Any]:
    all_ = tuple(found)
    return {
        "right": sum(one.right for one in all_),
        "total": len(all_),
        "missed": [one.name for one in all_ if not one.right],
    }


def diagnosed(
    lab: Lab,
    find_level: Callable[[], Level],
    jobs: int,
    on_start: Callable[[int], None],
    on_result: Callable[[], None],
) -> Diagnosed:
    """All of it graded as a class whose mistakes are recognised; notebooks are left out.

    What costs no points in other code is no mistake there, and does not count.
    Raises: CourseError, StorageError.
    """
    right = {f"{RIGHT}.{name}": modules for name, modules in read_alternates(lab).items()}
    right |= dict(read_unfinished(lab))
    wrong = dict(_remade(lab)) | {f"{LOOKALIKE}.{id}": found for id, found in read_lookalikes(lab).items()}
    work = right | {name: modules for name, (_, modules) in wrong.items()}
    with tempfile.TemporaryDirectory(prefix="adkit-diagnosis-") as folder:
        submitted = Path(folder, "submitted")
        names = {_student(number): name for number, name in enumerate(work)}
        for student, name in names.items():
            (submitted / student / lab.id).mkdir(parents=True)
            for file, text in work[name].items():
                (submitted / student / lab.id / file).write_text(text, encoding="utf-8")
        _, stored = grade(
            lab, submitted, Path(folder, "graded"), find_level, jobs, on_start, lambda _: on_result()
        )
    results = {names[one.result.student]: one.result for one in stored}
    families = {
        names[one.result.student]: tuple(
            dict.fromkeys(each.family for each in one.facts.details if each.family)
        )
        for one in stored
    }
    told = [
        Named(name, family, families[name])
        for name, (family, _) in wrong.items()
        if not _without_mistake(lab, results[name])
    ]
    return Diagnosed(
        tuple(one for one in told if one.name.startswith(REMADE)),
        tuple(one for one in told if one.name.startswith(LOOKALIKE)),
        tuple(Named(name, "", families[name]) for name in right),
    )


def _student(number: int) -> str:
    """An id for the work of this number, to which the key gives the variant whose turn it is."""
    secret = key.load_key()
    ids = (f"work-{number}-{attempt}" for attempt in itertools.count())
    return next(id for id in ids if key.variant_of(secret, id) == number % TURNS)


def _without_mistake(lab: Lab, result: Result) -> bool:
    """Whether all its modules and kernels have full marks."""
    notebook = {task.id for task in lab.tasks if lab.notebook in task.files}
    return all(task.outcome == "passed" for task in result.tasks if task.id not in notebook)


def _remade(lab: Lab) -> Iterator[tuple[str, tuple[str, Modules]]]:
    """Each mutant in one of the alternates that it fits into, another for the next one."""
    alternates = read_alternates(lab)
    own = {name: _own(lab, name, modules) for name, modules in alternates.items()}
    for number, entry in enumerate(read_entries(lab)):
        fitting: dict[str, Modules] = {}
        for name, modules in alternates.items():
            with contextlib.suppress(Unfit):
                fitting[name] = modules | edited(entry.changes(), own[name])
        if fitting:
            name = list(fitting)[number % len(fitting)]
            yield f"{REMADE}.{entry.id}.{name}", (entry.family, fitting[name])


def _own(lab: Lab, name: str, modules: Modules) -> Modules:
    """The files that an alternate holds itself."""
    folder = lab.reference / "alternates" / name
    return {file: text for file, text in modules.items() if (folder / file).exists()}
