"""What was found wrong with a kernel: one report for each mistake, counted, not one for each thread."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from labkit.messages import Argument, Message, both

KINDS = (  # the order of enum Kind in runtime.h, then what is found outside of kernels
    "race",
    "out-of-bounds",
    "uninitialised-read",
    "barrier-missed",
    "barrier-divergent",
    "warp-mask",
    "write-to-const",
    "misaligned",
    "division-by-zero",
    "null-pointer",
    "stack-overflow",
    "timeout",
    "launch",
    "unwritten-output",
)
MOST = 200  # reports are kept of one module; what is found beyond only adds to those that are there

Index = tuple[int, int, int]


@dataclass(frozen=True)
class Report:
    """A mistake in a kernel or in its launch.

    `line` is 0 and `thread`, `block` and `element` are None where there is none. `count` is how often it was
    found, over all launches; the rest is the first time. `said` is what was found, for one language's words.
    """

    kind: str
    severity: str  # "error" or "warning"
    said: Message = field(compare=False)
    kernel: str
    file: str
    line: int
    thread: Index | None = None
    block: Index | None = None
    element: int | None = None
    count: int = 1
    identity: tuple[Argument, ...] = field(default=(), repr=False)

    @property
    def message(self) -> str:
        """The sentence, "English / 中文"."""
        return both(self.said.id, **self.said.arguments)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class Reports:
    """The reports of a module: equal mistakes are one report, and there is an end to them."""

    def __init__(self) -> None:
        self._by_identity: dict[tuple[Argument, ...], Report] = {}

    def __iter__(self) -> Iterator[Report]:
        return iter(self._by_identity.values())

    def add(self, report: Report) -> None:
        """Count a report; an error explains more than a warning of the same place."""
        identity = (report.kind, report.kernel, *(report.identity or (report.line, report.said.id)))
        known = self._by_identity.get(identity)
        if known is None:
            if len(self._by_identity) < MOST:
                self._by_identity[identity] = report
            return
        worse = report if known.severity == "warning" and report.severity == "error" else known
        self._by_identity[identity] = replace(worse, count=known.count + report.count)

    def clear(self) -> None:
        """Forget all."""
        self._by_identity.clear()
