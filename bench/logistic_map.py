"""Lab 1's engine beside others: value and gradient of the logistic map, n = 100.

Every sample is CPU time on one core with one thread; the engines take turns in shuffled order, garbage is
collected between samples and not inside them, and the least of many samples counts.
Run by bench/run.py in a process of its own, because it pins itself to a core; prints JSON.
"""

import gc
import json
import math
import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

REFERENCE = Path(__file__).parents[1] / "reference" / "lab1_scalars"
APPLICATIONS = 100
NODES = 3 * APPLICATIONS
START = 0.3
ROUNDS = 60
SAMPLE_S = 0.008

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


def sample(run: Engine, repeats: int) -> float:
    """CPU seconds of one run, averaged over a few."""
    gc.collect()
    begin = time.process_time()
    for _ in range(repeats):
        run(START)
    return (time.process_time() - begin) / repeats


def least_times(engines: dict[str, Engine]) -> dict[str, float]:
    """Name -> least CPU seconds of one run."""
    order = random.Random(0)
    repeats = {name: max(1, round(SAMPLE_S / sample(run, 3))) for name, run in engines.items()}
    least = dict.fromkeys(engines, math.inf)
    gc.collect()
    gc.freeze()
    gc.disable()
    for _ in range(ROUNDS):
        for name in order.sample(list(engines), len(engines)):
            least[name] = min(least[name], sample(engines[name], repeats[name]))
    return least


def main() -> None:
    """Prints {name: nanoseconds per node, or null where it is not installed}."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    engines: dict[str, Engine] = {}
    for make in (by_hand, ours, micrograd, torch, autograd):
        try:
            engines[make.__name__] = make()
        except ModuleNotFoundError as missing:
            if missing.name != make.__name__:
                raise
    right = engines["by_hand"](START)
    for name, run in engines.items():
        if not all(map(partial(math.isclose, rel_tol=1e-6), run(START), right)):
            sys.exit(f"{name} computes another gradient than the chain rule by hand")
    print(json.dumps({name: 1e9 * seconds / NODES for name, seconds in least_times(engines).items()}))


if __name__ == "__main__":
    main()
