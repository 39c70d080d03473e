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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from labkit.messages import Message
from programs import logistic_slope, rosenbrock_gradient, rosenbrock_point
from solved import REFERENCE

LECTURE_AT = (2.0, 5.0)
LOGISTIC_AT = 0.3
APPLICATIONS = (1, 2, 3, 4, 5, 6, 7, 8)
PARAMETERS = (10, 100, 1000, 10_000)
LIMIT_S = 10.0  # for all of it; the reference needs one
LONGEST_LINE = 1_000_000  # bytes: a gradient of 10,000 numbers is 250,000


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
        place = _first_difference(wrong)
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
    names = {"lecture": "y = ln x1 + x1 x2 - sin x2", "logistic": f"l, n = {size}"}
    return names.get(program, f"Rosenbrock, N = {size}" if program == "rosenbrock" else program)


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
    with _child(file) as process:
        _follow(process, trial, time.monotonic() + limit, limit)
    return trial


@contextlib.contextmanager
def _child(file: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """The child in a process group of its own, all of which ends with this block."""
    script = Path(__file__).with_name("engine_child.py")
    command = [sys.executable, "-B", str(script), str(file), str(REFERENCE / "lab1_scalars")]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()


def _follow(process: "subprocess.Popen[bytes]", trial: Trial, end: float, limit: float) -> None:
    at, size = "start", 0
    lines = _lines(process)
    while True:
        try:
            line = lines.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            stopped = {"where": where_text(at, size), "seconds": f"{limit:g}"}
            trial.fault = trial.fault or Message("demo.engine-hangs", stopped)
            return
        event = _parsed(line)
        if event.get("at") == "end":
            return
        if "at" in event:
            at, size = event["at"], event["size"]
        elif "error" in event:
            raised = {"where": where_text(at, size), "error": event["error"]}
            trial.fault = trial.fault or Message("demo.engine-raises", raised)
        elif "gradient" in event:
            trial.points.append(_point(at, size, event))
        else:
            trial.fault = trial.fault or Message("demo.engine-dies", {"where": where_text(at, size)})
            return


def _parsed(line: bytes) -> dict[str, Any]:
    """An event; an empty one where the stream has ended or the line is none of ours."""
    kinds = {"at": str, "size": int, "error": str, "gradient": list, "seconds": float}
    with contextlib.suppress(ValueError):
        event = json.loads(line)
        if (
            isinstance(event, dict)
            and all(type(event[key]) is kinds.get(key) for key in event)
            and all(type(number) is float for number in event.get("gradient", ()))
        ):
            return event
    return {}


def _point(program: str, size: int, event: dict[str, Any]) -> Point:
    gradient = tuple(event["gradient"])
    expected = truth(program, size)
    right = len(gradient) == len(expected) and bool(np.allclose(gradient, expected, rtol=1e-9, atol=1e-9))
    return Point(program, size, float(event.get("seconds", 0.0)), right, gradient)


def _first_difference(point: Point) -> int:
    pairs = zip(point.gradient, truth(point.program, point.size), strict=True)
    return next(i for i, (found, true) in enumerate(pairs) if not math.isclose(found, true, rel_tol=1e-9))


def _lines(process: "subprocess.Popen[bytes]") -> "queue.SimpleQueue[bytes]":
    """What the child tells, line by line as it comes; at last an empty one."""
    assert process.stdout is not None
    stdout: IO[bytes] = process.stdout
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        with contextlib.suppress(ValueError):  # closed, once nobody listens any more
            while line := stdout.readline(LONGEST_LINE):
                lines.put(line)
        lines.put(b"")

    threading.Thread(target=read, daemon=True).start()
    return lines
