"""Which kernels of a .cu text are still as they were handed out, with their blank."""

from labkit.cuda import screen

BLANK = "// YOUR CODE HERE"  # how the lab's cutter leaves a solution's place


def kernels(text: str) -> list[str]:
    """The names of the kernels of a text, in its order."""
    return [kernel.name for kernel in screen.kernels(text)]


def unwritten(text: str) -> dict[str, int]:
    """The kernels whose body still holds the blank, with its line.

    A kernel ends where the next begins, so a blank belongs to the last kernel above it.
    """
    starts = [(kernel.line, kernel.name) for kernel in screen.kernels(text)]
    return {
        next((name for start, name in reversed(starts) if start <= line), ""): line
        for line, code in enumerate(text.split("\n"), 1)
        if BLANK in code
    }
