"""What a lab may cost: a student's minutes, and of each check's limit what the reference needs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.authoring.audit_runs import Runs
from autograder.authoring.mutants import shown, source
from autograder.course import Lab

MOST_MINUTES = 330
READING = 30  # minutes, for the README and the set-up
MOST = 0.1  # of a check's CPU limit
READMES = ("README.md", "README.zh-CN.md")
_MINUTES = ("minutes", "分钟")  # the head of a column


@dataclass(frozen=True)
class Budget:
    """The check nearest to its CPU limit on the reference, and its share of it. `defects`: one a line."""

    slowest: str
    share: float
    defects: tuple[str, ...]


def budget(lab: Lab, runs: Runs, reference: str) -> Budget:
    """From the reference's runs, which go by this name. Raises: CourseError."""
    shares = _shares(lab, runs, reference)
    slowest = max(shares, key=shares.__getitem__)
    slow = (
        f"{check}: the reference takes {share:.0%} of its CPU limit, more than {MOST:.0%}. "
        "Make its inputs smaller, or the limit larger."
        for check, share in shares.items()
        if share > MOST
    )
    return Budget(slowest, shares[slowest], (*slow, *_minutes(lab)))


def _shares(lab: Lab, runs: Runs, reference: str) -> dict[str, float]:
    """Of each check the share of its limit, the least of all variants: a busy machine only adds."""
    shares: dict[str, float] = {}
    for graded in runs.graded(reference):
        limits = {
            check.id: lab.task(task.id).limits.cpu_s for task in graded.result.tasks for check in task.checks
        }
        for entry in graded.facts:
            if (check := entry["check"]) in limits:
                shares[check] = min(shares.get(check, 1.0), entry.get("cpu_s", 1.0) / limits[check])
    return shares


def _minutes(lab: Lab) -> Iterator[str]:
    """Whether all blanks and the reading fit, and the READMEs say what lab.toml says."""
    place = shown(lab, "lab.toml")
    spent = {
        notebook: sum(
            blank.minutes
            for task in lab.tasks
            for blank in task.blanks
            if (lab.notebook in task.files) == notebook
        )
        for notebook in (False, True)
    }
    together = sum(spent.values()) + READING
    if together > MOST_MINUTES:
        yield (
            f"{place}: the blanks and {READING} minutes of reading take {together} minutes, more than "
            f"{MOST_MINUTES}. Ask for less."
        )
    for name in READMES:
        said = _column(source(lab, name))
        if said and sum(said) != spent[False]:
            yield (
                f"{shown(lab, name)}: its minutes add up to {sum(said)}, those of lab.toml's blanks in files "
                f"to {spent[False]}. Mend one of them."
            )


def _column(text: str) -> list[int]:
    """The numbers of the tables' columns of minutes."""
    found, column = [], None
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if not line.startswith("|"):
            column = None
        elif column is None:
            column = next((place for place, cell in enumerate(cells) if cell in _MINUTES), -1)
        elif 0 <= column < len(cells) and cells[column].isdigit():
            found.append(int(cells[column]))
    return found
