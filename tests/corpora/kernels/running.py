"""Runs kernels of the corpus through labkit.cuda and compares with the truth."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from labkit import cuda
from labkit.cuda import compile as compiler
from labkit.cuda import launcher

from .cases import Case, Size, Unwritten
from .corpus import Kernel, corpus
from .problems import PROBLEMS

ORDERS = ("forward", "reverse", "shuffled")
WITHOUT_LINE = {"launch", "unwritten-output"}  # they belong to a launch, not to a statement


@contextmanager
def impatient(seconds: float = 0.3) -> Iterator[None]:
    """All kernels of the corpus end soon, or never."""
    patience, launcher.SECONDS = launcher.SECONDS, seconds
    yield
    launcher.SECONDS = patience


@dataclass(frozen=True)
class Outcome:
    """Are the values right, and the reports by severity."""

    right: bool
    reports: tuple[Any, ...]  # errors
    warnings: tuple[Any, ...]


def instances(kernels: Iterable[Kernel]) -> list[str]:
    """The templates among them, at the sides of tiles at which they are tried."""
    return [
        kernel.instance(block)
        for kernel in kernels
        if kernel.template
        for block in PROBLEMS[kernel.problem].family.blocks
    ]


def module_of(path: Path, backend: str, order: str = "forward") -> Any:
    """A file of the corpus, compiled and loaded once by the compiler that is chosen now."""
    return _module_of(path, backend, order, compiler.compiler())


@cache
def _module_of(path: Path, backend: str, order: str, _: str | None) -> Any:
    names = instances(kernel for kernel in corpus(path.parent.name) if kernel.path == path)
    return cuda.RawModule(path=path, backend=backend, order=order, name_expressions=names)


def run(module: Any, kernel: Kernel, block: int, size: Size) -> Outcome:
    """One launch of one kernel."""
    return launch(module, kernel.instance(block), PROBLEMS[kernel.problem].case(block, size))


def launch(module: Any, name: str, case: Case) -> Outcome:
    """One launch, its values and its reports."""
    module.reports.clear()
    arguments = [on_device(argument) for argument in case.arguments]
    try:
        module.get_function(name)(case.grid, case.block, tuple(arguments), shared_mem=case.shared_mem)
        right = all(agrees(cuda.asnumpy(arguments[place]), truth) for place, truth in case.truth.items())
    except cuda.LaunchError:
        right = False
    errors, warnings = (
        tuple(report for report in module.reports if report.severity == severity)
        for severity in ("error", "warning")
    )
    return Outcome(right, errors, warnings)


def on_device(argument: Any) -> Any:
    """Arrays are copied to the device; scalars stay."""
    if isinstance(argument, Unwritten):
        return cuda.empty(argument.shape, argument.dtype)
    return cuda.asarray(argument) if isinstance(argument, np.ndarray) else argument


def agrees(values: Any, truth: Any) -> bool:
    """Equal up to rounding, and exactly for integers."""
    if values.dtype != truth.dtype or truth.dtype.kind == "i":
        return values.dtype == truth.dtype and np.array_equal(values, truth)
    return bool(np.allclose(values, truth, rtol=1e-4, atol=1e-4))


def default_case(kernel: Kernel) -> tuple[int, Size]:
    """The block and size at which a wrong kernel is run."""
    family = PROBLEMS[kernel.problem].family
    return kernel.block or family.blocks[-1], kernel.size or family.few[0]


def missed(kernel: Kernel, reports: tuple[Any, ...]) -> list[str]:
    """What was expected of a wrong kernel and not reported, and what was reported and not expected."""
    places: dict[str, set[int]] = {}
    for report in reports:
        line = kernel.line if report.kind in WITHOUT_LINE else report.line
        places.setdefault(report.kind, set()).add(line)
    found = [
        f"{kernel.name}: {kind} at a line of {sorted(lines)} was not reported"
        for kind, lines in kernel.expected.items()
        if not lines & places.get(kind, set())
    ]
    for kind, lines in places.items():
        stray = lines - kernel.allowed.get(kind, set())
        found += [f"{kernel.name}: {kind} was reported at line {line}" for line in sorted(stray, key=str)]
    return found
