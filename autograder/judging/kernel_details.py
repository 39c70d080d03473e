"""Why a check of kernels failed: one launch that fails by itself, and what the checked mode saw in it.

Like details.py, it only explains. Whatever a worker reports of kernels may be made up by them.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from autograder.course import Lab
from autograder.sandbox.client import Worker
from autograder.worker import codec
from labkit.cuda.reports import KINDS
from labkit.messages import Message

from . import judge, readable
from .bench import Bench
from .details import Detail, FailedCall, worth_a_look
from .kernels import message_of
from .verdicts import Check, Verdict

SHOWN = 6  # reports of a check
LAUNCHES = "launches"  # the input of a program that lists its launches, a row (n, …) for each
_LIMITS = {"cpu_s": 2.0, "idle_s": 1.0, "wall_s": 4.0}


def look_at_kernels(
    lab: Lab,
    checks: list[Check],
    verdicts: list[Verdict],
    failed: dict[str, FailedCall],
    own: Bench,
    right: Bench,
) -> Iterator[Detail]:
    """A detail for the first wrong call of each task of kernels that failed. Raises: SandboxError."""
    for check in worth_a_look(lab, checks, verdicts, failed):
        task = lab.task(check.task)
        limits = msgspec.structs.replace(task.limits, **_LIMITS)
        workers = [bench.of(lab.launched(task)).worker(limits) for bench in (own, right)]
        try:
            yield _detail(check.id, failed[check.id], *workers)
        finally:
            for worker in workers:
                worker.end()


def _detail(check: str, call: FailedCall, own: Worker, right: Worker) -> Detail:
    smaller, message = None, None
    for inputs in _single_launches(call.inputs):
        if message := _wrong(call, inputs, own, right):
            smaller = inputs
            break
    reports = own.run(call.program, smaller or call.inputs, "checked").reports
    told = [message_of(one) for one in reports[:SHOWN]]
    kind = next((one.kind for one in reports if one.kind in KINDS), "")
    return Detail(
        check,
        call.program,
        readable.inputs(call.inputs),
        readable.inputs(smaller or {}),
        message,
        None,
        [],
        None,
        [one for one in told if one != message],
        kind,
    )


def _single_launches(inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same inputs with one launch alone, small ones first; one without any points says least."""
    launches = inputs.get(LAUNCHES)
    if isinstance(launches, np.ndarray) and launches.ndim == 2 and len(launches) > 1:
        for row in sorted(launches.tolist(), key=lambda row: (not row[0], row)):
            yield {**inputs, LAUNCHES: np.array([row])}


def _wrong(call: FailedCall, inputs: dict[str, Any], own: Worker, right: Worker) -> Message | None:
    """What is wrong with these inputs in the way the call went wrong, if both answer."""
    got = own.run(call.program, inputs, call.mode)
    if got.outcome != "ok":
        return None
    if call.mode == "checked":
        return next((message_of(one) for one in got.reports if _counts(one, call)), None)
    want = right.run(call.program, inputs, "forward")
    if want.outcome != "ok":
        return None
    return judge.first_difference(call.program, got.result, want.result, call.tolerance)


def _counts(report: codec.Report, call: FailedCall) -> bool:
    return report.severity == "error" and (call.only is None or report.kind in call.only)
