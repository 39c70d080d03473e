"""What grading knows of a submission's kernels: what they compiled to, and what their checked mode says."""

from dataclasses import dataclass, field

from autograder.worker import codec
from labkit.messages import Message

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
    arguments = {
        name: clean(value) if isinstance(value, str) else value for name, value in report.arguments.items()
    }
    message = Message(report.id, arguments)
    try:
        if not report.id.startswith("cuda."):
            raise KeyError(report.id)
        for language in ("en", "zh"):
            message.text(language)
    except (KeyError, ValueError, IndexError, AttributeError):
        return Message("judging.kernel-report", {"text": clean(report.kind)})
    return message
