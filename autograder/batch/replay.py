"""Run one check of one student again and bring back all that is to be seen of it."""

import difflib
from collections.abc import Callable, Iterable
from pathlib import Path

from autograder import key
from autograder.course import CourseError, Lab
from autograder.intake import find_submissions
from autograder.judging.protocol import Order, Refused, Replayed
from autograder.sandbox.client import Level

from .depends import compiler_of
from .process import Nursery
from .store import Store, Stored

LISTED = 10  # names offered instead of a mistyped one


def replay(
    lab: Lab, submitted: Path, out: Path, student: str, check: str, find_level: Callable[[], Level]
) -> tuple[Replayed, Stored | None]:
    """What a check does with a student's work now, and what is stored of that student.

    `check`: its id, FILE::FUNCTION, or a part of it that no other check has.
    Raises: CourseError for wrong names and bad course files.
    """
    found = {one.student: one for one in find_submissions(submitted, lab.id).found}
    if student not in found:
        raise CourseError(f"{submitted} holds no work of {student!r} on {lab.id}. {_near(student, found)}")
    if lab.kernels:
        compiler_of(lab)
    secret = key.load_key()
    level = find_level()
    try:
        with Nursery("replay", lab, level, secret) as nursery:
            ready = nursery.ready()
            if isinstance(ready, Refused):
                raise CourseError(f"{lab.id}: {'; '.join(ready.errors)}")
            order = Order(found[student], chosen(check, [one.id for one in ready.checks]))
            process = nursery.fork()
            process.line.send(order)
            replayed: Replayed = process.line.receive()
            process.stop()
    except (EOFError, OSError):
        raise CourseError(f"{lab.id}: the grader process ended by itself. Run `autograder doctor`.") from None
    return replayed, Store(out / lab.id, key.key_id(secret)).load(student)


def chosen(check: str, ids: list[str]) -> str:
    """The check that is meant. Raises: CourseError, with what there is."""
    meant = [id for id in ids if id == check] or [id for id in ids if check.casefold() in id.casefold()]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise CourseError(f"{check!r} is a part of {len(meant)} checks. Name one of: {_listed(meant)}.")
    raise CourseError(f"There is no check {check!r}. {_near(check, ids)}")


def _near(name: str, among: Iterable[str]) -> str:
    """Names much like `name`, by their end too: a check is remembered by its function."""
    short = {**{one.rpartition("::test_")[2]: one for one in among}, **{one: one for one in among}}
    near = difflib.get_close_matches(name, short, LISTED, 0.5)
    names = list(dict.fromkeys(short[one] for one in near))
    return f"Near it: {_listed(names)}." if names else f"There are: {_listed(list(among))}."


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
