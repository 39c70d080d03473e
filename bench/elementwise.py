"""Chains of elementwise operations, forward and backward: many small ones, and few on large arrays."""

import functools
from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

REPEATS = 200  # of five operations: 1,000
_random = np.random.default_rng(7)
START = _random.standard_normal(4)
FACTOR, TERM, LESS, SECOND_FACTOR = _random.uniform(0.5, 1.5, (4, 4))

LARGE = 10**6  # entries of 8 MB
LARGE_OPERATIONS = 40


def ours(graph: ModuleType, engine: ModuleType) -> Callable[[], list[Array]]:
    """Lab 2's executor, planned once: the sum of 1,000 operations and its gradient, shape (4,)."""
    y = x = graph.variable((4,))
    arrays = [FACTOR, TERM, LESS, SECOND_FACTOR]
    factor, term, less, second_factor = fed = [graph.variable((4,)) for _ in arrays]
    for _ in range(REPEATS):
        y = graph.tanh((y * factor + term - less) * second_factor)
    total = graph.sum(y)
    run = engine.Executor([total, *engine.gradients(total, [x])])
    return functools.partial(run, {x: START, **dict(zip(fed, arrays, strict=True))})


def hand() -> tuple[Array, Array]:
    """The same in NumPy, without a graph."""
    y, results = START, []
    for _ in range(REPEATS):
        y = y * FACTOR
        y = y + TERM
        y = y - LESS
        y = y * SECOND_FACTOR
        y = np.tanh(y)
        results.append(y)
    adjoint = np.ones(4)
    for result in reversed(results):
        adjoint = adjoint - adjoint * result * result
        adjoint = adjoint * SECOND_FACTOR
        adjoint = adjoint * FACTOR
    return y.sum(), adjoint


def autograd() -> Callable[[], object]:
    """HIPS autograd."""
    import autograd
    import autograd.numpy as anp

    def total(y):  # type: ignore[no-untyped-def]
        for _ in range(REPEATS):
            y = y * FACTOR
            y = y + TERM
            y = y - LESS
            y = y * SECOND_FACTOR
            y = anp.tanh(y)
        return anp.sum(y)

    return functools.partial(autograd.value_and_grad(total), START)


def large(graph: ModuleType, engine: ModuleType) -> Callable[[], list[Array]]:
    """40 operations on arrays of 8 MB, forward and backward."""
    y = x = graph.variable((LARGE,))
    for _ in range(LARGE_OPERATIONS // 2):
        y = graph.tanh(y * 1.01)
    run = engine.Executor(engine.gradients(graph.sum(y), [x]))
    return functools.partial(run, {x: np.ones(LARGE)})
