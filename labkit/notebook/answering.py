"""Questions of a notebook: what opens once they are answered, and whether an answer is right."""

import sys
from collections.abc import Mapping
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
    judged = _judged(session, cell, names)
    for one in judged:
        if one.problem:
            raise NotYet(_text_of(session, one))
    for one in judged:
        print(_text_of(session, one))


def whose_numbers() -> None:
    """Say whose numbers the questions have. Raises: NotYet without a student's id."""
    session, names = current(), sys._getframe(1).f_globals
    student = _student(session, names)
    print(session.text("numbers", student=student, number=predict.number(student)))


def expose(cell: str) -> None:
    """Say what the wrong engine makes of the graph in the cell called `cell`. Raises: NotYet without one."""
    tell(current(), cell, sys._getframe(1).f_globals)


def tell(session: Session, cell: str, names: Mapping[str, Any]) -> bool:
    """Print how the answers of a cell stand; whether all are right."""
    if cell in break_it.ENGINES:
        return _exposed(session, cell, names)
    judged = _judged(session, cell, names)
    for one in judged:
        print(_text_of(session, one))
    return not any(one.problem or one.wrong for one in judged)


def _judged(session: Session, cell: str, names: Mapping[str, Any]) -> list[predict.Judged]:
    number = predict.number(names.get("student", ""))
    try:
        return predict.judge(session.lab.folder, session.lab.id, cell, number, names)
    except (OSError, ValueError, KeyError) as error:
        raise NotYet(session.text("no-predictions", file=predict.FILE, error=str(error))) from None


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


def _exposed(session: Session, cell: str, names: Mapping[str, Any]) -> bool:
    name = cell.replace("-", "_")
    if names.get(name, ...) is ...:
        print(session.text("answer-missing", name=name, length=3))
        return False
    try:
        found = break_it.examine(cell, names[name])
    except break_it.NoAnswer as error:
        print(session.text(f"broken-{error.reason}", name=name))
        return False
    numbers: dict[str, Argument] = {
        "right": f"{found.right:.6g}",
        "found": f"{found.found:.6g}",
        "nodes": found.nodes,
    }
    print(session.text("exposed" if found.exposed else "not-exposed", **numbers))
    if found.exposed:
        print(session.text("smallest" if found.smallest else "not-smallest", nodes=found.nodes))
        print(session.text("path-right" if found.accounted else "path-wrong", missing=f"{found.missing:.6g}"))
    return found.exposed and found.smallest and found.accounted
