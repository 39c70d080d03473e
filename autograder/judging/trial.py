"""One check for one subject: what its fixtures talk to, and the reference's answers they compare with."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from autograder.course import Limits, Task
from autograder.sandbox.client import Answer, Facts, Worker
from autograder.worker import codec
from labkit.messages import Message

from . import judge
from .bench import Bench
from .details import FailedCall
from .explain import clean, describe, explain
from .kernels import message_of
from .subject import Subject

NOT_COMPILED = "CompileError"  # of labkit.cuda
REFERENCE_LIMITS = Limits(cpu_s=60, idle_s=60, wall_s=120, memory_mb=4096)


class Finding(AssertionError):
    """A check that did not pass, with its outcome and the sentence for the student."""

    def __init__(self, outcome: str, message: Message) -> None:
        super().__init__(f"{outcome}: {message.text('en')}")
        self.outcome, self.message = outcome, message


class Reference:
    """The reference's answers, from a worker like any other, computed once for each call.

    `mode`: how its kernels run, if it is a reference of kernels.
    """

    def __init__(self, subject: Subject, mode: codec.Mode = "") -> None:
        self._subject, self._mode = subject, mode
        self._worker: Worker | None = None
        self._known: dict[bytes, dict[str, Any]] = {}

    def from_now_on(self, subject: Subject) -> "Reference":
        """The same answers, further ones by `subject`: after a fork, the worker belongs to the parent."""
        moved = Reference(subject, self._mode)
        moved._known = self._known
        return moved

    def __call__(self, program: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Raises: Finding (grader-fault) if the reference gives no answer."""
        name = call_name(program, inputs)
        if name not in self._known:
            self._known[name] = self._compute(program, inputs)
        return self._known[name]

    def _compute(self, program: str, inputs: dict[str, Any]) -> dict[str, Any]:
        answer = self._run(program, inputs)
        if answer.outcome == "timed-out":  # a worker's clocks run over all its calls, and this one lives long
            answer = self._run(program, inputs)
        if answer.outcome == "ok":
            if answer.result.keys() <= {"scale"}:
                raise fault(f"{program} gives nothing to compare: everybody would pass")
            return answer.result
        if answer.outcome == "grader-fault":
            self._subject.reopen()
        words = answer.failure.text if answer.failure else answer.detail
        raise fault(f"the reference gives no answer to {program}: {answer.outcome} {words}")

    def _run(self, program: str, inputs: dict[str, Any]) -> Answer:
        if self._worker is None:
            self._worker = self._subject.worker(REFERENCE_LIMITS)
        answer = self._worker.run(program, inputs, self._mode)
        if answer.outcome != "ok":
            self._worker.end()
            self._worker = None
        return answer


class References:
    """The reference's answers for modules, and for each file of kernels."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._known: dict[str, Reference] = {}

    def of(self, launched: str) -> Reference:
        """Those of a file of kernels, "": of modules. Raises: SandboxError."""
        if launched not in self._known:
            self._known[launched] = Reference(self._bench.of(launched), "forward" if launched else "")
        return self._known[launched]

    def from_now_on(self, bench: Bench) -> "References":
        """The same answers, further ones from another bench."""
        moved = References(bench)
        moved._known = {name: one.from_now_on(bench.of(name)) for name, one in self._known.items()}
        return moved


def call_name(program: str, inputs: dict[str, Any]) -> bytes:
    """The same for the same program with the same inputs. Raises: BadMessage for what can't be sent."""
    return codec.encode(codec.Call("run", program, codec.to_wire(inputs)))


def fault(text: str) -> Finding:
    """Something of ours failed; the words are for the course team, students read that it was not they."""
    return Finding("grader-fault", Message("judging.grader-fault", {"text": clean(text)}))


@dataclass(frozen=True)
class Call:
    """A call that a check made, as it ended; `want`: what the reference answers."""

    program: str
    inputs: dict[str, Any]
    answer: Answer
    want: dict[str, Any]
    tolerance: float | None
    mode: codec.Mode = ""


class Trial:
    """One check, run for one subject in one worker: what its fixtures talk to. The caller ends it."""

    watch: Callable[[Call], None] | None = None

    modes: tuple[codec.Mode, ...] = ("",)  # a program runs once in each

    def __init__(self, subject: Subject, reference: Reference, task: Task, limits: Limits) -> None:
        self._subject, self._reference, self._task, self._limits = subject, reference, task, limits
        self._worker: Worker | None = None
        self._compared: dict[tuple[str, bytes], float | None] = {}  # with which tolerance
        self._submitted: set[tuple[str, bytes]] = set()
        self.last_call: FailedCall | None = None

    def next_case(self) -> None:
        """Forget what the last case ran."""
        self._compared.clear()
        self._submitted.clear()

    def uncompared(self) -> list[str]:
        """Programs of this case that ran for a law, and never with inputs that were compared as well."""
        programs = {program for program, _ in self._submitted}
        return sorted(programs - {program for program, _ in self._submitted & self._compared.keys()})

    def is_compared(self, call: Call) -> bool:
        """Whether this case compares the answer of such a call, with the tolerance of this one."""
        name = (call.program, call_name(call.program, call.inputs))
        return name in self._compared and self._compared[name] == call.tolerance

    def submission(self, program: str, **inputs: Any) -> dict[str, Any]:
        """The subject's answer alone, for laws; the case must also `compare` one of these calls.

        It has the keys, kinds, dtypes and shapes of the reference's answer: a law may rely on them.
        """
        __tracebackhide__ = True
        self._submitted.add((program, call_name(program, inputs)))
        want = self._reference(program, inputs)
        answers = []
        for mode in self.modes:
            self.last_call = FailedCall(program, inputs, mode=mode)
            answers.append(self._call(program, inputs, want))
            self._refuse(judge.first_misfit(program, answers[-1], want))
        return answers[0]

    def compare(
        self,
        program: str,
        tolerance: float | None = None,
        only: Collection[str] | None = None,
        **inputs: Any,
    ) -> dict[str, Any]:
        """Run a program on the subject and on the reference; the numbers must agree.

        `only`: the quantities to compare, where the rest is for laws, as an order that need not be ours is.
        Returns the subject's answer, which has the structure of the reference's.
        """
        __tracebackhide__ = True
        self._compared[program, call_name(program, inputs)] = tolerance
        want = self._reference(program, inputs)
        expected = want if only is None else judge.part(want, only)
        if only is not None and len(expected) < len(only):
            raise fault(f"the reference's answer to {program} has not all of {', '.join(only)}")
        answers = []
        for mode in self.modes:
            self.last_call = FailedCall(program, inputs, tolerance, only, mode)
            got = self._call(program, inputs, want, tolerance)
            if only is not None:
                self._refuse(judge.first_misfit(program, got, want))
            self._refuse(judge.first_difference(program, got, expected, tolerance))
            answers.append(got)
        return answers[0]

    def _refuse(self, found: Message | None) -> None:
        """Raises: Finding (wrong), with the call."""
        __tracebackhide__ = True
        if found and self.last_call:
            # It costs more than comparing, so only now.
            call = describe(self.last_call.program, self.last_call.inputs, self.last_call.mode)
            raise Finding("wrong", Message(found.id, {**found.arguments, "call": call}))

    def _call(
        self,
        program: str,
        inputs: dict[str, Any],
        want: dict[str, Any],
        tolerance: float | None = None,
    ) -> dict[str, Any]:
        __tracebackhide__ = True
        return self._answer(program, inputs, want, tolerance).result

    def _answer(
        self, program: str, inputs: dict[str, Any], want: dict[str, Any], tolerance: float | None
    ) -> Answer:
        """What the subject answers to the last call. Raises: Finding where it gives no answer."""
        __tracebackhide__ = True
        mode = self.last_call.mode if self.last_call else ""
        if self._worker is None:
            self._worker = self._subject.worker(self._limits)
        answer: Answer = self._worker.run(program, inputs, mode)
        if self.watch:
            self.watch(Call(program, inputs, answer, want, tolerance, mode))
        if answer.outcome == "ok":
            return answer
        if answer.failure and answer.failure.name == NOT_COMPILED and self._subject.kernels_problem:
            raise Finding(*self._subject.kernels_problem)
        call = describe(program, inputs, mode)
        raise Finding(*explain(answer, call, self._task, self._limits, self._subject.hurry))

    def end(self) -> Facts | None:
        """End the worker; the kernel's facts about it, None if it never started."""
        return self._subject.end(self._worker, self._limits) if self._worker else None


class KernelTrial(Trial):
    """One check of a task of kernels: values in each order of threads, and what the checked mode reports."""

    modes = ("forward", "reverse", "shuffled")

    def no_reports(self, program: str, *kinds: str, **inputs: Any) -> None:
        """A program in checked mode reports no error of these kinds (none given: of any), and computes right.

        The case must also `compare` this call, and first: a kernel that does nothing makes no mistake.
        Raises: Finding.
        """
        __tracebackhide__ = True
        call = (program, call_name(program, inputs))
        self._submitted.add(call)
        tolerance = self._compared.get(call)
        self.last_call = FailedCall(program, inputs, tolerance, kinds or None, "checked")
        want = self._reference(program, inputs)
        answer = self._answer(program, inputs, want, tolerance)
        errors = [
            one for one in answer.reports if one.severity == "error" and (not kinds or one.kind in kinds)
        ]
        if errors:
            raise Finding("wrong", message_of(errors[0]))
        self._refuse(judge.first_difference(program, answer.result, want, tolerance))
