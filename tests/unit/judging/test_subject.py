"""How much time a submission gets, and how much less once it has wasted what it had."""

import pytest

from autograder.course import Limits
from autograder.judging.subject import Sandbox, Subject

PROGRAMS = "def f(lab): return lab.m.f()"
LIMITS = Limits(cpu_s=2, idle_s=1.5, wall_s=30, memory_mb=256)
NAPS = "import time\ndef f():\n    time.sleep(0.2)\n    return {'y': 1.0}\n"
COMPUTES = "import time\ndef f():\n    while time.process_time() < 0.2: pass\n    return {'y': 1.0}\n"
COSTLY = "import time\nwhile time.process_time() < 0.3: pass\ndef f(): return {'y': 1.0}\n"


@pytest.fixture
def opened(level):
    """Makes a subject of one module."""
    sandbox = Sandbox(level)
    subjects = []

    def opened(source):
        subjects.append(Subject(sandbox, {"m.py": source}, PROGRAMS, ["m"]))
        return subjects[-1]

    yield opened
    for subject in subjects:
        subject.close()
    sandbox.close()


def run(subject, limits):
    worker = subject.worker(limits)
    answer = worker.run("f", {})
    subject.end(worker, limits)
    return answer


def test_who_mostly_waits_in_check_after_check_gets_less_time_for_the_rest(opened):
    subject, limits = opened(NAPS), Limits(cpu_s=1, idle_s=1, wall_s=1)
    assert run(subject, limits).outcome == "ok"
    assert subject.hurry == ""
    for _ in range(15):
        assert run(subject, limits).outcome == "ok"
    assert subject.hurry == "slow"
    assert subject.limits(LIMITS, 0.001).cpu_s < LIMITS.cpu_s


def test_who_computes_slowly_in_check_after_check_keeps_the_time(opened):
    subject, limits = opened(COMPUTES), Limits(cpu_s=0.5, idle_s=0.4, wall_s=2)
    for _ in range(6):
        assert run(subject, limits).outcome == "ok"
    assert subject.hurry == ""
    assert subject.limits(LIMITS, 0.001) == LIMITS


def test_in_a_hurry_every_clock_is_shorter_and_none_lets_a_busy_machine_fail_a_quick_answer(opened):
    subject = opened("")
    subject.hurry_up()
    short = subject.limits(LIMITS, 0.001)
    assert short.cpu_s == 0.25
    assert short.idle_s == 1.0
    assert short.wall_s / short.cpu_s == LIMITS.wall_s / LIMITS.cpu_s
    assert subject.limits(LIMITS, 0.05).cpu_s == pytest.approx(1.0)
    assert subject.limits(LIMITS, 10.0) == LIMITS


def test_what_the_imports_cost_is_added_to_the_shorter_limit(opened):
    subject = opened(COSTLY)
    assert subject.load("m", LIMITS)[0].outcome == "ok"
    subject.hurry_up()
    short = subject.limits(LIMITS, 0.001)
    assert 0.25 + 2 * 0.3 <= short.cpu_s < 1.5
    assert run(subject, short).outcome == "ok"


def test_an_import_after_a_time_out_may_take_half_its_limit(opened):
    subject = opened(COSTLY)
    subject.hurry_up()
    assert subject.load("m", LIMITS)[0].outcome == "ok"
    assert opened("while True: pass").load("m", Limits(cpu_s=0.2, idle_s=1))[0].outcome == "timed-out"


def test_an_import_that_never_ends_adds_nothing(opened):
    subject = opened("while True: pass")
    limits = Limits(cpu_s=0.3, idle_s=1)
    assert subject.load("m", limits)[0].outcome == "timed-out"
    assert subject.hurry == "again"
    assert subject.limits(LIMITS, 0.001).cpu_s == 0.25
