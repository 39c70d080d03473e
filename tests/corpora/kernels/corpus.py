"""Reads the marked kernels of the corpus."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
MARK = re.compile(r"// (right|wrong) (\w+)(?: \[([\dx]+) block=(\d+)\])?(?:: (.+))?\n")
SIGNATURE = re.compile(r"(template <int TILE>\n)?(?:extern \"C\" )?__global__ void (\w+)\(")
EXPECTATION = re.compile(r"// (expect|may): ([\w, -]+\w)")


@dataclass(frozen=True)
class Kernel:
    """One kernel of the corpus, from its mark to the closing brace."""

    name: str
    path: Path
    problem: str
    mistake: str
    size: tuple[int, ...] | None
    block: int | None
    template: bool
    line: int  # of its name
    text: str
    expected: dict[str, frozenset[int]] = field(hash=False)  # by kind: the lines of which one must report it
    allowed: dict[str, frozenset[int]] = field(hash=False)  # by kind: all lines at which it may be reported

    def instance(self, block: int) -> str:
        """The name to ask a module for: templates are named with the side of their tile."""
        return f"{self.name}<{block}>" if self.template else self.name


def lines_by_kind(text: str, first: int, words: set[str]) -> dict[str, frozenset[int]]:
    """The lines that expect (or allow) a report, by kind."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(text.splitlines(), start=first):
        for word, kinds in EXPECTATION.findall(line):
            if word in words:
                for kind in kinds.split(", "):
                    found.setdefault(kind, set()).add(number)
    return {kind: frozenset(lines) for kind, lines in found.items()}


def kernels_of(path: Path) -> list[Kernel]:
    """The marked kernels of a file, in order."""
    text = path.read_text("utf-8")
    kernels: list[Kernel] = []
    before = 0
    for mark in MARK.finditer(text):
        end = text.index("\n}\n", mark.end()) + 3
        signature = SIGNATURE.match(text, mark.end())
        assert signature, f"{path.name}: no kernel follows {mark[0].strip()!r}"
        around, first = text[before:end], text.count("\n", 0, before) + 1  # helpers stand above their kernel
        kernels.append(
            Kernel(
                name=signature[2],
                path=path,
                problem=mark[2],
                mistake=mark[5] or "",
                size=tuple(int(side) for side in mark[3].split("x")) if mark[3] else None,
                block=int(mark[4]) if mark[4] else None,
                template=bool(signature[1]),
                line=text.count("\n", 0, signature.end()) + 1,
                text=text[mark.start() : end],
                expected=lines_by_kind(around, first, {"expect"}),
                allowed=lines_by_kind(around, first, {"expect", "may"}),
            )
        )
        before = end
    return kernels


@cache
def corpus(kind: str) -> tuple[Kernel, ...]:
    """All `right` or all `wrong` kernels."""
    return tuple(kernel for path in sorted((FOLDER / kind).glob("*.cu")) for kernel in kernels_of(path))
