"""Lab 1's engine beside others: value and gradient of the logistic map, n = 100.

Run by bench/run.py in a process of its own, because it pins itself to a core; prints JSON.
"""

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import turns

REFERENCE = Path(__file__).parents[1] / "reference" / "lab1_scalars"
APPLICATIONS = 100
NODES = 3 * APPLICATIONS
START = 0.3

Engine = Callable[[float], tuple[float, float]]


def by_hand() -> Engine:
    """The least that Python can do: no graph at all."""

    def run(x: float) -> tuple[float, float]:
        l, gradient = x, 1.0
        for _ in range(APPLICATIONS):
            gradient = 4 * gradient * (1 - 2 * l)
            l = 4 * l * (1 - l)
        return l, gradient

    return run


def ours() -> Engine:
    """Lab 1 as the reference solves it."""
    sys.path.insert(0, str(REFERENCE))
    import engine
    import graph

    def run(value: float) -> tuple[float, float]:
        l = x = graph.variable(value)
        for _ in range(APPLICATIONS):
            l = 4 * l * (1 - l)
        return l.value, engine.reverse_mode(l)[x]

    return run


def micrograd() -> Engine:
    """Karpathy's micrograd."""
    from micrograd.engine import Value

    def run(value: float) -> tuple[float, float]:
        l = x = Value(value)
        for _ in range(APPLICATIONS):
            l = 4 * l * (1 - l)
        l.backward()
        return l.data, x.grad

    return run


def torch() -> Engine:
    """PyTorch in eager mode, on scalars."""
    import torch

    torch.set_num_threads(1)

    def run(value: float) -> tuple[float, float]:
        l = x = torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for _ in range(APPLICATIONS):
            l = 4 * l * (1 - l)
        l.backward()
        return l.item(), x.grad.item()

    return run


def autograd() -> Engine:
    """HIPS autograd."""
    from autograd import value_and_grad

    def logistic_map(l: float) -> float:
        for _ in range(APPLICATIONS):
            l = 4 * l * (1 - l)
        return l

    return value_and_grad(logistic_map)


def main() -> None:
    """Prints {name: nanoseconds per node, or null where it is not installed}."""
    turns.pin()
    makers = {make.__name__: make for make in (by_hand, ours, micrograd, torch, autograd)}
    engines = turns.installed(makers)
    right = engines["by_hand"](START)
    for name, run in engines.items():
        if not all(map(partial(math.isclose, rel_tol=1e-6), run(START), right)):
            sys.exit(f"{name} computes another gradient than the chain rule by hand")
    seconds = turns.least_times({name: partial(run, START) for name, run in engines.items()})
    print(json.dumps({name: 1e9 * one / NODES for name, one in seconds.items()}))


if __name__ == "__main__":
    main()
