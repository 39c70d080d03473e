"""What grading a submission took and what it printed: for the course team, different in every run."""

import dataclasses
from typing import Any

from autograder.sandbox.client import Facts

from .kernels import Built

PRINTED = 1 << 20  # bytes kept of what a submission prints, all its checks together


class Log:
    """The facts of a submission's checks, in the order in which they ran."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._room = PRINTED

    def add(self, check: str, facts: Facts | None, fault: str = "") -> None:
        """Note how a worker ended, None if there was none, and what failed on the grader's side."""
        entry: dict[str, Any] = {"check": check}
        if facts:
            printed = _legible(facts.printed).encode()[: self._room]
            self._room -= len(printed)
            entry |= dataclasses.asdict(facts) | {"printed": printed.decode(errors="ignore")}
        self.entries.append(entry | ({"fault": fault} if fault else {}))

    def compiled(self, file: str, built: Built) -> None:
        """Note what compiling a file of kernels took, and what the real compiler says against it."""
        entry: dict[str, Any] = {"check": f"compile {file}", "compiler_s": built.cpu_s}
        self.entries.append(entry | ({"gate": list(built.gate)} if built.gate else {}))


def _legible(text: str) -> str:
    """Text without control characters but for tabs and ends of lines; JSON would make six bytes of each."""
    if text.isprintable():
        return text
    kept = (
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    return "".join(kept)
