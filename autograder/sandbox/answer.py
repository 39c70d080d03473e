"""What goes into a sandbox besides texts, and what comes out of it: plain data."""

from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.worker import codec

Level = Literal["full", "portable", "none"]
LEVELS: tuple[Level, ...] = ("full", "portable", "none")


class SandboxError(Exception):
    """The sandbox itself failed: never the student's fault."""


@dataclass(frozen=True)
class Facts:
    """What the kernel says of a worker's life. Units: seconds, MB."""

    status: int
    killed: bool
    cpu_s: float
    memory_mb: int
    wall_s: float
    printed: str


@dataclass(frozen=True)
class Answer:
    """A call's outcome: `ok` with a result, `raised` with a failure, or why there is neither."""

    outcome: str
    result: dict[str, Any] = field(default_factory=dict)
    failure: codec.Failure | None = None
    detail: str = ""
    reports: tuple[codec.Report, ...] = ()


@dataclass(frozen=True)
class Kernels:
    """Compiled kernels for a session, by their names in the cache of labkit.cuda.

    `launched`: the .cu file that programs get as `lab.kernels`; "" where the student's modules launch them.
    """

    compiled: dict[str, bytes] = field(default_factory=dict)
    launched: str = ""


@dataclass(frozen=True)
class Notebook:
    """The notebook whose cells programs may run, by its name, and the setup cells of ours before each."""

    name: str = ""
    setup: tuple[str, ...] = ()


NO_KERNELS = Kernels()
NO_NOTEBOOK = Notebook()
