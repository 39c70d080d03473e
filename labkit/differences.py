"""Derivatives of functions of one number by central differences, with an estimate of their own error."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

RELATIVE = 1e-6  # a right formula is far closer, a wrong one far off
HALVINGS = 9
SETTLED = 1e-4  # relative; beyond it differences say nothing
EPSILON = 2.0**-52


@dataclass(frozen=True)
class Difference:
    """A derivative and how far off it may be."""

    value: float
    error: float

    def allows(self, number: object) -> bool:
        """Whether a number is this derivative, as far as differences can tell."""
        if isinstance(number, bool) or not isinstance(number, Real):
            return False
        tolerance = RELATIVE * abs(self.value) + 10 * self.error + 1e-12
        return abs(float(number) - self.value) <= tolerance  # false for NaN


def derivative(function: Callable[[float], float], x: float) -> Difference | None:
    """The derivative at x, or None at kinks, singular points and wherever values are not finite.

    The step is halved again and again; of two neighbouring steps Richardson's extrapolation takes the leading
    error away, and how little that changes from step to step is the estimate of what is left.
    Source: Press et al., Numerical Recipes, 3rd ed., 2007, section 5.7.
    """
    try:
        return _settled(function, x)
    except (ArithmeticError, ValueError):  # the edge of a domain
        return None


def _settled(function: Callable[[float], float], x: float) -> Difference | None:
    here = function(x)
    if not (math.isfinite(x) and math.isfinite(here)):
        return None
    best: Difference | None = None
    quotient = extrapolated = math.nan
    step = 0.04 * max(abs(x), 0.1)
    for _ in range(HALVINGS):
        step /= 2
        ahead, behind = function(x + step), function(x - step)
        if not (math.isfinite(ahead) and math.isfinite(behind)):
            continue
        wider, quotient = quotient, (ahead - behind) / (2 * step)
        rounding = 4 * EPSILON * max(abs(ahead), abs(here), abs(behind)) / step
        former, extrapolated = extrapolated, quotient + (quotient - wider) / 3
        error = abs(extrapolated - former) + rounding
        if math.isfinite(error) and (best is None or error < best.error):
            best = Difference(extrapolated, error)
    sides = (ahead - here) / step, (here - behind) / step
    if best is None or best.error > SETTLED * max(abs(best.value), 1e-3) or _kink(*sides, best):
        return None
    return best


def _kink(right: float, left: float, best: Difference) -> bool:
    """Whether the two sides have slopes of their own: at the last step, curvature explains very little."""
    return not abs(right - left) <= 0.05 * max(abs(right), abs(left)) + 100 * best.error + 1e-3
