"""A replayed check, for the TA's terminal. Whatever a student wrote or printed moves no cursor there."""

import signal
from collections.abc import Iterator
from typing import Any

from autograder.batch.store import Stored
from autograder.judging.protocol import CallStory, CaseStory, Replayed

from .table import printable


def lines(replayed: Replayed, stored: Stored | None) -> Iterator[str]:
    """Cases with their calls, then what each process printed and used, then the outcome."""
    for case in replayed.cases:
        yield from _case(case)
    for fact in replayed.facts:
        if fact["check"] == replayed.check or fact.get("printed"):
            yield from _process(fact)
    verdict = replayed.verdict
    yield f"{replayed.check}, variant {replayed.variant}: {verdict.outcome}"
    if verdict.message:
        yield from _escaped(verdict.message.text("en"), "  ")
    yield from _compared(replayed, stored)


def _case(case: CaseStory) -> Iterator[str]:
    yield f"{printable(case.id)}: {case.outcome}"
    for call in case.calls:
        yield from _call(call)
    if case.message:
        yield from _escaped(case.message.text("en"), "  ")


def _call(call: CallStory) -> Iterator[str]:
    yield f"  {call.program}"
    for name, value in call.inputs.items():
        yield from _named(name, value, "    ")
    yield from _escaped(f"-> {call.ending}", "    ")
    for frame in call.frames:
        yield from _escaped(frame, "       ")
    for quantity in call.quantities:
        yield from _escaped(quantity.name, "    ")
        if quantity.expected:
            yield from _named("expected", quantity.expected, "      ")
        yield from _named("got     ", quantity.got, "      ")
        if quantity.difference:
            yield f"      differs by {quantity.difference}"


def _process(fact: dict[str, Any]) -> Iterator[str]:
    if "compiler_s" in fact:
        yield f"{fact['check']}: {fact['compiler_s']:.3f} s of CPU"
        return
    if "cpu_s" not in fact:
        yield f"{fact['check']}: it never started"
        return
    used = f"{fact['cpu_s']:.3f} s of CPU, {fact['memory_mb']} MB, {fact['wall_s']:.3f} s"
    yield f"{fact['check']}: {used}{_ended(fact)}"
    if fact["printed"]:
        yield "  printed:"
        yield from _escaped(fact["printed"], "  | ")


def _ended(fact: dict[str, Any]) -> str:
    """How the process came to its end, if not by the grader when all was said."""
    status = int(fact["status"])
    if fact["killed"] or status == 0:
        return ""
    if status < 0:
        return f", ended by signal {-status} ({signal.strsignal(-status) or 'without a name'})"
    return f", exit code {status}"


def _compared(replayed: Replayed, stored: Stored | None) -> Iterator[str]:
    """What is stored of the same check; `blocked` stands there for other outcomes."""
    checks = [check for task in stored.result.tasks for check in task.checks] if stored else []
    for check in checks:
        if stored and check.id == replayed.check:
            points = "?" if check.points is None else check.points
            same = stored.record.hashes["submission"] == replayed.digest
            work = "" if same else ", of other work than lies there now"
            needs = " (a task it needs failed)" if check.outcome == "blocked" else ""
            yield f"stored: {check.outcome}{needs}, {points} of {check.max} points{work}"
            return
    yield "stored: nothing"


def _named(name: str, value: str, indent: str) -> Iterator[str]:
    first, *rest = value.split("\n")
    yield f"{indent}{printable(name)} = {printable(first)}"
    yield from (f"{indent}{' ' * (len(name) + 3)}{printable(line)}" for line in rest)


def _escaped(text: str, indent: str) -> Iterator[str]:
    return (indent + printable(line) for line in text.rstrip("\n").split("\n"))
