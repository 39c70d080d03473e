"""Why a check failed, beyond its verdict: a smaller input that fails too, and the first wrong node.

Run after all verdicts of a submission are in. What is found depends on the machine's speed, so it belongs to
the facts and never to the record; it changes no verdict, and where anything fails there are no details.
"""

import contextlib
import math
import time
from collections.abc import Collection, Container, Iterator
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from autograder.course import Lab, Limits
from autograder.sandbox.client import Worker
from autograder.worker import codec
from labkit.messages import Message

from . import judge, readable, shrink
from .subject import Subject
from .trace import Parting, Trace, first_parting
from .verdicts import Check, Verdict

BUDGET_S = 0.8  # for all shrinking of one submission
_SHORT = {"cpu_s": 0.5, "idle_s": 0.5, "wall_s": 2.0}


class FailedCall(NamedTuple):
    """The call after which a check ended as wrong; with `only`, the rest of its answer was not compared.

    `mode`: how its kernels ran, "" for a task of modules; of a checked run, `only` has the kinds of reports.
    """

    program: str
    inputs: dict[str, Any]
    tolerance: float | None = None
    only: Collection[str] | None = None
    mode: codec.Mode = ""


class Part(msgspec.Struct, frozen=True):
    """A summand of a node's number: along which node, local derivative times that node's own number."""

    name: str
    partial: str
    number: str


class Found(msgspec.Struct, frozen=True):
    """The first wrong node, in words.

    `node` is its place among the drawn ones, `other` the name of a second one: a slot's input, or what stands
    on the wrong side in an order. Numbers that are none are "".
    """

    kind: Literal["structure", "value", "partial", "tangent", "adjoint", "order"]
    node: int
    expected: str
    got: str
    other: str
    parts: list[Part]
    mistake: str


class Detail(msgspec.Struct, frozen=True):
    """What a page shows of a failed check. `smaller` and its `message` are of a smaller failing input.

    `reports`: what the checked mode saw of kernels besides; `kind` is that of the first report.
    `family`: of typical mistakes, "" if it is unknown or one of `families`, whose `topics` are in words;
    `hint`: about the mistake. Both by language.
    """

    check: str
    program: str
    inputs: list[tuple[str, str]]
    smaller: list[tuple[str, str]]
    message: Message | None
    mode: Literal["graph", "order", "forward_mode", "reverse_mode"] | None
    nodes: list[readable.Drawn]
    found: Found | None
    reports: list[Message] = []
    kind: str = ""
    family: str = ""
    families: tuple[str, ...] = ()
    topics: list[dict[str, str]] = []
    hint: dict[str, str] = {}


def look_closer(
    lab: Lab,
    checks: list[Check],
    verdicts: list[Verdict],
    failed: dict[str, FailedCall],
    own: Subject,
    right: Subject,
) -> list[Detail]:
    """A detail for the first wrong comparison of each task that failed by itself, if one can be found."""
    until = time.monotonic() + BUDGET_S
    found = []
    for check in worth_a_look(lab, checks, verdicts, failed):
        if time.monotonic() < until:
            with contextlib.suppress(Exception):  # it only explains
                limits = msgspec.structs.replace(lab.task(check.task).limits, **_SHORT)
                found.append(_detail(check.id, failed[check.id], own, right, limits, until))
    return found


def worth_a_look(
    lab: Lab, checks: list[Check], verdicts: list[Verdict], failed: Container[str]
) -> Iterator[Check]:
    """The first wrong check of each task that failed by itself."""
    outcomes = {verdict.check: verdict.outcome for verdict in verdicts}
    broken = {check.task for check in checks if outcomes[check.id] != "passed"}
    for task in lab.tasks:
        own = [check for check in checks if check.task == task.id and check.points]
        wrong = [check for check in own if outcomes[check.id] == "wrong" and check.id in failed]
        if wrong and not broken & set(task.needs):
            yield wrong[0]


def _detail(
    check: str, call: FailedCall, own: Subject, right: Subject, limits: Limits, until: float
) -> Detail:
    def pair() -> _Pair:  # afresh each time: what earlier calls left behind would be in the way
        return _Pair(own, right, limits, call)

    smaller = None
    with pair() as searching:
        first = searching.message(call.inputs)
        if first:  # a failure that only a law tells is not looked for again
            seconds = min(shrink.SECONDS, until - time.monotonic())
            smaller = shrink.smaller(
                call.inputs, lambda inputs: _alike(first, searching.message(inputs)), seconds=seconds
            )
    with pair() as traced:
        message = traced.message(smaller) if smaller else None
        if not _alike(first, message):
            smaller = message = None
        theirs, found = _first(traced.passes(smaller or call.inputs))
    if smaller and found and found.mistake not in ("", "missing"):
        with pair() as original:
            found = _unless_by_chance(found, _first(original.passes(call.inputs))[1])
    names = readable.Names(theirs) if theirs else None
    return Detail(
        check,
        call.program,
        readable.inputs(call.inputs),
        readable.inputs(smaller or {}),
        message,
        theirs.kind if theirs else None,
        names.nodes() if names else [],
        found,
    )


def _unless_by_chance(found: Found, original: Found | None) -> Found:
    """Simple numbers look alike: what a number looks like must hold at the original input as well."""
    if original is None or original.mistake == found.mistake:
        return found
    return msgspec.structs.replace(found, mistake="")


def _first(passes: list[tuple[Trace, Trace]]) -> tuple[Trace | None, Found | None]:
    """The pass to draw, with its first wrong node; without one, the first pass."""
    for own, right in passes:
        parting = first_parting(own, right)
        if parting and not right.is_constant(parting.node):
            return right, _in_words(parting, own, right)
    return (passes[0][1] if passes else None), None


def _in_words(parting: Parting, own: Trace, right: Trace) -> Found:
    names = readable.Names(right)
    expected, got = readable.number(parting.expected), readable.number(parting.got)
    if expected == got:
        expected, got = readable.number(parting.expected, 17), readable.number(parting.got, 17)
    if parting.kind == "structure":
        expected, got = names.formula(parting.node), readable.Names(own).formula(parting.node)
    return Found(
        parting.kind,
        names.place[parting.node],
        expected,
        got,
        "" if parting.other is None else names.name(parting.other),
        [Part(names.name(node), *map(readable.number, numbers)) for node, *numbers in parting.parts],
        parting.mistake,
    )


class _Pair:
    """A fresh worker of the submission and one of the reference, side by side."""

    def __init__(self, own: Subject, right: Subject, limits: Limits, call: FailedCall) -> None:
        self._call = call
        self._own, self._right = own.worker(limits), right.worker(limits)

    def message(self, inputs: dict[str, Any]) -> Message | None:
        """What is wrong for these inputs, if both answer."""
        call = self._call
        want, got = (worker.run(call.program, inputs) for worker in (self._right, self._own))
        if want.outcome != "ok" or got.outcome != "ok" or not _finite(want.result):
            return None
        expected = want.result if call.only is None else judge.part(want.result, call.only)
        return judge.first_difference(call.program, got.result, expected, call.tolerance)

    def passes(self, inputs: dict[str, Any]) -> list[tuple[Trace, Trace]]:
        """The passes both runs told of, side by side. Raises: ValueError for a telling without sense."""
        own, right = (self._told(worker, inputs) for worker in (self._own, self._right))
        return list(zip(own, right, strict=False))

    def _told(self, worker: Worker, inputs: dict[str, Any]) -> list[Trace]:
        answer = worker.run("trace", {"program": self._call.program, "inputs": inputs})
        passes = answer.result.get("passes")
        return [Trace.told(one) for one in passes] if isinstance(passes, list) else []

    def __enter__(self) -> "_Pair":
        return self

    def __exit__(self, *error: object) -> None:
        self._own.end()
        self._right.end()


def _alike(one: Message | None, other: Message | None) -> bool:
    """Whether the same quantity is wrong in the same way."""
    if one is None or other is None:
        return False
    return one.id == other.id and _quantity(one) == _quantity(other)


def _quantity(message: Message) -> str:
    return str(message.arguments.get("quantity", "")).partition("[")[0]


def _finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list):
        return all(map(_finite, value))
    if isinstance(value, np.ndarray):
        return bool(np.isfinite(value).all())
    return not isinstance(value, float) or math.isfinite(value)
