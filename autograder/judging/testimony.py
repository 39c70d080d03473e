"""What programs said beside the reference, so short that it can be kept, and compared with tolerance.

Of a wrong array only its deviation from the right one is kept, as a sketch: each element goes, with a sign,
into one of a few sums. A sketch is linear, so two deviations that differ by rounding have sketches that do.

Source: Charikar, Chen & Farach-Colton, Finding Frequent Items in Data Streams, ICALP 2002 (count sketch).
"""

import functools
import hashlib
import re
from collections.abc import Collection, Iterable
from typing import Any

import msgspec
import numpy as np

from . import judge
from .trial import Call, call_name

SUMS = 16  # of a sketch
SLACK = 1e-3  # of a deviation: what the same mistake, written in another way, may differ by
ROUNDING = 10  # times the accepted error: so much may two right ways to compute differ in a sum
CLEAR = 100  # times the accepted error: smaller deviations say nothing of how they came about
LONGEST = 1 << 12  # elements of an array of a wrong kind that are looked at
UNWRITTEN = "raised NotImplementedError"
SLOW = "timed-out"
_TELLING = ("raised", "reported", "law", SLOW, "out-of-memory")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORD = re.compile(r"[^\W\d_]+")


class Wrong(msgspec.Struct, frozen=True, array_like=True):
    """How one quantity deviates. `kind`: "", or what it is instead of a right-shaped finite number.

    `blank`: zeros or None, as anything unfinished says.
    """

    quantity: str
    kind: str
    sketch: list[float]
    accepted: float
    blank: bool

    @property
    def clear(self) -> bool:
        """Whether it is more than rounding, and more than nothing."""
        size = max(map(abs, self.sketch), default=0.0)
        return not self.blank and (bool(self.kind) or size > CLEAR * self.accepted)

    def like(self, other: "Wrong") -> bool:
        """Whether two deviations of the same call are one."""
        if (self.quantity, self.kind, len(self.sketch)) != (other.quantity, other.kind, len(other.sketch)):
            return False
        most = ROUNDING * self.accepted + SLACK * max(map(abs, other.sketch), default=0.0)
        return all(abs(own - theirs) <= most for own, theirs in zip(self.sketch, other.sketch, strict=True))


class Said(msgspec.Struct, frozen=True, array_like=True):
    """An answer. `ended`: "", or how the call ended without one, or what a checked run reported."""

    call: str
    mode: str
    ended: str
    wrong: list[Wrong]

    @property
    def is_wrong(self) -> bool:
        """Whether it is not the right answer."""
        return bool(self.ended or self.wrong)

    @property
    def telling(self) -> bool:
        """Whether it is one that not everybody gives who is wrong."""
        return (self.ended.startswith(_TELLING) and self.ended != UNWRITTEN) or any(
            wrong.clear for wrong in self.wrong
        )

    def like(self, other: "Said") -> bool:
        """Whether two answers to one call are wrong in the same way."""
        return (
            self.ended == other.ended
            and len(self.wrong) == len(other.wrong)
            and all(own.like(theirs) for own, theirs in zip(self.wrong, other.wrong, strict=True))
        )


def name_of(program: str, inputs: dict[str, Any]) -> str:
    """A short name for a call."""
    return hashlib.sha256(call_name(program, inputs)).hexdigest()[:16]


def said(call: Call, only: Collection[str] | None) -> Said:
    """What a call's answer comes to; `only`: the quantities that are compared."""
    name = name_of(call.program, call.inputs)
    if call.answer.outcome != "ok":
        return Said(name, call.mode, _ended(call), [])
    if call.mode == "checked":
        kinds = {report.kind for report in call.answer.reports if report.severity == "error"}
        return Said(name, call.mode, "reported " + " ".join(sorted(kinds)) if kinds else "", [])
    want = call.want if only is None else judge.part(call.want, only)
    found = judge.differences(call.answer.result, want, call.tolerance)
    return Said(name, call.mode, "", [_wrong(difference) for difference in found])


def law(call: str, words: str) -> Said:
    """A law that does not hold of the answers up to this call."""
    return Said(call, "law", f"law {_words(words)}", [])


def _ended(call: Call) -> str:
    failure = call.answer.failure
    if failure is None:
        return call.answer.outcome
    if failure.builtin == "NotImplementedError":
        return UNWRITTEN
    return f"raised {failure.builtin} {_words(failure.text)}".strip()


def _words(text: str) -> str:
    """What does not vary in the words of an exception or a law: no names, no numbers."""
    return " ".join(_WORD.findall(_QUOTED.sub("", text)))[:200]


def _wrong(difference: judge.Difference) -> Wrong:
    path, got, want, accepted = difference
    blank = got is None or (isinstance(got, int | float | np.ndarray) and not np.any(got))
    if accepted is None:
        return Wrong(path, _kind(got), _raw(got), 0.0, blank)
    if not isinstance(want, int | float | np.ndarray):
        return Wrong(path, f"text {_hash(repr(got))}", [], accepted, blank)
    own, right = _wide(got), _wide(want)
    kind, finite = "", np.isfinite(own)
    if not finite.all():
        classes = np.select([finite, np.isnan(own), own > 0], [0, 1, 2], 3)
        kind = f"not finite {_hash(classes.astype(np.uint8).tobytes())}"
    with np.errstate(all="ignore"):
        off = np.where(finite, own - np.where(np.isfinite(right), right, 0.0), 0.0)
    return Wrong(path, kind, sketch(off), accepted, blank)


def _kind(got: Any) -> str:
    if isinstance(got, np.ndarray):
        return f"{got.dtype} {got.shape}"
    size = len(got) if isinstance(got, list | dict | str) else ""
    return f"{type(got).__name__} {size}"


def _raw(got: Any) -> list[float]:
    """Of what has another kind than the right answer: its own numbers, where they are few."""
    if (isinstance(got, np.ndarray) and got.size <= LONGEST) or isinstance(got, int | float):
        own = _wide(got)
        return sketch(np.where(np.isfinite(own), own, 0.0))
    return []


def _wide(values: Any) -> np.ndarray:
    """Numbers as a row of float64."""
    array = np.atleast_1d(np.asarray(values)).ravel()
    if array.dtype.kind == "c":
        array = array.astype(np.complex128).view(np.float64)
    return array.astype(np.float64)


def sketch(values: np.ndarray) -> list[float]:
    """A row of numbers as a few sums; a short one as it stands."""
    if values.size <= SUMS:
        return [float(value) for value in values]
    places, signs = _folding(values.size)
    with np.errstate(all="ignore"):
        sums = np.bincount(places, weights=signs * values, minlength=SUMS)
    return [float(value) for value in np.nan_to_num(sums)]


@functools.lru_cache(maxsize=64)
def _folding(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Into which sum each element goes, and with which sign: the same in every process."""
    draw = np.random.default_rng(size)
    small = np.int8  # they are kept, and an array may be large
    return draw.integers(0, SUMS, size).astype(small), draw.choice([-1.0, 1.0], size).astype(small)


def _hash(text: str | bytes) -> str:
    return hashlib.sha256(
        text if isinstance(text, bytes) else text[:1000].encode(errors="replace")
    ).hexdigest()[:8]


def compared(own: Iterable[Said], theirs: Iterable[Said]) -> tuple[frozenset[str], int]:
    """The calls on which both tell of one mistake, and how many speak against it.

    These are the calls on which `own` is right and `theirs` wrong, or `own` slow and `theirs` right: who is
    slow where a mistake costs nothing is slow for another reason. Of numbers there may be further mistakes.
    """
    heard = {(one.call, one.mode): one for one in own}
    alike, unlike, against = set(), set(), 0
    for other in theirs:
        one = heard.get((other.call, other.mode))
        if one is None:
            continue
        if not other.is_wrong:
            against += one.ended == SLOW
        elif one.like(other):
            alike |= {other.call} if other.telling else set()
        else:
            unlike.add(other.call)
            against += not one.is_wrong
    return frozenset(alike - unlike), against
