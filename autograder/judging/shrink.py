"""A smaller input that fails in the same way: found by trying, from the input that failed.

Greedy and in a fixed order, so that the same failure gives the same small input; bounded by calls, with the
clock as a backstop. Signs stay, and shapes too (but for the rows of `graph`, a random graph's operations), so
that a function's domain is not left by chance; the caller's reference has the last word on that.
"""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

CALLS = 200
SECONDS = 0.5
SIMPLE = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
FEW = 16  # entries of an array that are tried one by one
CODE = "graph"  # the name of a straight-line program given as rows; see Draw.dag

Inputs = dict[str, Any]


def smaller(
    inputs: Inputs, fails: Callable[[Inputs], bool], calls: int = CALLS, seconds: float = SECONDS
) -> Inputs | None:
    """Simpler inputs for which `fails` holds as well; None where none were found."""
    search = _Search(inputs, fails, calls, time.monotonic() + seconds)
    while search.round():
        pass
    return search.inputs if search.found else None


class _Search:
    def __init__(self, inputs: Inputs, fails: Callable[[Inputs], bool], calls: int, until: float) -> None:
        self.inputs, self.found = dict(inputs), False
        self._fails, self._calls, self._until = fails, calls, until

    def round(self) -> bool:
        """Try every input once, those that make graphs smaller first; whether anything became simpler."""
        simpler = False
        for name in sorted(self.inputs, key=lambda name: _turn(name, self.inputs[name])):
            while (value := self._first(name, self._steps(name))) is not None:
                self.inputs = {**self.inputs, name: value}
                self.found = simpler = True
        return simpler

    def _steps(self, name: str) -> Iterator[Any]:
        used = {abs(value) for other, value in self.inputs.items() if other != name and type(value) is float}
        return _steps_of(name, self.inputs[name], used)

    def _first(self, name: str, candidates: Iterator[Any]) -> Any:
        for value in candidates:
            if self._calls <= 0 or time.monotonic() > self._until:
                return None
            self._calls -= 1
            if self._fails({**self.inputs, name: value}):
                return value
        return None


def _turn(name: str, value: Any) -> int:
    """Places of nodes first: only then can a program lose its last rows. Numbers come last."""
    kind = value.dtype.kind if isinstance(value, np.ndarray) else "i" if _is_places(value) else ""
    return 1 if name == CODE else 0 if kind == "i" else 2 if type(value) is int else 3


def _is_places(value: Any) -> bool:
    return type(value) is list and bool(value) and all(type(one) is int for one in value)


def _steps_of(name: str, value: Any, used: set[float]) -> Iterator[Any]:
    """Candidates for a value of this kind, each simpler than the value: every search ends somewhere."""
    if type(value) is int:
        yield from _integers(value)
    elif type(value) is float:
        yield from _floats(value, used)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        yield from _arrays(value)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "i":
        yield from _programs(value) if name == CODE and value.ndim == 2 else _places(value)
    elif _is_places(value):
        yield from (one.tolist() for one in _places(np.array(value)))
    elif type(value) is list and value and all(type(one) is float for one in value):
        yield from (one.tolist() for one in _arrays(np.array(value)))


def _integers(value: int) -> Iterator[int]:
    size = abs(value)
    sign = -1 if value < 0 else 1
    yield from (sign * one for one in dict.fromkeys((1, 2, 3, size // 2, size - 1)) if 0 < one < size)


def _places(value: np.ndarray) -> Iterator[np.ndarray]:
    """Smaller places in a list of nodes."""
    for index in np.argwhere(value > 0):
        at = tuple(index)
        for one in dict.fromkeys((value[at] // 2, value[at] - 1)):
            candidate = value.copy()
            candidate[at] = one
            yield candidate


def _floats(value: float, used: set[float]) -> Iterator[float]:
    """The nearest simple number first; one that nothing else has, since equal numbers hide mistakes."""
    if not math.isfinite(value) or value == 0.0:
        return
    near = sorted(set(SIMPLE) - used, key=lambda one: abs(one - abs(value)))
    rounded = (abs(round(value, digits)) for digits in (0, 1, 2))
    for one in dict.fromkeys((*near, *rounded)):
        if one and _rank(one) < _rank(value):
            yield math.copysign(one, value)


def _rank(value: float) -> int:
    """How far from simple a number is."""
    return 0 if abs(value) in SIMPLE else len(repr(float(value)))


def _arrays(value: np.ndarray) -> Iterator[np.ndarray]:
    """All entries at once, then one entry after another."""
    simple, used = value.copy(), set[float]()
    for place, one in enumerate(value.flat):
        simple.flat[place] = next(_floats(float(one), used), one)
        used.add(abs(float(simple.flat[place])))
    for candidate in (simple, np.round(value, 1)):
        if candidate.all() and sum(map(_rank, candidate.flat)) < sum(map(_rank, value.flat)):
            yield candidate
    if value.size > FEW:
        return
    for place, one in enumerate(value.flat):
        others = {abs(float(other)) for index, other in enumerate(value.flat) if index != place}
        for number in _floats(float(one), others):
            candidate = value.copy()
            candidate.flat[place] = number
            yield candidate


def _programs(code: np.ndarray) -> Iterator[np.ndarray]:
    """Fewer rows, larger pieces first; then rows of the first operation."""
    size = len(code)
    while size := size // 2 if size > 1 else 0:
        for start in range(0, len(code), size):
            yield np.delete(code, range(start, min(start + size, len(code))), axis=0)
    if len(code) == 1:
        yield code[:0]
    for rows in (slice(None), *np.flatnonzero(code[:, 0])):
        if code[rows, 0].any():
            candidate = code.copy()
            candidate[rows, 0] = 0
            yield candidate
