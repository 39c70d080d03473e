"""What speaks for a mistake and what it may cost to ask, with programs that answer at once."""

import pytest
from graded import LAB

from autograder.judging import diagnosis
from autograder.judging.diagnosis import Diagnostician
from autograder.judging.mistakes import Hint, Mistake, Title
from autograder.judging.remembered import Remembered
from autograder.judging.trial import Finding, fault
from autograder.judging.verdicts import Check, Verdict
from autograder.sandbox.client import Answer, SandboxError

CALLS = (1.0, 2.0, 3.0)
CHECK, OTHER = (Check(f"test_order.py::test_{n}", "order", 2, {"zh": n, "en": n}) for n in ("one", "two"))
SLOW, DEAD = Answer("timed-out", detail="cpu"), Answer("crashed", detail="SIGSEGV")
GONE = Answer("grader-fault", detail="the jail is gone")
HINT, TOPIC = Hint("想。", "Think."), Title("顺序", "Order")


def double(x):
    return 2 * x


class Work:
    """Someone's work at a bench: `function`(x) for each call, a number or how it ends."""

    hurry, kernels_problem = "", None

    def __init__(self, function, on_call=lambda: None, on_reopen=lambda: None):
        self.function, self.on_call, self.reopen, self.workers = function, on_call, on_reopen, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def of(self, launched):
        return self

    def worker(self, limits):
        self.workers += 1
        return Worker(self)

    def end(self, worker, limits):
        pass


class Worker:
    """It says how it ended to whoever asks further."""

    def __init__(self, work):
        self.work, self.over = work, None

    def run(self, program, inputs, mode):
        self.work.on_call()
        said = self.over or self.work.function(inputs["x"])
        if isinstance(said, Answer):
            self.over = said
            return said
        return Answer("ok", {"y": said})


class References:
    def of(self, launched):
        return lambda program, inputs: {"y": double(inputs["x"])}


class Plugin:
    """One check of three calls, each a case, and maybe another of these and one more."""

    def __init__(self, others):
        self.checks, self.items = (CHECK, *others), {CHECK.id: CALLS, OTHER.id: (*CALLS, 4.0)}

    def run(self, item, trial, variant):
        trial.next_case()
        try:
            trial.compare("program", x=item + variant)
        except Finding as finding:
            return Verdict(CHECK.id, finding.outcome, finding.message)
        except SandboxError as error:
            return Verdict(CHECK.id, "grader-fault", fault(str(error)).message)
        return Verdict(CHECK.id, "passed")


def asked(tmp_path, *mistakes, works=None, others=()):
    """A diagnostician who knows these, each a family of its own, and what each is made to answer."""
    known = [Mistake(str(n), f"family-{n}", TOPIC, ("order",), HINT, {}) for n in range(len(mistakes))]
    made = works or [Work(function) for function in mistakes]
    return Diagnostician(
        LAB, Plugin(others), References(), lambda one: made[int(one.id)], Remembered(tmp_path), known
    )


def named(diagnostician, own, outcome="wrong"):
    own = own if isinstance(own, Work) else Work(own)
    found = diagnostician.diagnose(own, [Verdict(CHECK.id, outcome)], {}, 5)
    return [(one.family, one.families) for one in found]


def test_who_is_slow_on_the_same_calls_made_the_mistake(tmp_path):
    known = asked(tmp_path, lambda x: SLOW)
    assert named(known, lambda x: SLOW, "timed-out") == [("family-0", ("family-0",))]


def test_who_is_slow_where_the_mistake_costs_nothing_is_slow_for_another_reason(tmp_path):
    known = asked(tmp_path, lambda x: SLOW if x > 1 else 2 * x)
    assert named(known, lambda x: SLOW, "timed-out") == []


def test_who_is_right_where_the_mistake_is_slow_did_not_make_it(tmp_path):
    known = asked(tmp_path, lambda x: SLOW)
    assert named(known, lambda x: SLOW if x in (1, 3) else 2 * x, "timed-out") == []


def test_a_topic_is_told_where_answers_speak_for_it_and_not_where_time_alone_does(tmp_path):
    for outcome, own, topics in (("wrong", lambda x: 3 * x, (TOPIC,)), ("timed-out", lambda x: SLOW, ())):
        known = asked(tmp_path / outcome, own)
        (told,) = known.diagnose(Work(own), [Verdict(CHECK.id, outcome)], {}, 5)
        assert (told.family, told.topics) == ("family-0", topics)


def test_after_a_crash_the_next_case_has_a_worker_of_its_own(tmp_path):
    known = asked(tmp_path, lambda x: 3 * x)
    own = Work(lambda x: DEAD if x == 6 else 3 * x)
    assert named(known, own) == [("family-0", ("family-0",))]
    assert own.workers == 2


def tripled_below(bound):
    return lambda x: 3 * x if x < bound else 2 * x


@pytest.mark.parametrize(
    ("own", "mistake", "found"),
    [
        (9, 9, [(CHECK.id,)]),  # only the call that the check has alone is at 9
        (9, 99, []),
        (99, 99, [(CHECK.id,)]),  # as wrong as the mistake in what that check does not judge
    ],
)
def test_who_is_right_in_what_passed_where_the_mistake_is_wrong_did_not_make_it(
    tmp_path, own, mistake, found
):
    known = asked(tmp_path, tripled_below(mistake), others=(OTHER,))
    verdicts = [Verdict(CHECK.id, "wrong"), Verdict(OTHER.id, "passed")]
    told = known.diagnose(Work(tripled_below(own)), verdicts, {}, 5)
    assert [one.checks for one in told if one.family == "family-0"] == found


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when a test says so."""
    now = [0.0]
    monkeypatch.setattr(diagnosis.time, "monotonic", lambda: now[0])
    return now


def test_beyond_its_budget_a_task_gets_no_hint_until_all_mistakes_have_been_asked(tmp_path, clock):
    def pass_time():
        clock[0] += diagnosis.BUDGET_S

    works = [Work(function, pass_time) for function in (lambda x: 3 * x, lambda x: 4 * x)]
    known = asked(tmp_path, *works, works=works)
    assert named(known, lambda x: 3 * x) == []
    assert [work.workers for work in works] == [1, 0]
    assert named(known, lambda x: 3 * x) == [("family-0", ("family-0",))]
    assert [work.workers for work in works] == [1, 1]


def test_work_that_takes_long_is_not_heard_out_for_ever(tmp_path, clock):
    def pass_time():
        clock[0] += diagnosis.BUDGET_S

    known, own = asked(tmp_path, lambda x: 3 * x, lambda x: 3 * x), Work(lambda x: 3 * x, pass_time)
    assert named(known, own) == []  # both fit, and another variant's inputs would have to tell
    assert own.workers == 1


class Failing(Work):
    """Work whose sandbox fails, by an answer or while a worker starts, until reopened so often."""

    def __init__(self, function, faults, starting):
        super().__init__(self.answer, on_reopen=self.mend)
        self.right, self.faults, self.starting = function, faults, starting

    def mend(self):
        self.faults -= 1

    def answer(self, x):
        return GONE if self.faults > 0 else self.right(x)

    def worker(self, limits):
        if self.starting and self.faults > 0:
            raise SandboxError("the jail is gone")
        return super().worker(limits)


@pytest.mark.parametrize("starting", [True, False])
def test_a_sandbox_that_fails_once_is_asked_once_more(tmp_path, starting):
    works = [Failing(lambda x: 3 * x, 1, starting)]
    known = asked(tmp_path, lambda x: 3 * x, works=works)
    assert named(known, Failing(lambda x: 3 * x, 1, starting)) == [("family-0", ("family-0",))]


@pytest.mark.parametrize("starting", [True, False])
def test_a_fault_of_ours_is_never_kept_as_what_a_mistake_answers(tmp_path, starting):
    works = [Work(lambda x: 4 * x), Failing(lambda x: 3 * x, 2, starting)]
    assert named(asked(tmp_path, *works, works=works), lambda x: 3 * x) == []
    again = asked(tmp_path, *works, works=works)  # as another process, with what is on disk
    assert named(again, lambda x: 3 * x) == [("family-1", ("family-1",))]
    assert works[0].workers == 1  # what was heard in full before the fault is kept
