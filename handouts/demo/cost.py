"""What a gradient costs, in evaluations and in seconds."""

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from programs import rosenbrock, rosenbrock_gradient, rosenbrock_numpy, rosenbrock_point
from solved import Lab

Array = NDArray[np.float64]


def seconds_of(call: Callable[[], Any], budget: float = 0.01) -> float:
    """Seconds of one call, without the garbage collector: the best of as many as fit into the budget."""
    best, spent = float("inf"), 0.0
    collects = gc.isenabled()
    gc.disable()
    try:
        while spent < budget:
            start = time.perf_counter()
            call()
            took = time.perf_counter() - start
            best, spent = min(best, took), spent + took
    finally:
        if collects:
            gc.enable()
    return best


class Counted:
    """A function that counts its own calls."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, x: Any) -> Any:
        """The function's value."""
        self.calls += 1
        return self.function(x)


def by_differences(lab: Lab, x: Array, function: Callable[[Any], Any] = rosenbrock) -> tuple[Array, int]:
    """Rosenbrock's gradient by central differences, and how often the function was called."""
    counted = Counted(function)
    gradient, _ = lab.engine.central_difference(counted, x)
    return gradient, counted.calls


def by_fast_differences(lab: Lab, x: Array) -> tuple[Array, int]:
    """The same with the function in NumPy, which the sweeps do without."""
    return by_differences(lab, x, rosenbrock_numpy)


def by_reverse(lab: Lab, x: Array) -> Array:
    """Rosenbrock's gradient by one forward and one reverse sweep."""
    inputs = [lab.graph.variable(value) for value in x]
    adjoints = lab.engine.reverse_mode(rosenbrock(inputs))
    return np.array([adjoints[node] for node in inputs])


def by_forward(lab: Lab, x: Array) -> Array:
    """Rosenbrock's gradient by N forward passes, one for each input."""
    inputs = [lab.graph.variable(value) for value in x]
    output = rosenbrock(inputs)
    return np.array([lab.engine.forward_mode(output, [node], [1.0])[0] for node in inputs])


def gradient_seconds(lab: Lab, method: Callable[[Lab, Array], Any], size: int) -> float:
    """Seconds that a method takes for N = size parameters."""
    x = rosenbrock_point(size)
    return seconds_of(lambda: method(lab, x))


def sweep_counts(lab: Lab, output: Any) -> tuple[int, int]:
    """Operations of a forward and of a reverse sweep over the graph of an output.

    Forward: one for each node with inputs. Reverse: a multiplication for each edge, and an addition for each
    further partial adjoint that arrives at a node.
    """
    arrived: dict[Any, list[Any]] = {}
    lab.engine.reverse_mode(output, record=arrived)
    forward = sum(1 for node in arrived if node.inputs)
    edges = sum(len(node.inputs) for node in arrived)
    return forward, edges + sum(len(partials) - 1 for partials in arrived.values())


def counted_ratio(lab: Lab, size: int) -> float:
    """Operations for value and gradient over those for the value alone."""
    forward, reverse = sweep_counts(lab, rosenbrock(list(map(lab.graph.variable, rosenbrock_point(size)))))
    return (forward + reverse) / forward


def measured_ratio(lab: Lab, size: int) -> float:
    """Seconds for value and gradient over those for the value alone, both on lab 1's graph.

    They take turns, so that what slows the machine down for a while spoils neither.
    """
    x = rosenbrock_point(size)

    def value() -> float:
        return float(rosenbrock([lab.graph.variable(number) for number in x]).value)

    turns = [(seconds_of(lambda: by_reverse(lab, x), 0.02), seconds_of(value, 0.02)) for _ in range(5)]
    return min(both for both, _ in turns) / min(alone for _, alone in turns)


def error(gradient: Array) -> float:
    """The relative error of Rosenbrock's gradient."""
    truth = rosenbrock_gradient(rosenbrock_point(len(gradient)))
    return float(np.linalg.norm(gradient - truth) / np.linalg.norm(truth))
