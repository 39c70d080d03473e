"""Handed in beside right modules: it makes an answer of no thought of whatever a blank answers.

thoughtless.py hands this text in, so in the sandbox it stands alone: it imports nothing of ours. A number
here is also an array, a node, or whatever else can be multiplied by a number. A process that has really
changed an answer says so, once: nothing can be transposed in one number, and infinity doubled is infinity.
"""

import functools
import inspect
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

CHANGED = "This answer was changed."
_EPSILON = 2.0**-24  # by how much a number is off that has been a float32
_at_work: list[str] = []
_PLAIN = (str, bytes, bool, type(None), set, frozenset)


def blank(names: dict[str, Any], name: str, kind: str) -> None:
    """From now on a function or CLASS.METHOD among a module's names answers without a thought."""
    owner, _, attribute = name.rpartition(".")
    holder = names[owner] if owner else None
    right = getattr(holder, attribute) if owner else names[attribute]
    wrapped = _thoughtless(right, kind, skip=1 if owner else 0)
    if owner:
        setattr(holder, attribute, wrapped)
    else:
        names[attribute] = wrapped


def cell(names: dict[str, Any], defined: list[str], kind: str) -> None:
    """The same for what a cell of a notebook defines."""
    for name in defined:
        right = names[name]
        names[name] = _thoughtless(right, kind) if inspect.isfunction(right) else _changed(kind, right, {})


def _thoughtless(right: Callable[..., Any], kind: str, skip: int = 0) -> Callable[..., Any]:
    signature = inspect.signature(right)

    @functools.wraps(right)
    def answer(*operands: Any, **named: Any) -> Any:
        if _at_work:  # to change an answer may take the blank itself, as a product
            return right(*operands, **named)
        given = signature.bind(*operands, **named)
        given.apply_defaults()
        inputs = dict(itertools.islice(given.arguments.items(), skip, None))
        found = right(*operands, **named)
        _at_work.append(kind)
        try:
            return _changed(kind, found, inputs)
        finally:
            _at_work.clear()

    return answer


def _changed(kind: str, answer: Any, inputs: dict[str, Any]) -> Any:
    changed = _instead(kind, answer, inputs)
    if not _same(changed, answer):
        _tell()
    return changed


@functools.cache
def _tell() -> None:
    print(CHANGED, flush=True)


def _same(one: Any, other: Any) -> bool:
    """Whether two answers are one: the same nodes, equal numbers of one dtype and shape."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray | np.generic | float):
        one, other = np.asarray(one), np.asarray(other)
        return bool(one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    return one is other or (isinstance(one, (int, *_PLAIN)) and one == other)


def _instead(kind: str, answer: Any, inputs: dict[str, Any]) -> Any:
    if kind == "transposed":
        return _transposed(answer)
    if kind == "echo":
        return _echo(answer, list(_numbers(inputs)))
    if kind == "random":
        draw = random.Random(0)
        return _each(lambda number: _drawn(draw, number), answer)
    return _each(_NUMBERWISE[kind], answer)


def _each(change: Callable[[Any], Any], answer: Any) -> Any:
    """The answer with every number in it changed; a set is emptied where numbers vanish."""
    if isinstance(answer, set | frozenset) and change is _NUMBERWISE["zeros"]:
        return type(answer)()
    if isinstance(answer, _PLAIN):
        return answer
    if isinstance(answer, list | tuple):
        return type(answer)([_each(change, one) for one in answer])
    if isinstance(answer, dict):
        return type(answer)({key: _each(change, one) for key, one in answer.items()})
    return change(answer)


def _numbers(value: Any) -> Iterator[Any]:
    """All numbers in a value, in their order."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, dict):
        yield from _numbers(list(value.values()))
    elif not isinstance(value, _PLAIN):
        yield value


def _echo(answer: Any, inputs: list[Any]) -> Any:
    """In place of each number an input, of the same type if there is one."""

    def given(number: Any) -> Any:
        alike = [one for one in inputs if type(one) is type(number)]
        return next(turns.setdefault(type(number), itertools.cycle(alike or inputs or [number])))

    turns: dict[type, Iterator[Any]] = {}
    return _each(given, answer)


def _drawn(draw: random.Random, number: Any) -> Any:
    if isinstance(number, int):
        return draw.randint(1, 9)
    if isinstance(number, np.ndarray):
        drawn = [draw.gauss(0, 3) for _ in range(number.size)]
        return np.array(drawn).reshape(number.shape).astype(number.dtype)
    return number * 0.0 + draw.gauss(0, 3)


def _transposed(answer: Any) -> Any:
    """Sequences turned round, arrays transposed."""
    if isinstance(answer, list | tuple):
        return type(answer)(reversed([_transposed(one) for one in answer]))
    if isinstance(answer, dict):
        values = [_transposed(one) for one in answer.values()]
        return type(answer)(zip(answer, reversed(values), strict=True))
    return answer.T if getattr(answer, "ndim", 0) > 1 else answer


def _wide(number: Any) -> Any:
    """In float64, where a dtype says otherwise."""
    dtype = getattr(number, "dtype", None)
    if dtype is None or dtype.kind != "f" or dtype == np.float64:
        return number
    return number * np.ones((), np.float64)


def _rounded(number: Any) -> Any:
    """As if it had been a float32 in between."""
    exact = isinstance(number, int) or getattr(number, "dtype", np.dtype(float)) != np.float64
    return number if exact else number * (1 + _EPSILON)


_NUMBERWISE: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda number: number * 0,
    "negated": lambda number: number * -1,
    "doubled": lambda number: number * 2,
    "float64": _wide,
    "rounded": _rounded,
}
