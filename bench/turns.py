"""Least CPU times of several calls, which take turns on one core with one thread.

Calls take turns in shuffled order, garbage is collected between samples and not inside them, and the least of
many samples counts.
"""

import gc
import math
import os
import random
import time
from collections.abc import Callable
from typing import TypeVar

SAMPLE_S = 0.008

Call = Callable[[], object]
Made = TypeVar("Made")


def pin() -> None:
    """Keeps this process on one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def installed(makers: dict[str, Callable[[], Made]]) -> dict[str, Made]:
    """What the makers make; without those named after a package that is not here."""
    made = {}
    for name, make in makers.items():
        try:
            made[name] = make()
        except ModuleNotFoundError as missing:
            if missing.name != name:
                raise
    return made


def sample(call: Call, repeats: int) -> float:
    """CPU seconds of one call, averaged over a few."""
    gc.collect()
    begin = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - begin) / repeats


def least_times(calls: dict[str, Call], rounds: int = 60) -> dict[str, float]:
    """Name -> least CPU seconds of one call."""
    order = random.Random(0)
    repeats = {name: max(1, round(SAMPLE_S / sample(call, 3))) for name, call in calls.items()}
    least = dict.fromkeys(calls, math.inf)
    gc.collect()
    gc.freeze()
    gc.disable()
    for _ in range(rounds):
        for name in order.sample(list(calls), len(calls)):
            least[name] = min(least[name], sample(calls[name], repeats[name]))
    gc.enable()
    return least
