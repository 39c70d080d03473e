"""The path of a call: which functions of a lab call which, down to the kernels that they launch.

with recorded(folder) as calls:
    DeviceEvaluator(x * y, [x, y]).value(points)
print(text(calls))
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from labkit.cuda.module import Kernel


@dataclass(frozen=True)
class Call:
    """A function that was called, or a kernel that was launched, `depth` calls below the first."""

    depth: int
    name: str
    file: str
    line: int


@contextmanager
def recorded(folder: str | Path) -> Iterator[list[Call]]:
    """Record calls of functions whose files lie in `folder`, and launches of kernels, in their order."""
    calls: list[Call] = []
    inside = str(Path(folder).resolve())
    depth = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        code = frame.f_code
        if event == "call" and code is Kernel.__call__.__code__:
            kernel, grid, block = (frame.f_locals[name] for name in ("self", "grid", "block"))
            name = f"{kernel.name}<<<{grid}, {block}>>>"
            calls.append(Call(depth, name, kernel.module.file, kernel.line))
        elif code.co_filename.startswith(inside) and not code.co_name.startswith("<"):
            if event == "call":
                name, line = code.co_qualname, code.co_firstlineno
                calls.append(Call(depth, name, Path(code.co_filename).name, line))
                depth += 1
            elif event == "return":
                depth -= 1

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def text(calls: Sequence[Call]) -> str:
    """The calls as lines, each indented below its caller, with file and line."""
    return "\n".join(f"{'  ' * call.depth}{call.name}  {call.file}:{call.line}" for call in calls)
