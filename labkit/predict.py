"""Predictions: questions with a student's own numbers, answered before anything is run.

    number("2100012345")                 # 0 to 15: from it come the numbers of that student's questions
    for judged in judge(folder, "lab1", "predict-order", 7, names):
        judged.name, judged.wrong        # which entries of which answer are wrong

Whether an answer is right is told by hashes in the lab's predictions.toml; no answer stands there.
"""

import functools
import hashlib
import math
import numbers
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NUMBERS = 16
FILE = "predictions.toml"
_ROUNDS = 500  # a guess costs a fraction of a millisecond, and hashing all answers of a lab half a second
_DIGITS = 12


def number(student: str | int) -> int:
    """The number, 0 to 15, from which everything personal in a lab follows; a number stands for itself.

    student: the id, in which capitals count as small letters.
    """
    if isinstance(student, int):
        return student % NUMBERS
    return int.from_bytes(hashlib.sha256(student.strip().lower().encode()).digest(), "big") % NUMBERS


def hashed(lab: str, name: str, number: int, place: int, text: str) -> str:
    """What stands in predictions.toml for one entry of an answer, salted with all that it belongs to."""
    salt = f"{lab}/{name}/{number}/{place}".encode()
    return hashlib.pbkdf2_hmac("sha256", text.encode(), salt, _ROUNDS).hex()[:_DIGITS]


def entries(answer: Any) -> list[Any]:
    """An answer as a list: of a list its entries, of a set its entries in order, else the answer alone.

    Raises: TypeError for what can't be an answer.
    """
    if hasattr(answer, "tolist"):
        answer = answer.tolist()  # NumPy's arrays, those of no axes and its numbers
    if isinstance(answer, set | frozenset):
        answer = sorted(answer, key=str)
    listed = list(answer) if isinstance(answer, list | tuple) else [answer]
    for entry in listed:
        if not isinstance(entry, str | numbers.Real):
            raise TypeError(f"{type(entry).__name__} is no answer")
    return listed


def written(entry: Any, decimals: int | None) -> str:
    """One entry as text, rounded where the question says so: what is hashed."""
    if isinstance(entry, str):
        return " ".join(entry.lower().split())
    value = float(entry)
    if not math.isfinite(value):
        return str(value)
    if decimals is None:
        return f"{value:.12g}"
    return str(round(value * 10**decimals))


def near(entry: Any, decimals: int | None) -> Iterator[str]:
    """All texts for which an entry counts: rounded answers may be off by one in the last place."""
    text = written(entry, decimals)
    yield text
    if decimals is not None and text.lstrip("-").isdecimal():
        yield from (str(int(text) + off) for off in (-1, 1))


@dataclass(frozen=True)
class Judged:
    """An answer by name: how many entries it should have, and the places (from 1) of wrong ones.

    problem: "" if it could be judged, else "missing", "kind" (no number, text or list) or "length".
    """

    name: str
    length: int
    wrong: tuple[int, ...] = ()
    problem: str = ""


def judge(folder: Path, lab: str, cell: str, number: int, names: Mapping[str, Any]) -> list[Judged]:
    """Each answer of a cell, as `names` defines it, against the hashes in the lab's folder.

    Raises: OSError, ValueError or KeyError where predictions.toml is not what was handed out.
    """
    file = folder / FILE
    asked = _read(file, file.stat().st_mtime_ns).get(cell, {})
    return [_judged(lab, cell, name, number, table, names) for name, table in asked.items()]


@functools.lru_cache(maxsize=4)
def _read(file: Path, _saved: int) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _judged(
    lab: str, cell: str, name: str, number: int, table: dict[str, Any], names: Mapping[str, Any]
) -> Judged:
    right, decimals = table["hashes"][number], table.get("decimals")
    if names.get(name, ...) is ...:
        return Judged(name, len(right), problem="missing")
    try:
        given = entries(names[name])
        if len(given) != len(right):
            return Judged(name, len(right), problem="length")
        wrong = [
            place
            for place, (entry, hash) in enumerate(zip(given, right, strict=True))
            if not any(
                hashed(lab, f"{cell}.{name}", number, place, text) == hash for text in near(entry, decimals)
            )
        ]
    except (TypeError, ValueError, OverflowError):
        return Judged(name, len(right), problem="kind")
    return Judged(name, len(right), tuple(place + 1 for place in wrong))
