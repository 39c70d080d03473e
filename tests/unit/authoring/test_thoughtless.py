"""Answers of no thought: each is another answer or does not count; and nothing is audited twice."""

import math

import numpy as np
import pytest

from autograder.authoring import spoil
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import solved_modules


@pytest.mark.parametrize(
    ("kind", "answer", "becomes", "told"),
    [
        ("negated", [1.5, (2,)], [-1.5, (-2,)], True),
        ("doubled", (math.inf, 0.0), (math.inf, 0.0), False),
        ("transposed", [1.0, 2.0], [2.0, 1.0], True),
        ("transposed", (3.0,), (3.0,), False),
        ("echo", {"a": 1.0}, {"a": 5.0}, True),
        ("float64", 2.0, 2.0, False),
        ("rounded", 1.0, 1 + 2**-24, True),
        ("zeros", {"v1"}, set(), True),
    ],
)
def test_an_answer_is_changed_and_said_to_be_only_if_it_is(capsys, kind, answer, becomes, told):
    names = {"blank": lambda x: answer}
    spoil._tell.cache_clear()
    spoil.blank(names, "blank", kind)
    assert names["blank"](5.0) == becomes
    assert (spoil.CHANGED in capsys.readouterr().out) == told


def test_float64_widens_what_is_narrow():
    names = {"blank": lambda: np.ones(2, np.float32)}
    spoil.blank(names, "blank", "float64")
    assert names["blank"]().dtype == np.float64


def test_a_second_audit_grades_nothing_until_something_changes(mini, level, tmp_path):
    def started(modules):
        counts = []
        runs = Runs(mini.lab, tmp_path / "kept", lambda: level, 1, counts.append, lambda: None)
        runs.run([Work("one", modules, 3)])
        assert runs.of("one")[0].variant == 3
        return counts

    solved = solved_modules(mini.lab)
    assert started(solved) == [1]
    assert started(solved) == []
    assert started(solved | {"graph.py": solved["graph.py"] + "\n"}) == [1]
