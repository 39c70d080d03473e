"""Which kernels of a .cu text are still as they were handed out, with their blank."""

import re

BLANK = "// YOUR CODE HERE"  # how the lab's cutter leaves a solution's place
_KERNEL = re.compile(r"__global__\b[^;{}()]*?\b(\w+)\s*\(")


def kernels(text: str) -> list[str]:
    """The names of the kernels that a .cu text defines or declares, in order."""
    return _KERNEL.findall(text)


def unwritten(text: str) -> dict[str, int]:
    """The kernels whose body still holds the blank, with its line.

    A kernel ends where the next begins; so a blank belongs to the last kernel above it.
    """
    starts = [(match.start(), match[1]) for match in _KERNEL.finditer(text)]
    found: dict[str, int] = {}
    for (start, name), (end, _) in zip(starts, [*starts, (len(text), "")][1:], strict=True):
        if (place := text.find(BLANK, start, end)) >= 0:
            found[name] = text.count("\n", 0, place) + 1
    return found
