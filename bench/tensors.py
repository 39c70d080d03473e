"""Lab 2's executor beside NumPy by hand and other engines; run by bench/run.py in a process of its own.

Prints JSON: {workload: {name: least CPU seconds, or bytes for a peak}}.
"""

import gc
import json
import sys
import tracemalloc
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import elementwise
import numpy as np
import perceptron
import rosenbrock
import turns

REFERENCE = Path(__file__).parents[1] / "reference" / "lab2_tensors"
MANY, FEW = 10**5, 100  # of Rosenbrock's numbers


def agree(calls: dict[str, turns.Call], tolerance: float, right: str) -> None:
    """Ends the program if a call gives other arrays than the one that is right."""
    expected = listed(calls[right]())
    for name, call in calls.items():
        for got, wanted in zip(listed(call()), expected, strict=True):
            if not np.linalg.norm(got - wanted) <= tolerance * np.linalg.norm(wanted):
                sys.exit(f"{name} computes other numbers than {right}")


def listed(result: Any) -> list[Any]:
    """One array or several as a list of arrays."""
    several = isinstance(result, (list, tuple))
    return [np.asarray(one, dtype=np.float64) for one in (result if several else [result])]


def peak(call: turns.Call) -> int:
    """Bytes that one call holds at most, its results included."""
    call()
    gc.collect()
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def perceptrons(graph: Any, engine: Any) -> Iterable[tuple[str, dict[str, float]]]:
    """Time and memory of a training step's gradients."""
    peers = turns.installed({"torch": perceptron.torch, "autograd": perceptron.autograd})
    calls = {"ours": perceptron.ours(graph, engine), "hand": perceptron.hand, **peers}
    agree(calls, 1e-4, "hand")
    yield "perceptron", turns.least_times(calls | {"products": perceptron.products}, rounds=120)
    yield "perceptron_peak", {name: peak(calls[name]) for name in ("ours", "hand")}


def chains(graph: Any, engine: Any) -> Iterable[tuple[str, dict[str, float]]]:
    """Time of many small operations, memory of few large ones."""
    peers = turns.installed({"autograd": elementwise.autograd})
    calls = {"ours": elementwise.ours(graph, engine), "hand": elementwise.hand, **peers}
    agree(calls, 1e-12, "hand")
    yield "small_operations", turns.least_times(calls)
    yield "large_arrays", {"ours": peak(elementwise.large(graph, engine)) / (8 * elementwise.LARGE)}


def rosenbrocks(graph: Any, engine: Any) -> Iterable[tuple[str, dict[str, float]]]:
    """What derivatives cost in units of the function."""
    calls = rosenbrock.ours(graph, engine, FEW)
    exact = rosenbrock.hand_hessian(FEW)
    agree({"hvp": calls["hvp"], "hand": lambda: exact @ np.cos(np.arange(FEW))}, 1e-12, "hand")
    yield "rosenbrock", turns.least_times(rosenbrock.ours(graph, engine, MANY))
    peers = turns.installed({"torch": partial(rosenbrock.torch, FEW)})
    calls = rosenbrock.ours_hessian(graph, engine, FEW) | peers
    agree(calls | {"hand": lambda: exact}, 1e-12, "hand")
    yield "hessian", turns.least_times(calls, rounds=15)


def main() -> None:
    """Measures all workloads."""
    turns.pin()
    sys.path.insert(0, str(REFERENCE))
    import engine
    import graph

    found = {}
    for part in (perceptrons, chains, rosenbrocks):
        found |= dict(part(graph, engine))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
