"""A student's own engine, tried in a child process: its gradients, its times, and how it ended.

The child runs with the rights of whoever starts the demo; `make grade` has the sandbox.
"""

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.draw.item import printable
from labkit.messages import Message
from programs import logistic_slope, rosenbrock_gradient, rosenbrock_point
from solved import REFERENCE

LECTURE_AT = (2.0, 5.0)
LOGISTIC_AT = 0.3
APPLICATIONS = (1, 2, 3, 4, 5, 6, 7, 8)
PARAMETERS = (10, 100, 1000, 10_000)
LIMIT_S = 10.0  # for all of it; the reference needs one
LONGEST_LINE = 1_000_000  # bytes: a gradient of 10,000 numbers is 250,000
LONGEST_ERROR = 160  # letters
SIZES: dict[str, tuple[int, ...]] = {"lecture": (2,), "logistic": APPLICATIONS, "rosenbrock": PARAMETERS}
STAGES = {
    ("import", 0),
    *((program, size) for program, sizes in SIZES.items() for size in sizes),
}


@dataclass(frozen=True)
class Point:
    """One gradient: of which program at which size, how long it took, and whether it is right."""

    program: str
    size: int
    seconds: float
    right: bool
    gradient: tuple[float, ...]


@dataclass
class Trial:
    """All that is known of an engine. `fault` is the first thing that went wrong, if anything did."""

    points: list[Point] = field(default_factory=list)
    fault: Message | None = None

    def curve(self, program: str) -> tuple[list[int], list[float], bool]:
        """Sizes and seconds of a program, and whether all those gradients are right."""
        own = [point for point in self.points if point.program == program]
        return (
            [point.size for point in own],
            [point.seconds for point in own],
            all(point.right for point in own),
        )

    def verdict(self) -> Message:
        """One sentence about the engine."""
        if self.fault is not None:
            return self.fault
        wrong = next((point for point in self.points if not point.right), None)
        if wrong is None:
            return Message("demo.engine-right", {"number": len(self.points)})
        place = _first_difference(wrong.program, wrong.size, wrong.gradient)
        assert place is not None
        return Message(
            "demo.engine-wrong",
            {
                "where": where_text(wrong.program, wrong.size),
                "place": place + 1,
                "found": f"{wrong.gradient[place]:.6g}",
                "truth": f"{truth(wrong.program, wrong.size)[place]:.6g}",
            },
        )


def truth(program: str, size: int) -> tuple[float, ...]:
    """The gradient by mathematics."""
    if program == "lecture":
        x1, x2 = LECTURE_AT
        return (1 / x1 + x2, x1 - math.cos(x2))
    if program == "logistic":
        return (logistic_slope(LOGISTIC_AT, size),)
    return tuple(rosenbrock_gradient(rosenbrock_point(size)).tolist())


def where_text(program: str, size: int) -> str:
    """A program at a size, in signs that need no language."""
    names = {
        "lecture": "y = ln x1 + x1 x2 - sin x2",
        "logistic": f"l, n = {size}",
        "rosenbrock": f"Rosenbrock, N = {size}",
    }
    return names.get(program, program)


def find_engine(path: Path) -> Path | None:
    """engine.py in a folder, or the file itself; None if there is none."""
    file = path / "engine.py" if path.is_dir() else path
    return file.resolve() if file.suffix == ".py" and file.is_file() else None


def try_engine(path: Path, limit: float = LIMIT_S) -> Trial:
    """Run an engine in a child process, which may fail in any way; what it told until then is kept.

    path: a folder with engine.py, and graph.py or none; or an engine's file.
    """
    file = find_engine(path)
    if file is None:
        return Trial(fault=Message("demo.engine-missing", {"path": str(path)}))
    trial = Trial()
    with _child(file) as lines:
        _follow(lines, trial, limit)
    return trial


@contextlib.contextmanager
def _child(file: Path) -> "Iterator[queue.Queue[bytes]]":
    """What the child tells, line by line; it runs in a process group, all of which ends with the block."""
    script = Path(__file__).with_name("engine_child.py")
    command = [sys.executable, "-B", str(script), str(file), str(REFERENCE / "lab1_scalars")]
    nowhere = subprocess.DEVNULL
    told, telling = os.pipe()  # not Popen's own: whoever has left the group may hold it open for ever
    try:
        process = subprocess.Popen(
            command, stdin=nowhere, stdout=telling, stderr=nowhere, start_new_session=True
        )
    finally:
        os.close(telling)
    lines: queue.Queue[bytes] = queue.Queue(maxsize=100)
    reader = threading.Thread(target=_read, args=(told, lines), daemon=True)
    reader.start()
    with process:
        try:
            yield lines
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
    reader.join(1.0)


def _read(told: int, lines: "queue.Queue[bytes]") -> None:
    """Line by line as it comes; at last an empty one."""
    with os.fdopen(told, "rb") as stream:
        while line := stream.readline(LONGEST_LINE):
            lines.put(line)
    lines.put(b"")


def _follow(lines: "queue.Queue[bytes]", trial: Trial, limit: float) -> None:
    """Note all points and the first fault, until it ends, tells what it should not, or time is up."""
    end = time.monotonic() + limit
    at, size = "start", 0
    while True:
        try:
            line = lines.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            stopped = {"where": where_text(at, size), "seconds": f"{limit:g}"}
            trial.fault = trial.fault or Message("demo.engine-hangs", stopped)
            return
        match _parsed(line):
            case {"at": "end"} if trial.fault or len(trial.points) == len(STAGES) - 1:
                return
            case {"at": str(stage), "size": int(number)} if (stage, number) in STAGES:
                at, size = stage, number
            case {"error": str(error)}:
                raised = {"where": where_text(at, size), "error": printable(error)[:LONGEST_ERROR]}
                trial.fault = trial.fault or Message("demo.engine-raises", raised)
            case {"gradient": list(gradient), "seconds": float(seconds)} if _answers(
                at, size, gradient, seconds
            ):
                right = _first_difference(at, size, gradient) is None
                trial.points.append(Point(at, size, seconds, right, tuple(gradient)))
            case _:
                trial.fault = trial.fault or Message("demo.engine-dies", {"where": where_text(at, size)})
                return


def _parsed(line: bytes) -> Any:
    """What a line says; None where the stream has ended or the line is none of ours."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _answers(program: str, size: int, gradient: list[Any], seconds: float) -> bool:
    """Whether this is a gradient of the program, with a time: a child may tell anything."""
    return (
        program in SIZES
        and len(gradient) == len(truth(program, size))
        and all(type(number) is float for number in gradient)
        and 0 <= seconds < math.inf
    )


def _first_difference(program: str, size: int, gradient: Sequence[float]) -> int | None:
    """The place of the first wrong number, None where all are right."""
    pairs = zip(gradient, truth(program, size), strict=True)
    close = (math.isclose(found, true, rel_tol=1e-9, abs_tol=1e-9) for found, true in pairs)
    return next((place for place, right in enumerate(close) if not right), None)
