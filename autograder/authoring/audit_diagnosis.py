"""Does feedback name the right mistake? Mistakes are made again in the code of other right solutions.

A mutant is made again in an alternate if its text stands exactly once in the alternate's own file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograder.authoring.audit import ALTERNATE, passed, read_alternates
from autograder.authoring.audit_runs import Runs
from autograder.authoring.mutants import Modules
from autograder.course import Lab
from autograder.judging.mistakes import Entry, read_entries
from autograder.key import VARIANTS


@dataclass(frozen=True)
class Remade:
    """A mistake made again, its family, and the families that were named."""

    name: str
    family: str
    named: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether its family was named, and no other."""
        return set(self.named) == {self.family}


@dataclass(frozen=True)
class Diagnosed:
    """What was named where, and on how many right solutions anything was."""

    remade: tuple[Remade, ...]
    hints_on_right_code: int

    def as_data(self) -> dict[str, Any]:
        """What build/audit/LAB.json holds."""
        return {
            "right": sum(one.right for one in self.remade),
            "total": len(self.remade),
            "hints_on_right_code": self.hints_on_right_code,
            "missed": [
                f"{one.name}: {' '.join(one.named) or 'nothing'}" for one in self.remade if not one.right
            ],
        }

    def line(self) -> str:
        """The figures in words."""
        right, total = sum(one.right for one in self.remade), len(self.remade)
        return (
            f"mistakes made again in other solutions, of the right family: {right} of {total}; "
            f"hints on right code: {self.hints_on_right_code}"
        )


def diagnosed(lab: Lab, runs: Runs) -> Diagnosed:
    """Each mistake on one variant, others in turn; the alternates too. `runs` diagnose.

    What costs no points in other code is no mistake there, and does not count.
    Raises: CourseError.
    """
    alternates = {ALTERNATE + name: modules for name, modules in read_alternates(lab).items()}
    remade = dict(_remade(lab, alternates))
    work = alternates | {name: modules for name, (_, modules) in remade.items()}
    runs.run((name, modules, number % VARIANTS) for number, (name, modules) in enumerate(work.items()))
    return Diagnosed(
        tuple(
            Remade(name, entry.family, named(runs, name))
            for name, (entry, _) in remade.items()
            if not all(map(passed, runs.of(name)))
        ),
        sum(bool(runs.details_of(name)) for name in alternates),
    )


def named(runs: Runs, name: str) -> tuple[str, ...]:
    """The families that feedback on a work names."""
    return tuple(dict.fromkeys(detail.family for detail in runs.details_of(name) if detail.family))


def _remade(lab: Lab, alternates: dict[str, Modules]) -> Iterator[tuple[str, tuple[Entry, Modules]]]:
    for place, (name, modules) in enumerate(alternates.items()):
        folder = lab.reference / "alternates" / name.removeprefix(ALTERNATE)
        for entry in read_entries(lab):
            own = all(
                (folder / edit.file).exists() and modules[edit.file].count(edit.text) == 1
                for edit in entry.changes()
            )
            if own:
                changed = dict(modules)
                for edit in entry.changes():
                    changed[edit.file] = changed[edit.file].replace(edit.text, edit.replacement)
                yield f"{entry.id}.{place}", (entry, changed)
