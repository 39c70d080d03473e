"""Kernels heard out: every order of threads and the checked mode, whatever goes wrong in one of them."""

from graded import LAB

from autograder.judging.testimony import compared
from autograder.judging.trial import Finding
from autograder.judging.verdicts import Verdict
from autograder.judging.witness import KernelWitness, hear
from autograder.sandbox.client import Answer
from autograder.worker.codec import Report

RACE = Report("race", "error", "scale", "kernels.cu", 1, None, None, None, 1, "A race / 竞争")


class Kernels:
    """Kernels at work: y = 3x, but in the modes that crash; the checked mode sees a race."""

    hurry, kernels_problem = "", None

    def __init__(self, *crashes):
        self.crashes, self.workers = crashes, 0

    def worker(self, limits):
        self.workers += 1
        return self

    def run(self, program, inputs, mode):
        if mode in self.crashes:
            return Answer("crashed", detail="SIGSEGV")
        return Answer("ok", {"y": 3 * inputs["x"]}, reports=(RACE,) if mode == "checked" else ())

    def end(self, worker, limits):
        pass


class Plugin:
    """A check of values, and of reports on the same call."""

    def __init__(self):
        self.items = {"check": ["case"]}

    def run(self, item, trial, variant):
        trial.next_case()
        try:
            trial.compare("scale", x=1.0)
            trial.no_reports("scale", x=1.0)
        except Finding as finding:
            return Verdict("check", finding.outcome, finding.message)
        return Verdict("check", "passed")


def heard(kernels):
    task = LAB.tasks[0]
    witness = KernelWitness(kernels, lambda program, inputs: {"y": 2 * inputs["x"]}, task, task.limits)
    return hear(Plugin(), "check", witness, 0)


def test_kernels_are_heard_in_each_order_of_threads_and_in_checked_mode():
    said = heard(Kernels())
    assert [(one.mode, one.ended, len(one.wrong)) for one in said] == [
        ("forward", "", 1),
        ("reverse", "", 1),
        ("shuffled", "", 1),
        ("checked", "reported race", 0),
    ]


def test_a_crash_in_one_order_does_not_keep_the_others_from_being_heard():
    kernels = Kernels("reverse")
    assert [one.ended for one in heard(kernels)] == ["", "crashed", "", "reported race"]
    assert kernels.workers == 2


def test_a_call_counts_once_and_only_if_all_its_modes_are_alike():
    assert len(compared(heard(Kernels()), heard(Kernels()))[0]) == 1
    assert not compared(heard(Kernels("shuffled")), heard(Kernels()))[0]
