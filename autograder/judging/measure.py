"""By how much numbers are off, measured as the judge measures it: in shares of what is accepted."""

import math
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from . import judge
from .trial import Call


def shares(call: Call, only: Collection[str] | None) -> Iterator[tuple[str, float, float]]:
    """Of each quantity of an answer: name, tolerance, and the largest error over the accepted one.

    What is no finite number where one is due is infinitely off. Exact quantities, and those of another kind,
    have no share. `only`: the quantities that are compared, None for all.
    """
    for name, want in call.want.items():
        if name == "scale" or name not in call.answer.result or (only is not None and name not in only):
            continue
        found: dict[float, float] = {}
        for one, other in _pairs(call.answer.result[name], want):
            tolerance = call.tolerance
            if tolerance is None:
                tolerance = judge.TOLERANCE.get(other.real.dtype, 0.0)
            if tolerance:
                accepted = judge.accepted_error(other, tolerance, judge.scale_of(name, call.want))
                off = _error(one, other)
                share = float(off / accepted) if accepted else math.inf if off else 0.0
                found[tolerance] = max(found.get(tolerance, 0.0), share)
        for tolerance, share in found.items():
            yield name, float(tolerance), share


def _pairs(got: Any, want: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The arrays of inexact numbers in two answers that fit, beside each other."""
    if type(got) is not type(want):
        return
    if isinstance(want, list):
        for pair in zip(got, want, strict=False):
            yield from _pairs(*pair)
    elif isinstance(want, dict):
        for key in want.keys() & got.keys():
            yield from _pairs(got[key], want[key])
    elif isinstance(want, float | np.ndarray):
        one, other = np.asarray(got), np.asarray(want)
        if one.dtype == other.dtype and one.shape == other.shape and other.size and other.dtype.kind in "fc":
            yield one, other


def _error(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference: 0 where both are the same, infinite where one of them is no number."""
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(got.astype(wide) - want.astype(wide))
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    return float(np.where(same, 0.0, np.where(np.isfinite(off), off, np.inf)).max())
