"""The functions that the lecture differentiates, written once as forward code.

They only use operators, so numbers, lab 1's nodes and sympy's symbols all go through them.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def lecture(x1: Any, x2: Any, log: Callable[[Any], Any], sin: Callable[[Any], Any]) -> list[Any]:
    """v1 to v7 of the running example y = ln x1 + x1 x2 - sin x2; y is v7."""
    v1, v2 = x1, x2
    v3 = log(v1)
    v4 = v1 * v2
    v5 = sin(v2)
    v6 = v3 + v4
    v7 = v6 - v5
    return [v1, v2, v3, v4, v5, v6, v7]


def logistic(l: Any, n: int) -> Any:
    """n applications of the logistic map l <- 4 l (1 - l)."""
    for _ in range(n):
        l = 4 * l * (1 - l)
    return l


def logistic_slope(x: float, n: int) -> float:
    """The derivative of `logistic(x, n)` for 0 < x < 1, in closed form.

    With x = sin(p)**2 the map doubles the angle: n applications give sin(2**n p)**2.
    """
    angle = math.asin(math.sqrt(x))
    return float(2**n * math.sin(2 ** (n + 1) * angle) / math.sin(2 * angle))


def rosenbrock(x: Sequence[Any]) -> Any:
    """Rosenbrock's function of N >= 2 numbers or nodes: a loss that every parameter has a part in."""
    loss: Any = 0.0
    for a, b in itertools.pairwise(x):
        bend, slope = b - a * a, 1 - a
        loss = loss + 100 * (bend * bend) + slope * slope
    return loss


def rosenbrock_numpy(x: NDArray[Any]) -> Any:
    """The same for an array of shape (N,): as fast as Python gets."""
    bend, slope = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    return 100 * (bend @ bend) + slope @ slope


def rosenbrock_gradient(x: NDArray[Any]) -> NDArray[Any]:
    """Its gradient by hand, shape (N,)."""
    gradient = np.zeros_like(x)
    bend = x[1:] - x[:-1] ** 2
    gradient[:-1] = -400 * x[:-1] * bend - 2 * (1 - x[:-1])
    gradient[1:] += 200 * bend
    return gradient


def rosenbrock_point(size: int) -> NDArray[np.float64]:
    """Where the lecture takes that gradient: shape (size,), no entry like another."""
    return np.linspace(-0.9, 0.8, size)
