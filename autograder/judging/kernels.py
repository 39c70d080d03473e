"""What grading knows of a submission's kernels: what they compiled to, and what their checked mode says."""

from dataclasses import dataclass, field

from autograder.worker import codec
from labkit.messages import Argument, Message

from .explain import clean

Problem = tuple[str, Message]  # an outcome, and why


@dataclass(frozen=True)
class Built:
    """A file of kernels: what it compiled to, by name in the cache of labkit.cuda, or why it did not.

    `gate`: what NVRTC says against it, where that is installed; `cpu_s`: what compiling took.
    """

    fast: dict[str, bytes] = field(default_factory=dict)
    checked: dict[str, bytes] = field(default_factory=dict)
    problem: Problem | None = None
    gate: tuple[str, ...] = ()
    cpu_s: float = 0.0


def message_of(report: codec.Report) -> Message:
    """A report in words. A kernel shares its process with whoever reports, so what comes may be made up."""
    said: dict[str, Argument] = {
        "file": clean(report.file),
        "line": report.line,
        "kernel": clean(report.kernel),
        "text": clean(report.text, codec.MAX_TEXT),
        "count": report.count,
    }
    return Message("judging.kernel-report", said)
