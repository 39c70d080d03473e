"""How often feedback names the right mistake: wrong work that is no mutant, in the mini course."""

import pytest

from autograder.authoring.audit_diagnosis import Diagnosed, Named, diagnosed
from autograder.authoring.lookalikes import read_lookalikes
from autograder.course import CourseError

OVERWRITTEN = '''[[lookalike]]
id = "last-writer-wins"
family = "bypass"
file = "engine.py"
blank = "reverse_mode"
body = """
adjoints = {output: seed}
for user in topological_order(output)[::-1]:
    for below, slope in zip(user.inputs, user.partials):
        adjoints[below] = slope * adjoints[user]
return adjoints
"""
'''
ZEROS = """[[lookalike]]
id = "zeros"
family = "bypass"
file = "engine.py"
blank = "reverse_mode"
body = "return dict.fromkeys(topological_order(output), 0.0)"
"""


def write(mini, text):
    (mini.lab.reference / "lookalikes.toml").write_text(text, encoding="utf-8")


def test_a_body_takes_the_place_of_the_solution(mini):
    write(mini, OVERWRITTEN)
    ((family, modules),) = read_lookalikes(mini.lab).values()
    assert family == "bypass"
    assert modules["graph.py"] == mini.solved["graph.py"]
    assert "\n    adjoints = {output: seed}\n" in modules["engine.py"]
    assert "node_to_grad" not in modules["engine.py"] and "SOLUTION" not in modules["engine.py"]


def test_the_audit_counts_where_the_right_family_is_named(mini, level):
    write(mini, OVERWRITTEN + ZEROS)
    told = diagnosed(mini.lab, lambda: level, 1, lambda _: None, lambda: None)
    data = told.as_data()
    assert (data["right"], data["total"], data["hints_on_right_code"]) == (data["total"], data["total"], 0)
    assert data["total"] > 0
    assert data["lookalikes"] == {"right": 1, "total": 2, "missed": ["lookalike.zeros"]}
    _, others, right = told.figures()
    assert others == ("files that are no mutants whose family is named", "1 of 2", "lookalike.zeros: nothing")
    assert right == ("right solutions that get a hint", "none", "")
    assert not list(told.defects())


def test_a_right_solution_that_gets_a_hint_is_named():
    told = Diagnosed((), (), (Named("right.recursive", "", ("bypass",)),))
    assert told.as_data()["hints_on_right_code"] == 1
    assert list(told.defects()) == [
        "right.recursive is right, and gets the hint of bypass. Mend that mutant."
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"bypass"', '"unheard-of"', "no mutant is of the family unheard-of"),
        ('"reverse_mode"', '"forward_mode"', "engine.py has no forward_mode"),
        ('"engine.py"', '"motor.py"', "motor.py has no reverse_mode"),
    ],
)
def test_what_fits_nowhere_is_named(mini, old, new, said):
    write(mini, OVERWRITTEN.replace(old, new))
    with pytest.raises(CourseError, match=said):
        read_lookalikes(mini.lab)


def test_an_id_stands_there_once(mini):
    write(mini, ZEROS + ZEROS)
    with pytest.raises(CourseError, match=r"zeros.*twice"):
        read_lookalikes(mini.lab)
