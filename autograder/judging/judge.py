"""Numbers compared: pure functions on values that crossed the wire.

Kind, dtype and shape come first, then whether the number is finite, then err <= tolerance * scale,
where scale is the norm of the reference, or what the program says its largest partial contribution is.
"""

import math
import sys
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from labkit.messages import Message

# float64: on 3,000 random graphs of lab 1 right answers of other algorithms were off by 1.3e-15 at most, and
# by 6e-15 in all its checks; central differences by 9e-13 at least, and mostly by 4e-11.
TOLERANCE = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-4, np.dtype(np.float16): 1e-2}


def first_difference(
    call: str, got: dict[str, Any], want: dict[str, Any], tolerance: float | None = None
) -> Message | None:
    """The first quantity, in the reference's order, in which `got` parts from `want`; None if there is none.

    `want["scale"]`, a number or a dict quantity -> number, is no quantity: it raises the scale.
    """
    for name, expected in want.items():
        if name == "scale":
            continue
        if name not in got:
            return Message("judging.missing-quantity", {"call": call, "quantity": name})
        if found := _differ(name, got[name], expected, tolerance, scale_of(name, want)):
            return Message(found.id, {"call": call, **found.arguments})
    return None


class Difference(NamedTuple):
    """A wrong number, array or other value inside an answer, by its path.

    `accepted`: by how much each element may be off; None where `got` is of another kind, or missing.
    """

    path: str
    got: Any
    want: Any
    accepted: float | None


def differences(
    got: dict[str, Any], want: dict[str, Any], tolerance: float | None = None
) -> Iterator[Difference]:
    """All of which `first_difference` tells the first one."""
    for name, expected in want.items():
        if name == "scale":
            continue
        if name not in got:
            yield Difference(name, None, expected, None)
        else:
            yield from _differences(name, got[name], expected, tolerance, scale_of(name, want))


def _differences(
    path: str, got: Any, want: Any, tolerance: float | None, scale: float
) -> Iterator[Difference]:
    if not _fits(got, want):
        yield Difference(path, got, want, None)
    elif isinstance(want, list | dict):
        for inner in _inner(path, got, want):
            yield from _differences(*inner, tolerance, scale)
    elif _differ(path, got, want, tolerance, scale):
        numbers = isinstance(want, float | np.ndarray)
        yield Difference(
            path, got, want, accepted_error(np.asarray(want), tolerance, scale) if numbers else 0.0
        )


def scale_of(name: str, want: dict[str, Any]) -> float:
    """What the program says of a quantity's scale; 0 where it says nothing usable."""
    scales = want.get("scale")
    scale = float((scales.get(name) if isinstance(scales, dict) else scales) or 0.0)
    return scale if math.isfinite(scale) else 0.0  # or everything would be near enough


def part(answer: dict[str, Any], only: Collection[str]) -> dict[str, Any]:
    """Some quantities of an answer, and its scale."""
    return {name: value for name, value in answer.items() if name in only or name == "scale"}


def first_misfit(call: str, got: dict[str, Any], want: dict[str, Any]) -> Message | None:
    """The first quantity that is missing or of another kind, dtype, shape, length or keys; None if all fit.

    Values don't matter here. `want["scale"]` must fit too where `got` has one.
    """
    for name, expected in want.items():
        if name not in got:
            return Message("judging.missing-quantity", {"call": call, "quantity": name})
        if found := _misfit(name, got[name], expected):
            return Message(found.id, {"call": call, **found.arguments})
    return None


def _misfit(path: str, got: Any, want: Any) -> Message | None:
    if not _fits(got, want):
        return _wrong_kind(path, got, want)
    found = (_misfit(*inner) for inner in _inner(path, got, want))
    return next((misfit for misfit in found if misfit), None)


def _fits(got: Any, want: Any) -> bool:
    """Whether two values are of one kind, dtype and shape, as far as that shows without looking inside."""
    if type(got) is not type(want):
        return False
    if isinstance(want, np.ndarray):
        return bool(got.dtype == want.dtype and got.shape == want.shape)
    if isinstance(want, list):
        return len(got) == len(want)
    return not isinstance(want, dict) or got.keys() == want.keys()


def _inner(path: str, got: Any, want: Any) -> list[tuple[str, Any, Any]]:
    """Path and both values of each item of two lists or dicts that fit."""
    if isinstance(want, list):
        return [(f"{path}[{i}]", *pair) for i, pair in enumerate(zip(got, want, strict=True))]
    return [(f"{path}[{key!r}]", got[key], want[key]) for key in want] if isinstance(want, dict) else []


def _differ(path: str, got: Any, want: Any, tolerance: float | None, scale: float) -> Message | None:
    if not _fits(got, want):
        return _wrong_kind(path, got, want)
    if isinstance(want, float):
        if got == want:  # the usual case, at a tenth of the cost
            return None
        return _differ_in_numbers(path, np.asarray(got), np.asarray(want), tolerance, scale)
    if isinstance(want, np.ndarray):
        return _differ_in_numbers(path, got, want, tolerance, scale)
    if isinstance(want, list | dict):
        found = (_differ(*inner, tolerance, scale) for inner in _inner(path, got, want))
        return next((difference for difference in found if difference), None)
    return None if got == want else _wrong_value(path, f"{want!r}", f"{got!r}", "0")


def _differ_in_numbers(
    path: str, got: np.ndarray, want: np.ndarray, tolerance: float | None, scale: float
) -> Message | None:
    accepted = accepted_error(want, tolerance, scale)
    wrong = _far(got, want, accepted) if want.dtype.kind in "fc" else got != want
    if not wrong.any():
        return None
    at = tuple(int(index) for index in np.argwhere(wrong)[0])
    place = path + (str(list(at)) if at else "")
    return _wrong_value(place, *_told_apart(want[at], got[at]), f"{accepted:.1g}")


def accepted_error(want: np.ndarray, tolerance: float | None, scale: float) -> float:
    """By how much each element may be off: nothing where numbers are exact."""
    if want.dtype.kind not in "fc":
        return 0.0
    if tolerance is None:
        tolerance = TOLERANCE.get(want.real.dtype, 0.0)
    return tolerance * max(_norm(want), scale)


def _far(got: np.ndarray, want: np.ndarray, accepted: float) -> np.ndarray:
    """Which elements are off by more than `accepted`, or not finite where and as they should be."""
    wide = np.complex128 if want.dtype.kind == "c" else np.float64  # float16 would overflow in between
    with np.errstate(invalid="ignore", over="ignore"):
        near = (np.abs(got.astype(wide) - want.astype(wide)) <= accepted) & np.isfinite(got)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    right: np.ndarray = np.where(np.isfinite(want), near, same)
    return ~right


def _norm(values: np.ndarray) -> float:
    """The 2-norm of the finite values; it neither overflows nor vanishes where they do not."""
    sizes = np.abs(values[np.isfinite(values)]).astype(np.float64)
    largest = float(sizes.max(initial=0.0))
    return min(largest * float(np.linalg.norm(sizes / largest)), sys.float_info.max) if largest else 0.0


def _wrong_value(path: str, expected: str, got: str, tolerance: str) -> Message:
    arguments = {"quantity": path, "expected": shorten(expected), "got": shorten(got), "tolerance": tolerance}
    return Message("judging.wrong-value", arguments)


def _wrong_kind(path: str, got: Any, want: Any) -> Message:
    return Message("judging.wrong-kind", {"quantity": path, "expected": kind(want), "got": kind(got)})


def _told_apart(want: Any, got: Any) -> tuple[str, str]:
    """Both numbers, with more digits where nine show no difference."""
    short = number(want), number(got)
    return short if short[0] != short[1] else (number(want, 17), number(got, 17))


def number(value: Any, digits: int = 9) -> str:
    """A number as a person reads it."""
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return f"{value:.{digits}g}"
    return str(value)


def kind(value: Any) -> str:
    """The kind of a value, in words of Python alone: `array(dtype=float64, shape=(2, 3))`, `list, len 4` …"""
    if isinstance(value, np.ndarray):
        return f"array(dtype={value.dtype}, shape={value.shape})"
    if isinstance(value, list):
        return f"list, len {len(value)}"
    if isinstance(value, dict):
        return shorten(f"dict, keys {sorted(value)}")
    return "None" if value is None else f"{type(value).__name__} ({shorten(repr(value))})"


def shorten(text: str, length: int = 120) -> str:
    """At most `length` characters."""
    return text if len(text) <= length else text[: length - 1] + "…"
