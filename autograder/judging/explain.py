"""From what the sandbox says about a call to an outcome and a sentence a student can act on."""

import math
import re
from typing import Any

import numpy as np

from autograder.course import Limits, Task
from autograder.sandbox.client import Answer
from autograder.worker.cells import MissingCell
from autograder.worker.codec import Failure, Frame
from labkit.messages import Message

from .judge import number, shorten
from .subject import Hurry

# Addresses and the sandbox's folders differ from run to run and level to level; records must not.
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_PLACE = re.compile(r" \([\w.]+, line \d+\)$")  # what Python adds to a syntax error, and we say ourselves
_CELL = re.compile(r".*\.ipynb \[(.*)\]\Z")  # how a cell's lines are told
_FOLDER = re.compile(r"(?<![\w/.])(?:/sub|(?:/[^\s/]+)*/adkit-sub-\w+)/")


SHOWN = 6  # of an array or a list: more numbers say less


# The first order is the plain one: it needs no words.
_ORDERS = {"reverse": "threads in reverse / 线程逆序", "shuffled": "threads shuffled / 线程乱序"}


def describe(program: str, inputs: dict[str, Any], mode: str = "") -> str:
    """A call as messages show it: program(name=value, …), in every language alike.

    `mode`: the order of a kernel's threads, of which a right kernel is independent.
    """
    shown = (f"{name}={shorten(brief(value), 60)}" for name, value in inputs.items())
    order = f" [{_ORDERS[mode]}]" if mode in _ORDERS else ""
    return shorten(f"{program}({', '.join(shown)})", 160) + order


def brief(value: Any) -> str:
    """A value on part of a line: few numbers in full, of more only their kind and how many."""
    if isinstance(value, np.ndarray):
        if value.size <= SHOWN and math.prod(value.shape[1:]):
            return brief(value.tolist())
        return f"{value.dtype}[{'×'.join(map(str, value.shape))}]"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(brief, value))}]" if len(value) <= SHOWN else f"list[{len(value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {brief(inner)}" for name, inner in value.items()) + "}"
    return number(value) if isinstance(value, float) else clean(str(value))


def in_full(message: Message) -> str:
    """What the course team reads, in English: a fault of ours with its words, which students don't get."""
    if message.id == "judging.grader-fault":
        return Message("judging.grader-fault-in-full", message.arguments).text("en")
    return message.text("en")


def explain(answer: Answer, call: str, task: Task, limits: Limits, hurry: Hurry = "") -> tuple[str, Message]:
    """Outcome and message of a call that gave no result; `hurry`: why its limits were cut short."""
    if answer.outcome == "raised" and answer.failure:
        outcome, name, arguments = _of_exception(answer.failure, task)
    elif answer.outcome == "timed-out" and hurry:  # the limit depends on this machine; records must not
        outcome, name, arguments = "timed-out", f"timed-out-{hurry}", {}
    elif answer.outcome == "timed-out":
        limit = {"cpu": limits.cpu_s, "idle": limits.idle_s, "wall": limits.wall_s}[answer.detail]
        outcome, name, arguments = "timed-out", f"timed-out-{answer.detail}", {"limit": f"{limit:g}"}
    elif answer.outcome == "crashed":
        outcome, name, arguments = "crashed", "signal", {"signal": answer.detail}
    else:
        outcome = name = answer.outcome
        arguments = {"text": clean(answer.detail), "limit": limits.memory_mb}
    return outcome, Message(f"judging.{name}", {"call": call, **arguments})


def clean(text: str, length: int = 200) -> str:
    """A student's or the system's words on one line, without addresses and control characters."""
    line = " ".join(text[:2000].split())
    plain = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
    return shorten(_FOLDER.sub("", _ADDRESS.sub("0x…", plain)), length)


def _of_exception(failure: Failure, task: Task) -> tuple[str, str, dict[str, str | int | float]]:
    frame = failure.frames[-1] if failure.frames else Frame("", 0, "", "")
    name, text = clean(failure.name), _PLACE.sub("", clean(failure.text))
    where: dict[str, str | int | float] = {
        "error": f"{name}: {text}" if text else name,
        "text": text,
        "file": clean(frame.file),
        "line": frame.line,
        "code": clean(frame.text) or "…",
    }
    if failure.name == "BadMessage":
        return "wrong", "no-number", where
    if failure.builtin == "NotImplementedError" and failure.frames:
        function = _CELL.sub(r"\1", frame.file) if _CELL.match(frame.file) else frame.function
        outcome = "not-attempted" if any(function == blank.name for blank in task.blanks) else "blocked"
        return outcome, outcome, {**where, "name": clean(function)}
    if failure.name == MissingCell.__name__ and not failure.frames:
        return "crashed", "no-cell", where
    if not failure.frames:
        return "crashed", "exception-outside", where
    return "crashed", _kind_of(failure), where


def _kind_of(failure: Failure) -> str:
    if failure.builtin in ("SyntaxError", "IndentationError", "TabError"):
        return "syntax"
    if failure.builtin == "ModuleNotFoundError":
        return "no-module"
    if failure.builtin == "ImportError":
        return "no-name"
    if failure.name == "BdbQuit":
        return "debugger"
    if failure.builtin == "EOFError" and "EOF when reading" in failure.text:
        return "input"
    if failure.builtin == "PermissionError":
        return "refused"
    if failure.builtin == "RecursionError":
        return "recursion"
    return "exception"
