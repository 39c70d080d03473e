"""Does feedback name the right mistake? In code that is no mutant's: mistakes made again in other right
solutions, and wrong work in words of its own (lookalikes.toml).

A mutant is made again in one alternate, if its text stands exactly once in an alternate's own file.
"""

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import key
from autograder.authoring.audit_right import read_alternates
from autograder.authoring.lookalikes import read_lookalikes
from autograder.authoring.mutants import Modules
from autograder.batch.grade import grade
from autograder.course import Lab
from autograder.judging.mistakes import Entry, read_entries
from autograder.judging.verdicts import Result
from autograder.sandbox.client import Level

REMADE, LOOKALIKE, RIGHT = "remade", "lookalike", "right"
TURNS = 2  # variants in turn: on more of them mutants would have to answer anew


@dataclass(frozen=True)
class Named:
    """Wrong work, the family of its mistake, and the families that were named."""

    name: str
    family: str
    named: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether its family was named, and no other."""
        return set(self.named) == {self.family}


@dataclass(frozen=True)
class Diagnosed:
    """What was named where; `hinted`: right solutions on which anything was, of no family."""

    remade: tuple[Named, ...]
    lookalikes: tuple[Named, ...]
    hinted: tuple[Named, ...]

    def as_data(self) -> dict[str, Any]:
        """What build/audit/LAB.json holds: the figures of `remade`, and beside them those of lookalikes."""
        return {
            **_share(self.remade),
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
        yield "right solutions that get a hint", str(len(self.hinted) or "none"), ""

    def defects(self) -> Iterator[str]:
        """What must be mended, each in one line."""
        for one in self.hinted:
            yield f"{one.name} is right, and gets the hint of {' '.join(one.named)}. Mend that mutant."


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
    wrong = dict(_remade(lab)) | {f"{LOOKALIKE}.{id}": found for id, found in read_lookalikes(lab).items()}
    work = right | {name: modules for name, (_, modules) in wrong.items()}
    with tempfile.TemporaryDirectory(prefix="adkit-diagnosis-") as folder:
        submitted = Path(folder, "submitted")
        names = {_student(name, number % TURNS): name for number, name in enumerate(work)}
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
        tuple(Named(name, "", families[name]) for name in right if families[name]),
    )


def _student(name: str, variant: int) -> str:
    """An id to which the key gives this variant."""
    secret = key.load_key()
    return next(
        id for id in (f"{name}.{n}" for n in itertools.count()) if key.variant_of(secret, id) == variant
    )


def _without_mistake(lab: Lab, result: Result) -> bool:
    """Whether all its modules and kernels have full marks."""
    notebook = {task.id for task in lab.tasks if lab.notebook in task.files}
    return all(task.outcome == "passed" for task in result.tasks if task.id not in notebook)


def _remade(lab: Lab) -> Iterator[tuple[str, tuple[str, Modules]]]:
    """Each mutant in one of the alternates that it fits into, another for the next one."""
    alternates = list(read_alternates(lab).items())
    for number, entry in enumerate(read_entries(lab)):
        fitting = [
            place
            for place, (name, modules) in enumerate(alternates)
            if _fits(entry, lab.reference / "alternates" / name, modules)
        ]
        if fitting:
            place = fitting[number % len(fitting)]
            changed = dict(alternates[place][1])
            for edit in entry.changes():
                changed[edit.file] = changed[edit.file].replace(edit.text, edit.replacement)
            yield f"{REMADE}.{entry.id}.{place}", (entry.family, changed)


def _fits(entry: Entry, folder: Path, modules: Modules) -> bool:
    return all(
        (folder / edit.file).exists() and modules[edit.file].count(edit.text) == 1 for edit in entry.changes()
    )
