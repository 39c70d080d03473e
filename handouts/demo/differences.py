"""Errors of finite differences against the step: truncation on one side, rounding on the other.

Source: Press et al., Numerical Recipes, 3rd ed., 2007, section 5.7.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from programs import logistic
from solved import Lab

THETA = sympy.Symbol("theta")
METHODS = ("forward", "central")
DTYPES = ("float32", "float64")
ORDERS = {"forward": 1, "central": 2}  # of the truncation error in h
POINTS = np.linspace(-0.005, 0.005, 25)  # around the point: the worst of them is smooth in h


@dataclass(frozen=True)
class Example:
    """A function of one number, and where it is differentiated."""

    label: str
    expression: Any
    at: float

    def derivative(self, order: int = 1) -> float:
        """The derivative of an order at the point; order 0 is the value."""
        return float(sympy.diff(self.expression, THETA, order).subs(THETA, self.at))

    @cached_property
    def function(self) -> Callable[[Any], Any]:
        """The function itself; it computes in the dtype of what it gets."""
        return _compiled(self.expression)

    @cached_property
    def slope(self) -> Callable[[Any], Any]:
        """Its exact derivative."""
        return _compiled(sympy.diff(self.expression, THETA))


def _compiled(expression: Any) -> Callable[[Any], Any]:
    return sympy.lambdify(THETA, expression, "numpy")  # type: ignore[no-any-return]


EXPONENTIAL = Example("exp", sympy.exp(THETA), 1.0)
SHIFTED = Example("theta^2 + 10^6", THETA**2 + 10**6, 0.7)
EXAMPLES = (
    EXPONENTIAL,
    Example("sin", sympy.sin(THETA), 1.0),
    Example("logistic map, n = 4", logistic(THETA, 4), 0.3),
    SHIFTED,
)


def best_step(example: Example, method: str, dtype: str) -> float:
    """The step that balances truncation and rounding: where theory has the smallest error.

    Central: (3 eps |f| / |f'''|)**(1/3). Forward: 2 (eps |f| / |f''|)**(1/2), with eps the largest relative
    error of one rounding, 2**-53 in float64. Infinite where no error grows with h.
    """
    order = ORDERS[method] + 1
    rounding = float(np.finfo(dtype).eps) / 2 * abs(example.derivative(0))
    curvature = abs(example.derivative(order))
    if curvature == 0:
        return float("inf")
    if method == "central":
        return float((3 * rounding / curvature) ** (1 / 3))
    return float(2 * (rounding / curvature) ** (1 / 2))


def steps(decades: int = 12, in_each: int = 5) -> NDArray[np.float64]:
    """Steps from 1 downwards, evenly on a logarithmic scale."""
    return np.logspace(0, -decades, decades * in_each + 1)


def errors(lab: Lab, example: Example, method: str, dtype: str, at: Iterable[float]) -> NDArray[np.float64]:
    """The relative error at each step, by lab 1's own differences: the worst of points near by."""
    differ = {"forward": lab.engine.forward_difference, "central": lab.engine.central_difference}[method]
    points = (example.at + POINTS).astype(dtype)
    truths = example.slope(points.astype(np.float64))
    found = []
    for step in at:
        slopes = [_slope(differ, example.function, point, step) for point in points]
        found.append(np.max(np.abs(np.array(slopes) - truths)) / abs(np.mean(truths)))
    return np.array(found)


def curves(
    lab: Lab, example: Example, methods: Sequence[str] = METHODS, dtypes: Sequence[str] = DTYPES
) -> tuple[NDArray[np.float64], dict[tuple[str, str], NDArray[np.float64]]]:
    """Steps, and the errors at each of them by method and dtype."""
    at = steps()
    return at, {
        (method, dtype): errors(lab, example, method, dtype, at) for method in methods for dtype in dtypes
    }


def estimate(lab: Lab, example: Example, method: str, dtype: str, step: float) -> float:
    """The derivative at the example's point, by lab 1's own differences."""
    differ = {"forward": lab.engine.forward_difference, "central": lab.engine.central_difference}[method]
    return _slope(differ, example.function, np.asarray(example.at, dtype)[()], step)


def _slope(differ: Callable[..., Any], function: Callable[[Any], Any], point: Any, step: float) -> float:
    gradient, _ = differ(lambda x: function(x[0]), np.array([point]), h=step)
    return float(gradient[0])


def truncation_slope(at: NDArray[np.float64], errors: NDArray[np.float64], best: float) -> float:
    """The slope of a curve in double logarithms where truncation rules: 8 to 80 best steps."""
    rules = (at >= 8 * best) & (at <= 80 * best)
    return float(np.polyfit(np.log(at[rules]), np.log(errors[rules]), 1)[0])
