"""Edits of solved files: each text stands exactly once where it is replaced."""

import pytest

from autograder.judging.mistakes import Edit, Unfit, edited

TEXTS = {"graph.py": "x + x", "engine.py": "y"}


def test_edits_apply_after_one_another_and_only_what_changes_is_given():
    assert edited([Edit("engine.py", "y", "z"), Edit("engine.py", "z", "1")], TEXTS) == {"engine.py": "1"}


@pytest.mark.parametrize(
    ("edit", "times"),
    [
        (Edit("graph.py", "x", "1"), 2),
        (Edit("engine.py", "x", "1"), 0),
        (Edit("motor.py", "x", "1"), None),
    ],
)
def test_an_edit_that_does_not_fit_says_how_often_its_text_is_there(edit, times):
    with pytest.raises(Unfit) as unfit:
        edited([Edit("engine.py", "y", "y"), edit], TEXTS)
    assert (unfit.value.edit, unfit.value.times) == (edit, times)
