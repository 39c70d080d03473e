"""A failed check heard out: it goes on where numbers are wrong, and what was answered is kept.

A fault of ours is no answer: what was heard with it is worth nothing.
"""

from typing import Any

import numpy as np

from autograder.course import Limits, Task
from autograder.sandbox.client import Answer, SandboxError
from labkit.messages import Message

from . import judge
from .explain import in_full
from .plugin import Plugin
from .subject import Subject
from .testimony import Said, law, name_of, said
from .trial import Call, Finding, KernelTrial, Reference, Trial

_LAWS = ("judging.law", "judging.law-untold")
MOST = 64  # answers of a check
MOST_GONE = 2  # workers of a check that time out, or end otherwise


class Witness(Trial):
    """A trial that notes what is wrong and goes on."""

    def __init__(self, subject: Subject, reference: Reference, task: Task, limits: Limits) -> None:
        super().__init__(subject, reference, task, limits)
        self.said: dict[tuple[str, str], Said] = {}
        self.gone = 0  # workers that did not outlive a call
        self.watch = self._note

    def _note(self, call: Call) -> None:
        if self.last_call and len(self.said) < MOST:
            only = self.last_call.only if call.mode != "checked" else None
            one = said(call, only)
            self.said.setdefault((one.call, one.mode), one)

    def _refuse(self, found: Message | None) -> None:
        """Nothing: what is wrong was noted when it was answered."""

    def _answer(
        self, program: str, inputs: dict[str, Any], want: dict[str, Any], tolerance: float | None
    ) -> Answer:
        """The subject's answer; the right one instead where a test could not go on with it.

        Raises: Finding (grader-fault), SandboxError.
        """
        try:
            answer = super()._answer(program, inputs, want, tolerance)
        except Finding as finding:
            if finding.outcome == "grader-fault":
                raise
            if finding.outcome != "crashed" or finding.message.id == "judging.signal":  # the worker is gone
                self.end()
                self._worker = None
                self.gone += 1
            return Answer("ok", want)
        misfit = judge.first_misfit(program, answer.result, want)
        return Answer("ok", want, reports=answer.reports) if misfit else answer

    def broke(self, words: str) -> None:
        """A law did not hold."""
        if self.last_call:
            one = law(name_of(self.last_call.program, self.last_call.inputs), words)
            self.said.setdefault((one.call, one.mode), one)


class KernelWitness(Witness, KernelTrial):
    """The same for a task of kernels."""


def hear(plugin: Plugin, check: str, witness: Witness, variant: int) -> list[Said]:
    """All that a subject answers to the cases of a check, in one worker while it lives.

    Raises: SandboxError, for whatever is a grader's fault.
    """
    try:
        with np.errstate(all="ignore"):  # laws of wrong numbers
            for item in plugin.items[check]:
                verdict = plugin.run(item, witness, variant)
                if verdict.outcome == "grader-fault" and verdict.message:
                    raise SandboxError(in_full(verdict.message))
                if verdict.message and verdict.message.id in _LAWS:
                    witness.broke(str(verdict.message.arguments.get("text", "")))
                if witness.gone >= MOST_GONE:
                    break
    finally:
        witness.end()
    return list(witness.said.values())
