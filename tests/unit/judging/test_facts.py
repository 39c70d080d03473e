"""What is kept of a submission's life stays small and legible, whatever it prints."""

import pytest

from autograder.batch.record import as_json
from autograder.judging.facts import PRINTED, Log
from autograder.sandbox.client import Facts


def ended(printed):
    return Facts(status=0, killed=False, cpu_s=0.1, memory_mb=30, wall_s=0.2, printed=printed)


@pytest.mark.parametrize(
    "letter", ["x", "\x00", "\x1b", "\u202e", "\ud7ff", "梯", '"', "\\", "\n", "\U0010ffff"]
)
def test_all_checks_together_keep_one_megabyte_of_prints(letter):
    log = Log()
    for number in range(100):
        log.add(f"check {number}", ended(letter * (256 << 10)))
    assert len(log.entries) == 100
    assert sum(len(entry["printed"].encode()) for entry in log.entries) <= PRINTED
    assert len(log.entries[0]["printed"]) >= 256 << 8
    assert len(as_json(log.entries)) < 2.1 * PRINTED


def test_prints_are_kept_as_they_look():
    log = Log()
    log.add("check", ended("loss\t0.5\n梯度 ∂f/∂x\x1b[31m\r"))
    assert log.entries[0]["printed"] == "loss\t0.5\n梯度 ∂f/∂x\ufffd[31m\ufffd"
    assert log.entries[0]["cpu_s"] == 0.1


def test_a_letter_is_not_cut_in_two():
    log = Log()
    log.add("first", ended("x" * (PRINTED - 1)))
    log.add("second", ended("梯"))
    log.add("third", None, "the jail is gone")
    assert [entry.get("printed") for entry in log.entries[1:]] == ["", None]
    assert log.entries[2] == {"check": "third", "fault": "the jail is gone"}
