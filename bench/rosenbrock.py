"""Rosenbrock's function of n numbers: gradient, Hessian-vector product and Hessian."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Call = Callable[[], Any]


def rosenbrock(x: Any) -> Any:
    """Its terms, one for each pair of neighbours; on nodes, arrays and tensors alike."""
    return 100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2


def point(n: int) -> Array:
    """Where it is taken: shape (n,)."""
    return np.random.default_rng(7).uniform(-1, 1, n)


def ours(graph: ModuleType, engine: ModuleType, n: int) -> dict[str, Call]:
    """Value, gradient, and Hessian-vector product by lab 2's executor, each planned once."""
    x, direction = graph.variable((n,)), graph.variable((n,))
    value = graph.sum(rosenbrock(x))
    (gradient,) = engine.gradients(value, [x])
    (product,) = engine.hvp(value, [x], [direction])
    at, along = point(n), np.cos(np.arange(n))
    return {
        "value": functools.partial(engine.Executor(value), {x: at}),
        "gradient": functools.partial(engine.Executor([value, gradient]), {x: at}),
        "hvp": functools.partial(engine.Executor(product), {x: at, direction: along}),
    }


def ours_hessian(graph: ModuleType, engine: ModuleType, n: int) -> dict[str, Call]:
    """The full Hessian by lab 2: run from a plan, and with building and planning each time."""

    def plan() -> Call:
        x = graph.variable((n,))
        return functools.partial(engine.Executor(engine.hessian(graph.sum(rosenbrock(x)), x)), {x: point(n)})

    return {"ours": plan(), "ours, built anew": lambda: plan()()}


def hand_hessian(n: int) -> Array:
    """The Hessian by hand: three diagonals."""
    x = point(n)
    diagonal = np.zeros(n)
    diagonal[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:] += 200
    beside = -400 * x[:-1]
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def torch(n: int) -> Call:
    """torch.func.hessian."""
    import torch

    torch.set_num_threads(1)
    hessian = torch.func.hessian(lambda x: rosenbrock(x).sum())
    at = torch.tensor(point(n))
    return lambda: hessian(at).numpy()
