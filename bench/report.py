"""Rows of build/bench.json, and the table that is printed of them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One figure beside its goal. A value of None: it could not be measured, and `peer` says of whom.

    `goal` is an upper bound for ratios and seconds, a lower bound for rates; a row without one is for
    information.
    """

    id: str
    value: float | None
    unit: str
    goal: float | None
    holds: bool | None
    peer: str | None


def at_most(id: str, value: float | None, goal: float, unit: str, peer: str | None = None) -> Row:
    """A row whose value must not be above its goal."""
    return Row(id, value, unit, goal, None if value is None else value <= goal, peer)


def at_least(id: str, value: float | None, goal: float, unit: str) -> Row:
    """A row whose value must not be below its goal."""
    return Row(id, value, unit, goal, None if value is None else value >= goal, None)


def information(id: str, value: float | None, unit: str, peer: str | None = None) -> Row:
    """A row that has no goal."""
    return Row(id, value, unit, None, None, peer)


def write(rows: list[Row], path: Path) -> None:
    """Writes the rows as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")


def table(rows: list[Row]) -> str:
    """The rows as text, one a line."""
    lines = [("", "measured", "goal", "holds")]
    for row in rows:
        name = row.id + (f" (beside {row.peer})" if row.peer else "")
        value = "not measured" if row.value is None else f"{row.value:.3g} {row.unit}"
        goal = "" if row.goal is None else f"{row.goal:.3g}"
        holds = {True: "yes", False: "NO", None: ""}[row.holds]
        lines.append((name, value, goal, holds))
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
