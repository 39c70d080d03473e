"""What a gradient that is graph can do: be used again, and be differentiated again. Lab 2."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from programs import rosenbrock_numpy, rosenbrock_point
from solved import Lab

Array = NDArray[np.float64]


def tanh_derivatives(lab: Lab, x: Array, highest: int) -> list[Array]:
    """tanh and its derivatives up to an order, at each of the points x; each by differentiating the last."""
    point = lab.graph.variable(x.shape)
    found = [lab.graph.tanh(point)]
    for _ in range(highest):
        # Entry by entry, so the gradient of the sum holds each entry's own derivative.
        found += lab.engine.gradients(lab.graph.sum(found[-1]), [point])
    return list(lab.engine.Executor(found)({point: x}))


def tanh_by_formula(x: Array) -> list[Array]:
    """tanh and its first three derivatives, in closed form."""
    t = np.tanh(x)
    slope = 1 - t**2
    return [t, slope, -2 * t * slope, (6 * t**2 - 2) * slope]


@dataclass(frozen=True)
class Reuse:
    """Rosenbrock's value along a descent that runs one graph again and again."""

    losses: list[float]
    nodes: int  # of value and gradient together
    made: int  # nodes that were made while it ran
    build_seconds: float
    run_seconds: float  # of one run


def descend(lab: Lab, size: int, steps: int, rate: float = 1e-3) -> Reuse:
    """Gradient descent: the graph of value and gradient is built and planned once, then only run."""
    start = time.perf_counter()
    x = lab.graph.variable((size,))
    value = rosenbrock_numpy(x)
    outputs = [value, *lab.engine.gradients(value, [x])]
    run = lab.engine.Executor(outputs)
    build_seconds = time.perf_counter() - start

    point, losses = rosenbrock_point(size), []
    before = newest(lab)
    start = time.perf_counter()
    for _ in range(steps):
        loss, gradient = run({x: point})
        point = point - rate * gradient
        losses.append(float(loss))
    run_seconds = (time.perf_counter() - start) / steps
    made = newest(lab) - before - 1
    return Reuse(losses, lab.graph.graph_size(outputs), made, build_seconds, run_seconds)


def newest(lab: Lab) -> Any:
    """The number of a node made just now: how many there were before it."""
    return lab.graph.variable(()).number
