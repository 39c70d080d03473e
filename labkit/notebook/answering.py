"""Questions of a notebook: what opens once they are answered, and whether an answer is right."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labkit import break_it, predict
from labkit.messages import Argument
from labkit.notebook.session import NotYet, Session, current


def reveal(cell: str) -> None:
    """Go on once the cell called `cell` is answered, and say which answers are right; never what is.

    Raises: NotYet until every answer is there.
    """
    session, names = current(), sys._getframe(1).f_globals
    _student(session, names)
    found = judged(session, cell, names)
    if not found.complete:
        raise NotYet("\n".join(found.lines))
    print("\n".join(found.lines))


def whose_numbers() -> None:
    """Say whose numbers the questions have. Raises: NotYet without a student's id."""
    session, names = current(), sys._getframe(1).f_globals
    student = _student(session, names)
    print(session.text("numbers", student=student, number=predict.number(student)))


def expose(cell: str) -> None:
    """Say what the wrong engine makes of the graph in the cell called `cell`."""
    print("\n".join(judged(current(), cell, sys._getframe(1).f_globals).lines))


@dataclass(frozen=True)
class Found:
    """How the answers of a cell stand: whether all are there, whether all are right, and this in words."""

    complete: bool
    right: bool
    lines: tuple[str, ...]


def judged(session: Session, cell: str, names: Mapping[str, Any]) -> Found:
    """How the answers of a cell stand, as `names` defines them.

    Raises: NotYet without predictions.toml.
    """
    if cell in break_it.ENGINES:
        return _exposed(session, cell, names)
    number = predict.number(names.get("student", ""))
    try:
        found = predict.judge(session.lab.folder, session.lab.id, cell, number, names)
    except (OSError, ValueError, KeyError) as error:
        raise NotYet(session.text("no-predictions", file=predict.FILE, error=str(error))) from None
    return Found(
        complete=not any(one.problem for one in found),
        right=not any(one.problem or one.wrong for one in found),
        lines=tuple(_text_of(session, one) for one in found),
    )


def _text_of(session: Session, judged: predict.Judged) -> str:
    if judged.problem:
        return session.text(f"answer-{judged.problem}", name=judged.name, length=judged.length)
    if not judged.wrong:
        return session.text("answer-right", name=judged.name)
    if judged.length == 1:
        return session.text("answer-wrong", name=judged.name)
    return session.text("entries-wrong", name=judged.name, places=", ".join(map(str, judged.wrong)))


def _student(session: Session, names: Mapping[str, Any]) -> str:
    student = str(names.get("student", "")).strip()
    if not student:
        raise NotYet(session.text("no-student"))
    return student


def _exposed(session: Session, cell: str, names: Mapping[str, Any]) -> Found:
    name = cell.replace("-", "_")
    if names.get(name, ...) is ...:
        return Found(False, False, (session.text("answer-missing", name=name, length=3),))
    try:
        found = break_it.examine(cell, names[name])
    except break_it.NoAnswer as error:
        return Found(False, False, (session.text(f"broken-{error.reason}", name=name),))
    numbers: dict[str, Argument] = {
        "right": f"{found.right:.6g}",
        "found": f"{found.found:.6g}",
        "nodes": found.nodes,
    }
    if not found.exposed:
        return Found(True, False, (session.text("not-exposed", **numbers),))
    lines = (
        session.text("exposed", **numbers),
        session.text("smallest" if found.smallest else "not-smallest", nodes=found.nodes),
        session.text("path-right" if found.accounted else "path-wrong", missing=f"{found.missing:.6g}"),
    )
    return Found(True, found.smallest and found.accounted, lines)
